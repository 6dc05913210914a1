package telegramtest

import (
	"slices"
	"time"
)

// Message is a message as the people in the chat see it now.
type Message struct {
	ID   int64 `json:"message_id"`
	Chat int64 `json:"chat"`
	// Thread is the topic, or in a group without topics the thread of replies.
	Thread int64 `json:"thread,omitempty"`
	// From is the sender's id, Bot says that it is the bot.
	From int64     `json:"from"`
	Bot  bool      `json:"bot,omitempty"`
	Date time.Time `json:"date"`
	// Text is the text, or the caption of a document.
	Text     string     `json:"text"`
	Entities []Entity   `json:"entities,omitempty"`
	Buttons  [][]Button `json:"buttons,omitempty"`
	ReplyTo  int64      `json:"reply_to,omitempty"`
	// Forward is the name of a forwarded message's author.
	Forward string `json:"forward,omitempty"`
	Silent  bool   `json:"silent,omitempty"`
	// Preview says that link previews were not turned off.
	Preview bool `json:"preview,omitempty"`
	// ParseMode is what the bot asked for; the text was not parsed.
	ParseMode string `json:"parse_mode,omitempty"`
	// Document is the file id of an attachment, Photo that of a photo.
	Document string `json:"document,omitempty"`
	Photo    string `json:"photo,omitempty"`
	// Voice, Audio and Sticker are the file ids of such attachments. Seconds is how long
	// a sound lasts, MIME what a file is, Album the same for all that was sent as one.
	Voice   string `json:"voice,omitempty"`
	Audio   string `json:"audio,omitempty"`
	Sticker string `json:"sticker,omitempty"`
	Seconds int    `json:"seconds,omitempty"`
	MIME    string `json:"mime,omitempty"`
	Album   string `json:"album,omitempty"`
	// Reaction is the bot's reaction.
	Reaction string `json:"reaction,omitempty"`
	// Edits counts the edits, Edited is the time of the last one.
	Edits   int       `json:"edits,omitempty"`
	Edited  time.Time `json:"edited,omitzero"`
	Deleted bool      `json:"deleted,omitempty"`

	migrateTo, migrateFrom int64
}

// Button finds a button by its text or its data.
func (m Message) Button(label string) (Button, bool) {
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == label || b.Data == label {
				return b, true
			}
		}
	}
	return Button{}, false
}

// add gives a message its id, time and place in the chat. Users and basic
// groups share one counter, a supergroup and a channel have their own. s.mu is held.
func (s *Server) add(c *chat, m Message) *Message {
	counter := &s.lastMessage
	if c.Type == "supergroup" || c.Type == "channel" {
		counter = &c.last
	}
	*counter++
	m.ID, m.Chat, m.Date = *counter, c.ID, s.config.Now()
	c.messages = append(c.messages, &m)
	c.byID[m.ID] = &m
	s.touch()
	return &m
}

// sameContent reports whether an edit would change nothing.
func sameContent(a, b *Message) bool {
	return a.Text == b.Text && slices.EqualFunc(a.Entities, b.Entities, sameEntity) && sameButtons(a.Buttons, b.Buttons)
}

func sameButtons(a, b [][]Button) bool {
	return slices.EqualFunc(a, b, func(x, y []Button) bool { return slices.Equal(x, y) })
}

func sameEntity(a, b Entity) bool {
	if a.User != nil && b.User != nil && a.User.ID == b.User.ID {
		a.User, b.User = nil, nil
	}
	return a == b
}
