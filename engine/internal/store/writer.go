package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/condition"
	"klawbot/internal/redact"
)

const (
	// batchBound is how many writes share a commit.
	batchBound = 128
	// beginTries times the busy timeout is how long another process may hold
	// the database before a write fails.
	beginTries = 5
)

// writer has the one connection that writes. A write that finds no commit running commits
// what waits, itself in front, and lets the next one that waits do the same: a goroutine
// of its own would have to be woken for each.
type writer struct {
	db   *sql.DB // one connection
	path string
	// secrets are what no statement stores.
	secrets *redact.Set
	log     *slog.Logger
	// condition is told how the writes fare.
	condition *condition.Tracker

	mu      sync.Mutex
	waiting []*request // guarded by mu, as all below
	// busy says that a commit is running.
	busy   bool
	closed bool
	// idle is closed when the last write of a closed writer is done; nil until it is closed.
	idle chan struct{}

	// unsynced says that the connection does not wait for the disk. Only who commits
	// touches it.
	unsynced bool
}

// request is one Write that waits.
type request struct {
	fn func(*Tx) error
	// cancelled is Err of the caller's context: a write whose caller has gone is not
	// run.
	cancelled func() error
	// unsynced says that it need not wait for the disk.
	unsynced bool
	err      error
	changed  bool
	// lead gets true when it is this one's turn to commit what waits; it is closed when
	// another has committed it.
	lead chan bool
}

// stop lets queued writes finish and refuses new ones.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	idle := make(chan struct{})
	if w.idle = idle; !w.busy {
		close(idle)
	}
	w.mu.Unlock()
	<-idle
}

func (w *writer) write(ctx context.Context, unsynced bool, fn func(*Tx) error) error {
	r := &request{fn: fn, cancelled: ctx.Err, unsynced: unsynced, lead: make(chan bool, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.waiting = append(w.waiting, r)
	leads := !w.busy
	w.busy = true
	w.mu.Unlock()
	if leads || <-r.lead {
		w.commitWaiting(context.WithoutCancel(ctx))
	}
	return r.err
}

// commitWaiting commits what waits, as much as shares a commit. The caller's own is the
// first of it.
func (w *writer) commitWaiting(ctx context.Context) {
	w.mu.Lock()
	n := min(len(w.waiting), batchBound)
	batch := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	w.mu.Unlock()
	err := errBroken
	defer func() { w.finish(batch, err) }() // also when a test ends in the middle of it
	err = w.commit(ctx, batch)
}

// errBroken is the error of writes that did not come to an end.
var errBroken = errors.New("the write was broken off")

// finish tells those who wait for a batch what came of it, and the next one to go on.
func (w *writer) finish(batch []*request, err error) {
	for i, r := range batch {
		if r.err == nil {
			r.err = err
		}
		r.err = condition.Explain(w.path, r.err)
		w.observe(r)
		if i > 0 {
			close(r.lead)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy = len(w.waiting) > 0; w.busy {
		w.waiting[0].lead <- true
	} else if w.waiting = nil; w.closed {
		close(w.idle)
	}
}

// observe learns from the end of a write how the disk fares. A write that
// changed nothing tells nothing: it needs no space.
func (w *writer) observe(r *request) {
	if r.err != nil {
		w.condition.Note(r.err)
	} else if r.changed {
		w.condition.Written()
	}
}

// commit runs a batch in one transaction. Its error is the error of all; what
// concerns only one request is in that one's err.
func (w *writer) commit(ctx context.Context, batch []*request) error {
	tx, err := w.begin(ctx, !slices.ContainsFunc(batch, func(r *request) bool { return !r.unsynced }))
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for _, r := range batch {
		if r.err = r.cancelled(); r.err != nil {
			continue
		}
		if len(batch) == 1 {
			r.err = w.call(tx, r)
			if r.err != nil {
				return nil
			}
		} else if err := w.callInSavepoint(tx, r); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (w *writer) begin(ctx context.Context, unsynced bool) (tx *sqlite.Transaction, err error) {
	begin := "BEGIN IMMEDIATE"
	switch {
	case unsynced && !w.unsynced:
		begin = "PRAGMA synchronous = NORMAL; " + begin
	case !unsynced && w.unsynced:
		begin = "PRAGMA synchronous = FULL; " + begin
	}
	w.unsynced = unsynced
	for range beginTries {
		tx, err = sqlite.Begin(ctx, w.db, begin)
		if !sqlite.Busy(err) {
			break
		}
		w.log.Warn("database is busy", "path", w.path)
	}
	return tx, err
}

// callInSavepoint runs one of several requests and takes back what it changed when it
// failed. A savepoint that is not there any more means that SQLite gave up the whole
// transaction (a full disk); going on would commit each later statement by itself, so that
// is err, and the end of all.
func (w *writer) callInSavepoint(tx *sqlite.Transaction, r *request) (err error) {
	if _, err := tx.Exec("SAVEPOINT one"); err != nil {
		return err
	}
	if r.err = w.call(tx, r); r.err != nil {
		if _, err := tx.Exec("ROLLBACK TO one"); err != nil {
			return errors.Join(r.err, err)
		}
	}
	_, err = tx.Exec("RELEASE one")
	return err
}

func (w *writer) call(tx *sqlite.Transaction, r *request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("write panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("write panicked: %v", p)
		}
	}()
	if err := rehearse(tx, w.secrets, r.fn); err != nil {
		return err
	}
	one := newTx(tx, w.secrets, true)
	err = r.fn(one)
	r.changed = one.changed
	return err
}
