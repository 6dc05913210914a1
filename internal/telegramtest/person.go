package telegramtest

import (
	"fmt"
	"strconv"
)

// Person is a user who writes to the bot, at one place. It is a value: In and
// Topic return the same person elsewhere.
type Person struct {
	s            *Server
	id           int64
	chat, thread int64
}

// Draft is a message that a person is about to send.
type Draft struct {
	Text string
	// Entities are the text's formatting; commands, mentions and links are
	// found by themselves.
	Entities []Entity
	// ReplyTo is the message that this one answers.
	ReplyTo int64
	// Forward is the name of the author of a forwarded message.
	Forward string
	// Document, Photo, Voice, Audio and Sticker are the id of a file, at most one of them;
	// Text is then its caption. Seconds is how long a sound lasts, MIME what a file is.
	Document, Photo, Voice, Audio, Sticker string
	Seconds                                int
	MIME                                   string
	// Album is the same for messages that are sent as one.
	Album string
}

// Attach makes a file, which add returns the id of, the draft's of that kind; "" is none.
func (d *Draft) Attach(kind string, add func() string) error {
	if kind == "" {
		return nil
	}
	field, ok := map[string]*string{
		"document": &d.Document, "photo": &d.Photo, "voice": &d.Voice, "audio": &d.Audio, "sticker": &d.Sticker,
	}[kind]
	if !ok {
		return fmt.Errorf("a %q cannot be attached", kind)
	}
	*field = add()
	return nil
}

// User is a person in the private chat with the bot.
func (s *Server) User(id int64) Person { return Person{s: s, id: id, chat: id} }

// In is the person in a group.
func (p Person) In(chat int64) Person {
	p.chat, p.thread = chat, 0
	return p
}

// Topic is the person in a topic of the chat, which is made if it is not there.
func (p Person) Topic(thread int64) Person {
	p.thread = thread
	return p
}

// Send sends a text and returns the message's id. "[name](tg://user?id=7)" in
// the text mentions a user who has no user name.
func (p Person) Send(text string) int64 { return p.Post(Draft{Text: text}) }

// Reply answers a message.
func (p Person) Reply(to int64, text string) int64 { return p.Post(Draft{Text: text, ReplyTo: to}) }

// Post sends a message and returns its id. A person who has blocked the bot
// unblocks it by writing.
func (p Person) Post(d Draft) int64 {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.user(p.id)
	c := s.chat(Chat{ID: p.chat})
	if c.access == Blocked {
		s.memberChange(c, p.id, "kicked", "member")
	}
	if c.access == Blocked || c.access == NotStarted {
		c.access = Open
	}
	m := Message{
		From: from.ID, ReplyTo: d.ReplyTo, Forward: d.Forward, Thread: p.thread, Document: d.Document, Photo: d.Photo, Album: d.Album,
		Voice: d.Voice, Audio: d.Audio, Sticker: d.Sticker, Seconds: d.Seconds, MIME: d.MIME,
	}
	m.Text, m.Entities = s.typed(d.Text, d.Entities)
	p.join(c, &m)
	sent := s.add(c, m)
	if s.sees(c, sent) {
		s.put(c.kind("message"), s.wire(c, sent))
	}
	return sent.ID
}

// PostAlbum sends messages as one album and returns their ids.
func (p Person) PostAlbum(drafts ...Draft) (ids []int64) {
	p.s.mu.Lock()
	p.s.lastAlbum++
	album := "album-" + strconv.FormatInt(p.s.lastAlbum, 10)
	p.s.mu.Unlock()
	for _, d := range drafts {
		d.Album = album
		ids = append(ids, p.Post(d))
	}
	return ids
}

// join finds the thread that a message belongs to.
func (p Person) join(c *chat, m *Message) {
	switch {
	case p.thread != 0:
		c.topics[p.thread] = true
		c.Forum = c.Type == "supergroup"
	case c.Type == "supergroup" && m.ReplyTo != 0:
		// A chain of replies has a thread, which is no topic.
		m.Thread = m.ReplyTo
		if original := c.byID[m.ReplyTo]; original != nil && original.Thread != 0 {
			m.Thread = original.Thread
		}
	}
}

// Edit gives a message of the person a new text.
func (p Person) Edit(id int64, text string) error {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(Chat{ID: p.chat})
	m := c.byID[id]
	if m == nil || m.Deleted || m.From != p.id {
		return fmt.Errorf("chat %d has no message %d of user %d", p.chat, id, p.id)
	}
	m.Text, m.Entities = s.typed(text, nil)
	m.Edits++
	m.Edited = s.config.Now()
	if s.sees(c, m) {
		s.put("edited_"+c.kind("message"), s.wire(c, m))
	}
	s.touch()
	return nil
}

// Delete deletes a message. Telegram tells a bot nothing about it.
func (p Person) Delete(id int64) error {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.chat(Chat{ID: p.chat}).byID[id]
	if m == nil || m.Deleted {
		return fmt.Errorf("chat %d has no message %d", p.chat, id)
	}
	m.Deleted = true
	s.touch()
	return nil
}

// Press presses a button of a message, named by its text or its data, and
// returns the id of the callback query. The message 0 is the last one that has
// such a button.
func (p Person) Press(id int64, label string) (string, error) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.user(p.id)
	c := s.chat(Chat{ID: p.chat})
	m, b := c.button(id, label)
	if m == nil || b.Data == "" {
		return "", fmt.Errorf("chat %d shows no button %q to press (message %d)", p.chat, label, id)
	}
	s.lastQuery++
	queryID := strconv.FormatInt(s.lastQuery, 10)
	s.queries[queryID] = &query{at: s.config.Now()}
	s.put("callback_query", wireQuery{
		ID: queryID, From: from, Message: s.wire(c, m), Data: b.Data, Instance: strconv.FormatInt(c.ID, 10),
	})
	return queryID, nil
}

func (c *chat) button(id int64, label string) (*Message, Button) {
	for i := len(c.messages) - 1; i >= 0; i-- {
		m := c.messages[i]
		if m.Deleted || id != 0 && m.ID != id {
			continue
		}
		if b, ok := m.Button(label); ok {
			return m, b
		}
	}
	return nil, Button{}
}

// Block lets the person block the bot, which is told.
func (p Person) Block() { p.member(Blocked, "member", "kicked") }

// Unblock ends Block.
func (p Person) Unblock() { p.member(Open, "kicked", "member") }

func (p Person) member(a Access, before, after string) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(Chat{ID: p.id})
	c.access = a
	s.memberChange(c, p.id, before, after)
}
