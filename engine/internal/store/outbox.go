package store

import "time"

// OutboxState is how far a part is.
type OutboxState string

// The states of a part.
const (
	// OutboxNew parts are not sent, for certain.
	OutboxNew OutboxState = "new"
	// OutboxSending parts were given to the channel; after a crash nobody
	// knows whether they arrived.
	OutboxSending OutboxState = "sending"
	OutboxSent    OutboxState = "sent"
	// OutboxUnknown parts may have arrived and are not tried again.
	OutboxUnknown OutboxState = "unknown"
	// OutboxDead parts will never arrive; Note says why.
	OutboxDead OutboxState = "dead"
)

// Out is a row of the outbox: one rendered part on its way out.
type Out struct {
	ID OutboxID
	// Key is unique: "turn/12/0" is the first part of the answer of turn 12.
	// Adding the same key again is no error and changes nothing.
	Key     string
	Turn    TurnID // 0 for none
	Address Address
	// Body is the part as JSON.
	Body []byte
	// Edit is the message that the part replaces, 0 to send a new one.
	Edit     int64
	State    OutboxState
	Attempts int
	// Resent says that the part goes out a second time after an unclear
	// first one, and is marked so.
	Resent    bool
	MessageID int64
	NotBefore time.Time
	Note      string
	CreatedAt time.Time
	SentAt    time.Time
}

// AddOut stores a part to deliver.
func (tx *Tx) AddOut(o Out) error { panic("not yet") }

// PendingOut lists what is new or sending, oldest first. With an address only
// that one's, else all.
func (tx *Tx) PendingOut(a *Address, limit int) ([]Out, error) { panic("not yet") }

// UpdateOut writes back the fields that delivery changes: Edit, State,
// Attempts, Resent, MessageID, NotBefore, Note, SentAt, Address.
func (tx *Tx) UpdateOut(o Out) error { panic("not yet") }

// OutboxDepth counts the rows that are new or sending.
func (tx *Tx) OutboxDepth() (Depth, error) { panic("not yet") }

// PruneOutbox deletes ended rows that are older than before.
func (tx *Tx) PruneOutbox(before time.Time) (int64, error) { panic("not yet") }
