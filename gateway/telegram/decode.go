package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

// Decode reads an update. The sender and the chat are those of the update, as the
// allow list has seen them, and never come from its content.
func (c *Channel) Decode(u gateway.Update) (m gateway.Message, err error) {
	base := gateway.Message{
		Address: u.Address, ID: u.Message, Sender: gateway.Sender{ID: u.From}, Group: u.Group, Addressed: !u.Group,
	}
	defer func() {
		if r := recover(); r != nil {
			m, err = base, fmt.Errorf("decode %s: panic: %v", u.Kind, r)
		}
	}()
	if u.Fault != "" {
		return base, fmt.Errorf("decode: %s", u.Fault)
	}
	kind, body, err := payload(u.Raw)
	if err != nil {
		return base, fmt.Errorf("decode: %w", err)
	}
	m, err = c.decode(kind, body, base)
	if err != nil {
		return base, fmt.Errorf("decode %s: %w", kind, err)
	}
	return m, nil
}

func (c *Channel) decode(kind string, body json.RawMessage, m gateway.Message) (gateway.Message, error) {
	switch kind {
	case models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage:
		return c.decodeMessage(body, m, kind == models.AllowedUpdateEditedMessage)
	case models.AllowedUpdateCallbackQuery:
		return decodePress(body, m)
	case models.AllowedUpdateMyChatMember:
		return decodeMember(body, m)
	case models.AllowedUpdateStoppedMessageGeneration:
		m.Kind = gateway.KindStop
	}
	return m, nil
}

func (c *Channel) decodeMessage(body json.RawMessage, m gateway.Message, edited bool) (gateway.Message, error) {
	var in models.Message
	if err := json.Unmarshal(body, &in); err != nil {
		return m, err
	}
	m.Sender.Name, m.Title = userName(in.From), in.Chat.Title
	m.Time, m.Edited = clock(in.Date), clock(in.EditDate)
	m.Reply = c.quote(&in)
	if in.IsTopicMessage && in.ReplyToMessage != nil && in.ReplyToMessage.ForumTopicCreated != nil {
		m.Topic = in.ReplyToMessage.ForumTopicCreated.Name
	}
	m.Forwarded, m.Album = originName(in.ForwardOrigin), in.MediaGroupID
	if in.MigrateToChatID != 0 {
		m.Kind, m.MovedTo = gateway.KindMoved, in.MigrateToChatID
		return m, nil
	}
	if in.ForumTopicReopened != nil {
		m.Kind, m.Member = gateway.KindMember, gateway.MemberUnmuted
		return m, nil
	}
	words := wordsOf(&in)
	media := describe(&in)
	if words.empty() && media == "" {
		media = unknownContent(body)
	}
	if words.empty() && media == "" {
		return m, nil // a service message, or nothing at all
	}
	m.Described = media != ""
	m.Attachments = attachments(&in)
	kind := gateway.KindText
	if edited {
		if in.Location != nil {
			return m, nil // a live location moves on
		}
		kind = gateway.KindEdit
	}
	m.Kind = kind
	return c.address(&in, words, media, m), nil
}

// address finds out whether the message is meant for the bot, and as what. A
// command counts where it was typed: not in a forward, and an edit with one asks for
// nothing.
func (c *Channel) address(in *models.Message, words passage, media string, m gateway.Message) gateway.Message {
	me := c.username()
	mentions := words.mentions(c.id, me)
	m.Text = joinLines(media, words.markdown(0, mentions))
	if m.Text == "" { // nothing but the mention
		m.Text = words.markdown(0, nil)
	}
	cmd, ok := words.command()
	if ok && cmd.other(me, m.Group) {
		m.Kind, m.Addressed = gateway.KindNone, false
		return m
	}
	if ok && m.Kind == gateway.KindEdit {
		m.Addressed = false
		return m
	}
	if ok && m.Forwarded == "" {
		m.Command, m.Args = cmd.name, words.markdown(cmd.end, mentions)
	}
	m.Addressed = m.Addressed || ok || len(mentions) > 0 ||
		m.Reply != nil && m.Reply.Own || c.respondAll != nil && c.respondAll()
	return m
}

// username is the bot's own, empty while unknown.
func (c *Channel) username() string {
	if me := c.me.Load(); me != nil {
		return me.Username
	}
	return ""
}

func decodePress(body json.RawMessage, m gateway.Message) (gateway.Message, error) {
	// The library's type is of no use here: it takes a missing message for an
	// inaccessible one.
	var in struct {
		ID   string      `json:"id"`
		From models.User `json:"from"`
		Data string      `json:"data"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return m, err
	}
	m.Sender.Name = userName(&in.From)
	m.Addressed = true
	m.Kind = gateway.KindCallback
	m.Callback = &gateway.Callback{Query: in.ID, Data: in.Data, Message: m.ID}
	return m, nil
}

func decodeMember(body json.RawMessage, m gateway.Message) (gateway.Message, error) {
	var in models.ChatMemberUpdated
	if err := json.Unmarshal(body, &in); err != nil {
		return m, err
	}
	m.Sender.Name, m.Title = userName(&in.From), in.Chat.Title
	m.Time = clock(in.Date)
	was, is := inside(in.OldChatMember), inside(in.NewChatMember)
	if was == is {
		return decodeRights(mayWrite(in.OldChatMember), mayWrite(in.NewChatMember), is, m), nil
	}
	m.Kind, m.Addressed, m.Member = gateway.KindMember, true, gateway.MemberLeft
	if is {
		m.Member = gateway.MemberJoined
	}
	return m, nil
}

// decodeRights reads a change of what the bot may do in a chat where it stays.
func decodeRights(could, can, inside bool, m gateway.Message) gateway.Message {
	if could == can || !inside {
		return m
	}
	m.Kind, m.Addressed, m.Member = gateway.KindMember, true, gateway.MemberMuted
	if can {
		m.Member = gateway.MemberUnmuted
	}
	return m
}

func mayWrite(c models.ChatMember) bool {
	return c.Type != models.ChatMemberTypeRestricted || c.Restricted.CanSendMessages
}

func inside(c models.ChatMember) bool {
	switch c.Type {
	case models.ChatMemberTypeOwner, models.ChatMemberTypeAdministrator, models.ChatMemberTypeMember:
		return true
	case models.ChatMemberTypeRestricted:
		return c.Restricted.IsMember
	}
	return false
}

// clock reads Telegram's time, which is 0 for none.
func clock(unix int) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(int64(unix), 0).UTC()
}

// userName is a name to show, never one to trust.
func userName(u *models.User) string {
	if u == nil {
		return ""
	}
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" {
		return name
	}
	return u.Username
}

// joinLines joins what is not empty.
func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
