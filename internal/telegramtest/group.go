package telegramtest

import "strings"

// AddToGroup lets a person add the bot to a group, which the bot is told.
func (s *Server) AddToGroup(c Chat, by int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	group := s.chat(c)
	group.access = Open
	s.memberChange(group, by, "left", "member")
}

// Kick lets a person remove the bot from a group, which the bot is told.
func (s *Server) Kick(chat, by int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(Chat{ID: chat})
	c.access = Kicked
	s.memberChange(c, by, "member", "kicked")
}

// Migrate turns a group into a supergroup with a new id. Both chats say so with
// a service message, and the old one takes no messages any more.
func (s *Server) Migrate(chat, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.chat(Chat{ID: chat})
	after := s.chat(Chat{ID: to, Type: "supergroup", Title: before.Title})
	bot := s.config.Bot.ID
	s.put("message", s.wire(before, s.add(before, Message{From: bot, migrateTo: to})))
	s.put("message", s.wire(after, s.add(after, Message{From: bot, migrateFrom: chat})))
	before.movedTo = to
}

// memberChange tells the bot of its own place in a chat. s.mu is held.
func (s *Server) memberChange(c *chat, by int64, before, after string) {
	s.put("my_chat_member", wireMemberChange{
		Chat: c.Chat, From: s.user(by), Date: s.config.Now().Unix(),
		Old: wireMember{s.config.Bot, before}, New: wireMember{s.config.Bot, after},
	})
}

// kind is the kind of update for what happens in the chat.
func (c *chat) kind(message string) string {
	if c.Type == "channel" {
		return "channel_post"
	}
	return message
}

// sees reports whether the bot is shown a message: in a group with privacy mode
// only what is meant for it.
func (s *Server) sees(c *chat, m *Message) bool {
	switch c.access {
	case Kicked, Left, Deleted:
		return false
	}
	if c.Type == "private" || c.Type == "channel" || s.config.ReadsGroups {
		return true
	}
	if original := c.byID[m.ReplyTo]; original != nil && original.Bot {
		return true
	}
	for _, e := range m.Entities {
		if s.meant(c, m.Text, e) {
			return true
		}
	}
	return false
}

// meant reports whether an entity calls for the bot: a mention, a command with
// its name, or one without a name when it was the last bot to write.
func (s *Server) meant(c *chat, text string, e Entity) bool {
	switch e.Type {
	case "text_mention":
		return e.User != nil && e.User.ID == s.config.Bot.ID
	case "mention":
		return strings.EqualFold(cut(text, e), "@"+s.config.Bot.Username)
	case "bot_command":
		_, name, named := strings.Cut(cut(text, e), "@")
		return named && strings.EqualFold(name, s.config.Bot.Username) || !named && c.botSpoke
	default:
		return false
	}
}
