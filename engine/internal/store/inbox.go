package store

import "time"

// InboxState is how far an update is.
type InboxState string

// The states of an update.
const (
	// InboxNew updates wait for a turn.
	InboxNew InboxState = "new"
	// InboxRunning updates are part of the turn in Update.Turn.
	InboxRunning InboxState = "running"
	// InboxDone updates are answered, or needed no answer.
	InboxDone InboxState = "done"
	// InboxDead updates could not be understood or failed for good.
	InboxDead InboxState = "dead"
)

// Update is a row of the inbox. The pair (Channel, Bot, Update) is unique.
type Update struct {
	ID          InboxID
	Channel     string
	Bot, Update int64
	Kind        string
	Address     Address
	// Message is the channel's id of the message, 0 for none.
	Message                   int64
	From                      int64
	Group, FromBot, Anonymous bool
	Raw                       []byte
	State                     InboxState
	Turn                      TurnID
	// Note says why a row is dead or done without an answer.
	Note       string
	ReceivedAt time.Time
}

// AddUpdate stores an update. added is false when it was there already.
func (tx *Tx) AddUpdate(u Update) (id InboxID, added bool, err error) { panic("not yet") }

// NewUpdates lists what waits, oldest first.
func (tx *Tx) NewUpdates() ([]Update, error) { panic("not yet") }

// TurnUpdates lists the updates of a turn, oldest first.
func (tx *Tx) TurnUpdates(t TurnID) ([]Update, error) { panic("not yet") }

// StartUpdates gives updates to a turn.
func (tx *Tx) StartUpdates(t TurnID, ids ...InboxID) error { panic("not yet") }

// EndUpdates sets the final state of updates.
func (tx *Tx) EndUpdates(s InboxState, note string, ids ...InboxID) error { panic("not yet") }

// ReplaceUpdate gives an update that still waits the raw form of its edit. It
// returns ErrNotFound when the update does not wait any more.
func (tx *Tx) ReplaceUpdate(id InboxID, raw []byte) error { panic("not yet") }

// PruneInbox deletes ended rows that are older than before, and returns how many.
func (tx *Tx) PruneInbox(before time.Time) (int64, error) { panic("not yet") }

// Depth is how much waits and since when.
type Depth struct {
	Waiting int
	// Oldest is the time of the oldest row, zero when nothing waits.
	Oldest time.Time
}

// InboxDepth counts the rows that are new or running.
func (tx *Tx) InboxDepth() (Depth, error) { panic("not yet") }
