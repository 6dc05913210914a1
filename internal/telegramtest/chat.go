package telegramtest

import (
	"strconv"
	"strings"
)

// Access is what stands between the bot and a chat.
type Access string

// The kinds of access. All but Open refuse messages of the bot.
const (
	Open Access = ""
	// NotStarted: the person has never written to the bot.
	NotStarted Access = "not_started"
	// Blocked: the person has blocked the bot.
	Blocked Access = "blocked"
	// Deactivated: the person's account is gone.
	Deactivated Access = "deactivated"
	// Kicked: the bot was removed from the group.
	Kicked Access = "kicked"
	// Left: the bot is not in the group.
	Left Access = "left"
	// Deleted: the group does not exist any more.
	Deleted Access = "deleted"
	// Restricted: the bot is there, but may not write.
	Restricted Access = "restricted"
)

// generalTopic is the topic of a forum that every forum has. Messages go there
// without a thread.
const generalTopic = 1

// chat is all that is known of a chat. Server.mu guards it.
type chat struct {
	Chat
	access   Access
	movedTo  int64
	topics   map[int64]bool
	messages []*Message // ascending ids
	byID     map[int64]*Message
	last     int64 // id of the last message, where the chat counts its own
	botSpoke bool
	draft    Preview
	pace     pace
}

// AddChat makes a chat known without any update, as if it were there since long
// ago.
func (s *Server) AddChat(c Chat, a Access) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(c).access = a
}

// AddUser gives a person a name, a user name and a language.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = u
}

// Deny changes what stands between the bot and a chat, without any update.
// Deny(chat, Open) ends it.
func (s *Server) Deny(chat int64, a Access) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(Chat{ID: chat}).access = a
}

// AddTopic makes a topic known in a chat.
func (s *Server) AddTopic(chat, thread int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat(Chat{ID: chat}).topics[thread] = true
}

// chat finds a chat or makes it. s.mu is held.
func (s *Server) chat(want Chat) *chat {
	if c := s.chats[want.ID]; c != nil {
		if want.Title != "" || want.Type != "" {
			c.Chat = want.complete()
		}
		return c
	}
	c := &chat{Chat: want.complete(), topics: map[int64]bool{}, byID: map[int64]*Message{}}
	if c.Type == "private" {
		u := s.user(c.ID)
		c.FirstName, c.Username = u.FirstName, u.Username
	}
	s.chats[c.ID] = c
	return c
}

// complete fills in what an id tells of its chat.
func (c Chat) complete() Chat {
	if c.Type == "" {
		switch {
		case c.ID > 0:
			c.Type = "private"
		case c.ID <= -1_000_000_000_000:
			c.Type = "supergroup"
		default:
			c.Type = "group"
		}
	}
	if c.Title == "" && c.Type != "private" {
		c.Title = "Group " + strconv.FormatInt(c.ID, 10)
	}
	return c
}

// user finds a person or makes one. s.mu is held.
func (s *Server) user(id int64) User {
	u, ok := s.users[id]
	if !ok {
		u = User{ID: id, FirstName: "User " + strconv.FormatInt(id, 10)}
		s.users[id] = u
	}
	return u
}

// target finds the chat that a call is about and checks that the bot may write
// there. s.mu is held.
func (s *Server) target(p params) (*chat, *apiError) {
	id := p.str("chat_id")
	if id == "" {
		return nil, badRequest("chat_id is empty")
	}
	c := s.byName(id)
	if c == nil {
		return nil, badRequest("chat not found")
	}
	return c, c.refusal()
}

func (s *Server) byName(id string) *chat {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		return s.chats[n]
	}
	name, ok := strings.CutPrefix(id, "@")
	if !ok {
		return nil
	}
	for _, c := range s.chats {
		// Only public groups and channels are found by name.
		if c.Type != "private" && strings.EqualFold(c.Username, name) {
			return c
		}
	}
	return nil
}

func (c *chat) refusal() *apiError {
	if c.movedTo != 0 {
		e := badRequest("group chat was upgraded to a supergroup chat")
		e.migrateTo = c.movedTo
		return e
	}
	switch c.access {
	case NotStarted:
		return forbidden("bot can't initiate conversation with a user")
	case Blocked:
		return forbidden("bot was blocked by the user")
	case Deactivated:
		return forbidden("user is deactivated")
	case Kicked:
		return forbidden("bot was kicked from the " + c.Type + " chat")
	case Left:
		return forbidden("bot is not a member of the " + c.Type + " chat")
	case Deleted:
		return forbidden("the group chat was deleted")
	case Restricted:
		return badRequest("not enough rights to send text messages to the chat")
	default:
		return nil
	}
}

// thread checks the topic that a call names.
func (c *chat) thread(p params) (int64, *apiError) {
	id := p.num("message_thread_id")
	if id != 0 && !c.topics[id] {
		return 0, badRequest("message thread not found")
	}
	return id, nil
}
