package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

// Accounts behind which Telegram hides who speaks: anonymous administrators,
// channels, and the posts of a linked channel.
const (
	groupAnonymousBot = 1087968824
	channelBot        = 136817688
	linkedChannel     = 777000
)

// generalTopic is the number of the topic that every forum has.
const generalTopic = 1

// glimpse is the little that must be known of an update before anybody has
// decided whether it may come in. The names are the same in every kind.
type glimpse struct {
	MessageID       int64    `json:"message_id"`
	MessageThreadID int64    `json:"message_thread_id"`
	IsTopicMessage  bool     `json:"is_topic_message"`
	Chat            *chat    `json:"chat"`
	From            *user    `json:"from"`
	User            *user    `json:"user"`        // reactions
	SenderChat      *chat    `json:"sender_chat"` // in the name of a chat
	ActorChat       *chat    `json:"actor_chat"`  // the same in reactions
	ViaBot          *user    `json:"via_bot"`     // written by an inline bot
	Message         *glimpse `json:"message"`     // below the button
	MigrateTo       int64    `json:"migrate_to_chat_id"`
}

type chat struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
}

type user struct {
	ID    int64 `json:"id"`
	IsBot bool  `json:"is_bot"`
}

// peek reads where an update comes from, of any kind, known or not. One that
// cannot be read is no error: its Fault says why, and it has the id guess when
// its own is lost.
func peek(bot, guess int64, raw json.RawMessage) (u gateway.Update) {
	u = gateway.Update{Channel: channelName, Bot: bot, ID: guess, Raw: raw}
	defer func() {
		if r := recover(); r != nil {
			u = gateway.Update{Channel: channelName, Bot: bot, ID: guess, Raw: raw, Fault: fmt.Sprint("panic: ", r)}
		}
	}()
	var head struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		u.Fault = err.Error()
		return u
	}
	if head.ID != 0 {
		u.ID = head.ID
	}
	kind, body, err := payload(raw)
	if err != nil {
		u.Fault = err.Error()
		return u
	}
	u.Kind = kind
	var g glimpse
	if err := json.Unmarshal(body, &g); err != nil {
		u.Fault = kind + ": " + err.Error()
		g.place(&u) // the rest of it was read all the same
		return u
	}
	g.fill(&u)
	return u
}

// payload finds the one field of an update besides its id, whose name is the kind.
func payload(raw json.RawMessage) (kind string, body json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return "", nil, err
	}
	delete(fields, "update_id")
	if len(fields) != 1 {
		return "", nil, fmt.Errorf("an update has one kind, this has %d", len(fields))
	}
	kind = slices.Collect(maps.Keys(fields))[0]
	if string(fields[kind]) == "null" {
		return "", nil, errors.New("the update is empty")
	}
	return kind, fields[kind], nil
}

// fill tells whom the update is from and what it is about.
func (g *glimpse) fill(u *gateway.Update) {
	about := g.place(u)
	u.Message, u.MovedTo = about.MessageID, g.MigrateTo
	// Outside topics a thread is only a chain of replies and no address.
	// The general topic has the number 1 and none in what is sent to it.
	if about.MessageThreadID != generalTopic && about.IsTopicMessage || u.Kind == models.AllowedUpdateStoppedMessageGeneration {
		u.Address.Thread = about.MessageThreadID
	}
	g.sender(u)
}

// place tells the chat, and returns the part of the update that names it.
func (g *glimpse) place(u *gateway.Update) (about *glimpse) {
	about = g
	if g.Message != nil {
		about = g.Message
	}
	u.Address.Chat.Channel = channelName
	if about.Chat != nil {
		u.Address.Chat.ID = about.Chat.ID
		u.Group = about.Chat.Type != "private"
	}
	return about
}

// sender tells who speaks. A person who speaks in the name of a chat is that chat.
func (g *glimpse) sender(u *gateway.Update) {
	for _, who := range []*user{g.User, g.From} {
		if who != nil {
			u.From, u.FromBot = who.ID, who.IsBot
		}
	}
	if g.ViaBot != nil {
		u.From, u.FromBot = g.ViaBot.ID, true
	}
	for _, as := range []*chat{g.SenderChat, g.ActorChat} {
		if as != nil {
			u.From, u.Anonymous = as.ID, true
		}
	}
	switch u.From {
	case groupAnonymousBot, channelBot, linkedChannel:
		u.Anonymous = true
	}
	// Only the person can stop a draft, which only private chats have.
	if u.Kind == models.AllowedUpdateStoppedMessageGeneration && !u.Group {
		u.From = u.Address.Chat.ID
	}
}
