package telegramtest

import (
	"fmt"
	"strings"
)

// Transcript shows a chat as text, one message after the other: who wrote it,
// what it says now, its buttons, and in brackets what else there is to see.
// The name of the bot is "bot". An unknown chat is an empty text.
func (v State) Transcript(chat int64) string {
	var b strings.Builder
	for _, m := range v.Messages(chat) {
		name := "bot"
		if !m.Bot {
			name = v.s.users[m.From].FirstName
		}
		fmt.Fprintf(&b, "%s: %s%s\n", name, strings.ReplaceAll(m.Text, "\n", "\n  "), m.marks())
		for _, row := range m.Buttons {
			b.WriteString(" ")
			for _, button := range row {
				fmt.Fprintf(&b, " [%s]", button.Text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Transcript is State.Transcript as of now.
func (s *Server) Transcript(chat int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s}.Transcript(chat)
}

// marks are the remarks behind a message's text.
func (m Message) marks() string {
	marks := ""
	for _, mark := range []struct {
		set  bool
		text string
	}{
		{m.Forward != "", "forwarded from " + m.Forward},
		{m.Document != "", "file"},
		{m.Photo != "", "photo"},
		{m.Voice != "", "voice"},
		{m.Audio != "", "audio"},
		{m.Sticker != "", "sticker"},
		{m.Silent, "silent"},
		{m.Edits > 0, "edited"},
		{m.Deleted, "deleted"},
	} {
		if mark.set {
			marks += " (" + mark.text + ")"
		}
	}
	return marks
}
