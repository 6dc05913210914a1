package telegramtest

import (
	"encoding/json"
	"fmt"
)

// saved is the state that outlives a server.
type saved struct {
	Users       map[int64]User       `json:"users"`
	Chats       []savedChat          `json:"chats"`
	LastMessage int64                `json:"last_message"`
	LastQuery   int64                `json:"last_query"`
	Pending     []update             `json:"pending"`
	NextUpdate  int64                `json:"next_update"`
	Allowed     []string             `json:"allowed"`
	Webhook     string               `json:"webhook"`
	Commands    map[string][]Command `json:"commands"`
	Description string               `json:"description"`
	Files       map[string]File      `json:"files"`
}

type savedChat struct {
	Chat     Chat           `json:"chat"`
	Access   Access         `json:"access"`
	MovedTo  int64          `json:"moved_to"`
	Topics   map[int64]bool `json:"topics"`
	Messages []*Message     `json:"messages"`
	Last     int64          `json:"last"`
	BotSpoke bool           `json:"bot_spoke"`
}

// Save returns what another server needs to continue where this one is: people,
// chats, messages, updates, files and settings. Presses that wait for an answer,
// faults and the journal are not in it.
func (s *Server) Save() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := saved{
		Users: s.users, LastMessage: s.lastMessage, LastQuery: s.lastQuery,
		Pending: s.queue.pending, NextUpdate: s.queue.next, Allowed: s.queue.allowed,
		Webhook: s.webhook.url, Commands: s.commands, Description: s.description, Files: s.files,
	}
	for _, c := range s.chats {
		all.Chats = append(all.Chats, savedChat{c.Chat, c.access, c.movedTo, c.topics, c.messages, c.last, c.botSpoke})
	}
	body, err := json.Marshal(all)
	if err != nil {
		panic("telegramtest: " + err.Error()) // our own types always encode
	}
	return body
}

// Restore replaces the state by what Save returned.
func (s *Server) Restore(body []byte) error {
	all := saved{
		Users: map[int64]User{}, Commands: map[string][]Command{}, Files: map[string]File{}, NextUpdate: 1,
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endPoll(otherPoller)
	s.users, s.lastMessage, s.lastQuery = all.Users, all.LastMessage, all.LastQuery
	s.users[s.config.Bot.ID] = s.config.Bot
	s.queue = queue{pending: all.Pending, next: all.NextUpdate, allowed: all.Allowed}
	s.webhook.end()
	s.webhook = hook{url: all.Webhook}
	s.commands, s.description, s.files = all.Commands, all.Description, all.Files
	s.chats, s.queries = map[int64]*chat{}, map[string]*query{}
	for _, c := range all.Chats {
		s.chats[c.Chat.ID] = c.restore()
	}
	s.touch()
	return nil
}

func (c savedChat) restore() *chat {
	r := &chat{
		Chat: c.Chat, access: c.Access, movedTo: c.MovedTo, topics: c.Topics,
		messages: c.Messages, byID: map[int64]*Message{}, last: c.Last, botSpoke: c.BotSpoke,
	}
	for _, m := range r.messages {
		r.byID[m.ID] = m
	}
	return r
}
