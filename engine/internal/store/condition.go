package store

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"klawbot/engine/internal/sqlite"
)

// State is the health of the database.
type State string

// The states of the database.
const (
	StateOK State = "ok"
	// StateFull: there is no space to write.
	StateFull State = "full"
	// StateReadOnly: the file or its file system takes no writes.
	StateReadOnly State = "read-only"
	// StateFailing: the disk reports errors.
	StateFailing State = "failing"
	// StateDamaged: the file is not what was written. It stays so until the
	// next start, which restores a backup.
	StateDamaged State = "damaged"
)

// Condition is the state of the database, since when, and the error unless it is
// StateOK.
type Condition struct {
	State State
	Fault string
	Since time.Time
}

// condition is updated by writes and reads. The zero value is StateOK.
type condition struct {
	mu  sync.Mutex
	now Condition // guarded by mu

	// confirm checks the whole database and says whether it is damaged, and
	// whether that is known; nil before it is open.
	confirm func() (is, known bool)
	// confirming is held during a check, so that several errors wait for one check.
	confirming sync.Mutex
	// sound is when the last such check found nothing. Guarded by confirming.
	sound time.Time
}

// soundFor is how long a check of the whole database is believed.
const soundFor = time.Minute

// Condition reports the health of the database as the last write that changed
// something, a read or a check found it. It does no I/O.
func (s *Store) Condition() Condition {
	s.condition.mu.Lock()
	defer s.condition.mu.Unlock()
	c := s.condition.now
	if c.State == "" {
		c.State = StateOK
	}
	return c
}

// Probe writes something, so that Condition tells the present.
func (s *Store) Probe(ctx context.Context) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec("INSERT INTO meta (key, value) VALUES ('probe', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1", toMillis(tx.now))
		return err
	})
}

// Unwritable reports whether an error of Write is the disk's, so that the same
// write can succeed later.
func Unwritable(err error) bool {
	if sqlite.Busy(err) {
		return true
	}
	state := stateOf(err)
	return state != StateOK && state != StateDamaged
}

// Damaged reports whether an error says that the database is damaged.
func Damaged(err error) bool { return sqlite.Damaged(err) }

// stateOf is the state that an error tells of, StateOK when it tells of none.
func stateOf(err error) State {
	switch sqlite.Errno(err) {
	case syscall.ENOSPC, syscall.EDQUOT:
		return StateFull
	case syscall.EROFS:
		return StateReadOnly
	}
	switch sqlite.Code(err) {
	case sqlite3.ErrFull:
		return StateFull
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrCantOpen:
		return StateReadOnly
	case sqlite3.ErrIoErr:
		return StateFailing
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return StateDamaged
	}
	return StateOK
}

// note takes an error into account that tells of the disk. One that tells of
// damage counts when a check of the whole database finds damage too; until it is
// done, note does not return, and what failed is not reported.
func (c *condition) note(err error) {
	state := stateOf(err)
	if state == StateOK || state == StateDamaged && !c.confirmed() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.State == StateDamaged {
		return
	}
	if c.now.State != state {
		c.now.Since = now()
	}
	c.now.State, c.now.Fault = state, err.Error()
}

// confirmed reports whether a check finds damage.
func (c *condition) confirmed() bool {
	if c.confirm == nil {
		return true
	}
	c.confirming.Lock()
	defer c.confirming.Unlock()
	c.mu.Lock()
	is := c.now.State == StateDamaged
	c.mu.Unlock()
	if is || !c.sound.IsZero() && time.Since(c.sound) < soundFor {
		return is
	}
	is, known := c.confirm()
	if known && !is {
		c.sound = time.Now()
	}
	return is
}

// damaged takes into account that a check found damage.
func (c *condition) damaged(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = Condition{State: StateDamaged, Fault: err.Error(), Since: now()}
}

// written takes into account that something was written.
func (c *condition) written() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.State != StateDamaged {
		c.now = Condition{}
	}
}
