// Package condition follows how a database fares: what its errors say of the disk, and
// what a person can do about them.
package condition

import (
	"fmt"
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
	OK State = "ok"
	// Full: there is no space to write.
	Full State = "full"
	// ReadOnly: the file or its file system takes no writes.
	ReadOnly State = "read-only"
	// Failing: the disk reports errors.
	Failing State = "failing"
	// Damaged: the file is not what was written. It stays so until the
	// next start, which restores a backup.
	Damaged State = "damaged"
)

// Condition is the state of the database, since when, and the error unless it is
// OK.
type Condition struct {
	State State
	Fault string
	Since time.Time
}

// Tracker is told how writes and reads fare. The zero value is OK.
type Tracker struct {
	mu  sync.Mutex
	now Condition // guarded by mu

	// Confirm checks the whole database and says whether it is damaged, and
	// whether that is known; nil before it is open.
	Confirm func() (is, known bool)
	// confirming is held during a check, so that several errors wait for one check.
	confirming sync.Mutex
	// sound is when the last such check found nothing. Guarded by confirming.
	sound time.Time
}

// soundFor is how long a check of the whole database is believed.
const soundFor = time.Minute

// Unwritable reports whether an error of Write is the disk's, so that the same
// write can succeed later.
func Unwritable(err error) bool {
	if sqlite.Busy(err) {
		return true
	}
	state := Of(err)
	return state != OK && state != Damaged
}

// Of is the state that an error tells of, OK when it tells of none.
func Of(err error) State {
	switch sqlite.Errno(err) {
	case syscall.ENOSPC, syscall.EDQUOT:
		return Full
	case syscall.EROFS:
		return ReadOnly
	}
	switch sqlite.Code(err) {
	case sqlite3.ErrFull:
		return Full
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrCantOpen:
		return ReadOnly
	case sqlite3.ErrIoErr:
		return Failing
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return Damaged
	}
	return OK
}

// Now is the condition as the last write that changed something, a read or a check
// found it.
func (c *Tracker) Now() Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now
	if now.State == "" {
		now.State = OK
	}
	return now
}

// Note takes an error into account that tells of the disk. One that tells of
// damage counts when a check of the whole database finds damage too; until it is
// done, Note does not return, and what failed is not reported.
func (c *Tracker) Note(err error) {
	state := Of(err)
	if state == OK || state == Damaged && !c.confirmed() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.State == Damaged {
		return
	}
	if c.now.State != state {
		c.now.Since = time.Now().UTC().Truncate(time.Millisecond)
	}
	c.now.State, c.now.Fault = state, err.Error()
}

// confirmed reports whether a check finds damage.
func (c *Tracker) confirmed() bool {
	if c.Confirm == nil {
		return true
	}
	c.confirming.Lock()
	defer c.confirming.Unlock()
	c.mu.Lock()
	is := c.now.State == Damaged
	c.mu.Unlock()
	if is || !c.sound.IsZero() && time.Since(c.sound) < soundFor {
		return is
	}
	is, known := c.Confirm()
	if known && !is {
		c.sound = time.Now()
	}
	return is
}

// Damage takes into account that a check found damage.
func (c *Tracker) Damage(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = Condition{State: Damaged, Fault: err.Error(), Since: time.Now().UTC().Truncate(time.Millisecond)}
}

// Written takes into account that something was written.
func (c *Tracker) Written() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.State != Damaged {
		c.now = Condition{}
	}
}

// Explain adds what a person can do about the failures of a disk.
func Explain(path string, err error) error {
	switch Of(err) {
	case Full:
		return fmt.Errorf("write %s: the disk is full, free some space: %w", path, err)
	case ReadOnly:
		return fmt.Errorf("write %s: the file or its folder is read-only: %w", path, err)
	case Failing:
		return fmt.Errorf("write %s: the disk does not work: %w", path, err)
	case Damaged:
		return fmt.Errorf("write %s: the file is damaged, restart the bot to restore a backup: %w", path, err)
	}
	if sqlite.Busy(err) {
		return fmt.Errorf("write %s: another process holds it: %w", path, err)
	}
	return err
}
