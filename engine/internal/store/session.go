package store

import "time"

// Session is a segment of a conversation: from one /new to the next.
type Session struct {
	ID      SessionID
	Address Address
	// Model is the name of the model that the chat chose, empty for the default.
	Model     string
	StartedAt time.Time
}

// Session returns the current session of an address and starts the first one.
// (In a read transaction a missing one is ErrNotFound.)
func (tx *Tx) Session(a Address) (Session, error) { panic("not yet") }

// StartSession begins a new segment, which keeps the model of the last one.
func (tx *Tx) StartSession(a Address) (Session, error) { panic("not yet") }

// SetModel sets the model of a session.
func (tx *Tx) SetModel(id SessionID, model string) error { panic("not yet") }

// SessionInfo is a row of the list of sessions.
type SessionInfo struct {
	Session
	Messages int
	LastAt   time.Time
}

// Sessions lists the current session of every address, the latest first.
func (tx *Tx) Sessions() ([]SessionInfo, error) { panic("not yet") }

// Chat is what is known of a chat.
type Chat struct {
	Channel string
	ID      int64
	Name    string
	// DeadSince is set while the chat cannot be reached; Note says why.
	DeadSince time.Time
	Note      string
	SeenAt    time.Time
}

// SeeChat remembers that a chat wrote, and revives a dead one.
func (tx *Tx) SeeChat(channel string, id int64, name string) error { panic("not yet") }

// KillChat marks a chat as not reachable. It reports whether it was alive.
func (tx *Tx) KillChat(channel string, id int64, note string) (was bool, err error) { panic("not yet") }

// Chats lists all chats, the latest first.
func (tx *Tx) Chats() ([]Chat, error) { panic("not yet") }
