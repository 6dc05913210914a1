// Package store keeps everything that must survive, in one SQLite file: the
// inbox, the outbox, the journal of turns, sessions, messages and chats.
//
// Writes of many goroutines share one transaction and one fsync: Write queues a
// function, and the first that waits runs all that have gathered, each in a savepoint of
// its own, commits once and then lets all callers return. When Write has returned
// nil, the change is on the disk. Reads use query-only connections and never
// wait for the writer. The package knows nothing of messengers, models or
// tools; it stores what it is given and finds it again.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/condition"
	"klawbot/gateway"
	"klawbot/internal/redact"
)

// ErrNotFound is returned when a row does not exist.
var ErrNotFound = errors.New("not found")

// ErrClosed is returned by a Store after Close.
var ErrClosed = errors.New("the store is closed")

// ErrOlder is returned by OpenBeside for a database of an older klawbot, which Open
// brings up to date.
var ErrOlder = errors.New("the database was written by an older klawbot: stop its bot if it runs, and start this one, which brings the database up to date")

// Config is what Open needs.
type Config struct {
	// Dir is the data directory; the database is Dir/klawbot.db. Required.
	Dir string
	// Repair puts another database into the place of a damaged or missing one, while
	// Open holds the folder; cause says what is wrong. Nil: Open fails.
	Repair func(ctx context.Context, cause error) error
	// Redact holds the known secrets, of which nothing is stored. Nil: only what has
	// the shape of one is masked.
	Redact *redact.Set
	// Committed is told what a Write has changed, once it is committed. It is called
	// in the goroutine of the Write, before that returns, and must not wait. It may be
	// nil.
	Committed func(Changes)
	// Log is required.
	Log *slog.Logger
}

// Changes are what a transaction has changed that others wait for.
type Changes struct {
	// Out are the rows to send. A row behind others has its address only.
	Out []Out
	// Messages says that the history of a chat has grown, Jobs that jobs or runs
	// were added or changed.
	Messages, Jobs bool
}

func (c Changes) empty() bool { return len(c.Out) == 0 && !c.Messages && !c.Jobs }

// Store is the open database. Its methods may be called from several goroutines.
type Store struct {
	dir       string
	path      string
	log       *slog.Logger
	lock      *sqlite.FolderLock // nil while the bot runs
	secrets   *redact.Set
	committed func(Changes) // Config.Committed
	readers   *sql.DB
	writer    *writer
	condition condition.Tracker
	// checking is the context of background checks; stopCheck ends it.
	checking   context.Context
	stopCheck  context.CancelFunc
	background sync.WaitGroup
	close      sync.Once
}

// The row ids; types keep them apart.
type (
	InboxID   int64
	OutboxID  int64
	TurnID    int64
	SessionID int64
	MessageID int64
)

// Address is a chat and a topic in it.
type Address = gateway.Address

// Open takes the process lock of the data directory, creates the database in an
// empty folder, migrates it and checks it. A file that is not a klawbot database,
// is of a newer klawbot or is empty although the folder was used before is an
// error that says so; it never starts empty in silence. A database that is
// damaged or gone is a *sqlite.DamagedError unless Config.Repair replaces it. When another
// process holds the folder the error is a *sqlite.LockedError.
func Open(ctx context.Context, c Config) (*Store, error) {
	s, err := open(ctx, c)
	return s, wrap(err, "open store")
}

// OpenBeside opens an existing database next to a running bot: no lock, no
// creation, no migration. A missing database is ErrNotFound, one with another
// schema is ErrOlder.
func OpenBeside(ctx context.Context, c Config) (*Store, error) {
	s, err := openBeside(ctx, c)
	return s, wrap(err, "open store")
}

// Dir is the data directory.
func (s *Store) Dir() string { return s.dir }

// Secrets are those of which nothing is stored.
func (s *Store) Secrets() *redact.Set { return s.secrets }

// Alone says that no other process writes: the Store is Open's, and not OpenBeside's.
func (s *Store) Alone() bool { return s.lock != nil }

// Close waits for queued writes, closes the database and releases the lock.
// Later calls do nothing.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() { err = s.shut() })
	return err
}

func (s *Store) shut() error {
	var faults []error
	s.stopCheck()
	s.writer.stop()
	s.background.Wait()
	if s.lock != nil && s.Condition().State == condition.Damaged {
		s.distrust()
	}
	if s.lock != nil && s.Condition().State != condition.Damaged {
		faults = append(faults, setMeta(s.writer.db, "clean", "1"))
	}
	faults = append(faults, s.readers.Close(), s.writer.db.Close())
	if s.lock != nil {
		faults = append(faults, s.lock.Unlock())
	}
	return wrap(errors.Join(faults...), "close store")
}

// Write runs fn in a transaction and returns when it is committed and synced.
// When fn returns an error or panics, only its own changes are undone. fn may run
// on the goroutine of another Write and must not call the Store. When ctx ends before
// fn has started, fn does not run; later ctx has no effect, so the error always
// says whether the changes are there.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	return s.write(ctx, false, fn)
}

// WriteUnsynced is Write that need not wait for the disk, for what is simply done again: a
// power cut may take the change back if nothing was written after it. The end of the
// process does not.
func (s *Store) WriteUnsynced(ctx context.Context, fn func(*Tx) error) error {
	return s.write(ctx, true, fn)
}

func (s *Store) write(ctx context.Context, unsynced bool, fn func(*Tx) error) error {
	var changes Changes
	err := s.writer.write(ctx, unsynced, func(tx *Tx) error {
		tx.changes = Changes{}
		err := fn(tx)
		changes = tx.changes
		return err
	})
	if err == nil && s.committed != nil && !changes.empty() {
		s.committed(changes)
	}
	return err
}

// Read runs fn on a snapshot of what is committed. When ctx ends, the
// statements of fn fail.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	tx, err := sqlite.Begin(ctx, s.readers, "BEGIN")
	if err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	defer tx.Rollback() // a read has nothing to lose
	err = fn(newTx(tx, s.secrets, false))
	if Damaged(err) {
		s.condition.Note(err)
	}
	return err
}

// DataVersion is a number that changes when another process has written to the
// database. The Store's own writes do not change it.
func (s *Store) DataVersion(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var v int64
	// SQLite counts the commits of all connections but the one that asks, so
	// the one that writes must ask. It needs no transaction for that, and the
	// wait for the batch that is being written is short.
	err := s.writer.db.QueryRow("PRAGMA data_version").Scan(&v)
	if err != nil {
		s.condition.Note(err)
	}
	return v, condition.Explain(s.path, err)
}

// now is the time as the database can store it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
