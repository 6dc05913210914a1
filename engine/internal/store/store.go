// Package store keeps everything that must survive, in one SQLite file: the
// inbox, the outbox, the journal of turns, sessions, messages and chats.
//
// Writes of many goroutines share one transaction and one fsync: Write queues a
// function, a single writer runs what has gathered, each in a savepoint of its
// own, commits once and then lets all callers go on. When Write has returned
// nil, the change is on the disk. Reads use query-only connections and never
// wait for the writer. The package knows nothing of messengers, models or
// tools; it stores what it is given and finds it again.
package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// ErrNotFound is returned when a row does not exist.
var ErrNotFound = errors.New("not found")

// Config is what Open needs.
type Config struct {
	// Dir is the data folder; the database is Dir/klawbot.db. Required.
	Dir string
	// Log is required.
	Log *slog.Logger
}

// Store is the open database. Its methods may be called from several goroutines.
type Store struct {
	dir string
	log *slog.Logger
}

// Tx is a transaction. It is valid only inside the function that got it.
type Tx struct {
	tx  *sql.Tx
	now time.Time
}

// The row ids; types keep them apart.
type (
	InboxID   int64
	OutboxID  int64
	TurnID    int64
	SessionID int64
	MessageID int64
)

// Address is a chat and a topic in it, as gateway.Address is.
type Address struct {
	Channel string
	Chat    int64
	Thread  int64
}

// Open takes the process lock of the data folder, creates the database in an
// empty folder, migrates it and checks it. A file that is no klawbot database,
// is of a newer klawbot or is empty although the folder was used before is an
// error that says so; it never starts empty in silence.
func Open(ctx context.Context, c Config) (*Store, error) { panic("not yet") }

// OpenBeside opens an existing database next to a running bot: no lock, no
// creation, no migration. A database with another schema is an error.
func OpenBeside(ctx context.Context, c Config) (*Store, error) { panic("not yet") }

// Close waits for queued writes, closes the database and releases the lock.
func (s *Store) Close() error { panic("not yet") }

// Write runs fn in a transaction and returns when it is committed and synced.
// When fn returns an error, only its own changes are undone. fn must not call
// the Store.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error { panic("not yet") }

// Read runs fn on a snapshot of what is committed.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error { panic("not yet") }
