package store

import (
	"context"
	"time"

	"klawbot/engine/internal/llm"
)

// Message is a stored message of a conversation. Messages are never edited.
type Message struct {
	ID MessageID
	// UID is unique over all data folders; empty lets AddMessage mint one.
	UID     string
	Session SessionID
	Turn    TurnID
	Body    llm.Message
	// Sender is the person of a user message.
	Sender     int64
	SenderName string
	// Type is empty, or "session_break", "error", "stopped", "delivered": a
	// line for people that the model does not get as its own words.
	Type string
	// Model is the configured name of the model that wrote it.
	Model                     string
	InputTokens, OutputTokens int
	At                        time.Time
}

// AddMessage stores a message at the end of its session.
func (tx *Tx) AddMessage(m Message) (MessageID, error) { panic("not yet") }

// History returns the newest messages of a session, oldest first.
func (tx *Tx) History(s SessionID, limit int) ([]Message, error) { panic("not yet") }

// WriteLog appends the messages that are not in the conversation logs yet to
// <data>/conversations/<address>/YYYY-MM-DD.jsonl. A message is never written
// twice, also not after a crash in between.
func (s *Store) WriteLog(ctx context.Context) error { panic("not yet") }
