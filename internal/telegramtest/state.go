package telegramtest

import (
	"context"
	"fmt"
	"regexp"
)

// State is what the server knows at one moment. It is good only inside the
// function that it is handed to.
type State struct{ s *Server }

// Messages are the messages of a chat in order, deleted ones too.
func (v State) Messages(chat int64) []Message {
	c := v.s.chats[chat]
	if c == nil {
		return nil
	}
	all := make([]Message, len(c.messages))
	for i, m := range c.messages {
		all[i] = *m
	}
	return all
}

// Message finds a message of a chat.
func (v State) Message(chat, id int64) (Message, bool) {
	if c := v.s.chats[chat]; c != nil && c.byID[id] != nil {
		return *c.byID[id], true
	}
	return Message{}, false
}

// Find looks for the first message of the bot behind the given one whose text
// matches and which is not deleted.
func (v State) Find(chat, after int64, pattern *regexp.Regexp) (Message, bool) {
	c := v.s.chats[chat]
	if c == nil {
		return Message{}, false
	}
	i := len(c.messages)
	for i > 0 && c.messages[i-1].ID > after {
		i--
	}
	for _, m := range c.messages[i:] {
		if m.Bot && !m.Deleted && pattern.MatchString(m.Text) {
			return *m, true
		}
	}
	return Message{}, false
}

// Pending is how many updates the bot has not confirmed.
func (v State) Pending() int { return len(v.s.queue.pending) }

// Polling reports whether a getUpdates waits.
func (v State) Polling() bool { return v.s.queue.poll != nil }

// Access is what stands between the bot and a chat.
func (v State) Access(chat int64) Access {
	if c := v.s.chats[chat]; c != nil {
		return c.access
	}
	return NotStarted
}

// View shows the state to a function.
func (s *Server) View(look func(State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(State{s})
}

// Messages is State.Messages as of now.
func (s *Server) Messages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s}.Messages(chat)
}

// WaitFor waits until the condition holds. It is asked after every change, with
// the server at a standstill, so it must be quick and call no method of Server.
func (s *Server) WaitFor(ctx context.Context, condition func(State) bool) error {
	for {
		s.mu.Lock()
		if condition(State{s}) {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return fmt.Errorf("wait: %w", context.Canceled)
		}
	}
}

// WaitText waits for a message of the bot in the chat, behind the message with
// the id after, whose text matches.
func (s *Server) WaitText(ctx context.Context, chat, after int64, pattern *regexp.Regexp) (Message, error) {
	var found Message
	err := s.WaitFor(ctx, func(v State) bool {
		m, ok := v.Find(chat, after, pattern)
		found = m
		return ok
	})
	if err != nil {
		return Message{}, fmt.Errorf("no message in chat %d matches %q: %w", chat, pattern, err)
	}
	return found, nil
}
