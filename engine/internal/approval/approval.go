// Package approval asks a person and waits: whether a call may run, and what a program
// wants to know in the middle of one (a form). What is asked, and what came of it, is a
// row of the store: it survives the end of the process, and no call is asked about
// twice. The package runs no calls, knows no turns, and does not decide which calls
// need an approval; the policy of package tools does.
package approval

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/wording"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/internal/wait"
)

// Config is what New needs. All of it is required.
type Config struct {
	Store    *store.Store
	Gateway  *gateway.Gateway
	Life     *lifecycle.Lifecycle
	Outbox   *outbox.Outbox
	Redact   *redact.Set
	Settings func() settings.Settings
	Log      *slog.Logger
}

// Questions asks people and waits for their answers.
type Questions struct {
	words  wording.Words
	store  *store.Store
	life   *lifecycle.Lifecycle
	outbox *outbox.Outbox
	log    *slog.Logger

	mu sync.Mutex
	// waiting are the approvals that a turn of this process waits for.
	waiting map[store.ApprovalID]*waiter // guarded by mu
	forms   []*form                      // guarded by mu; the oldest first
}

// New returns Questions; none is open yet.
func New(c Config) *Questions {
	return &Questions{
		words: wording.Words{Gateway: c.Gateway, Redact: c.Redact, Settings: c.Settings}, store: c.Store, life: c.Life, outbox: c.Outbox, log: c.Log,
		waiting: map[store.ApprovalID]*waiter{},
	}
}

// waiter waits for a person.
type waiter struct {
	approval store.Approval
	answered chan struct{}
}

// wait registers a waiter; the function takes it away again.
func (q *Questions) wait(a store.Approval) (w *waiter, done func()) {
	w = &waiter{approval: a, answered: make(chan struct{}, 1)}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[a.ID] = w
	return w, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.waiting, a.ID)
	}
}

// wake tells the turn that waits for an approval that it ended.
func (q *Questions) wake(id store.ApprovalID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.waiting[id]; w != nil {
		wait.Signal(w.answered)
	}
}

// WaitsAt reports whether a turn of an address waits for a person, and whether that
// person is asked elsewhere.
func (q *Questions) WaitsAt(a gateway.Address) (waits, away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if w.approval.Home == a && w.approval.Turn != 0 {
			return true, w.approval.Away()
		}
	}
	return false, false
}

// deadline is until when an approval may be answered: by the monotonic clock while its
// turn waits, else by the time that is stored.
func (q *Questions) deadline(a store.Approval) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.waiting[a.ID]; w != nil {
		return w.approval.ExpiresAt
	}
	return a.ExpiresAt
}

// await waits until a pending approval has ended, and ends it itself when its time
// is over or the turn is stopped. A turn that is parked leaves it pending, unless
// it is a form.
func (q *Questions) await(ctx context.Context, a store.Approval) (store.Approval, error) {
	w, done := q.wait(a)
	defer done()
	// The answer may have come before the wait.
	row, err := q.approval(ctx, a.Token)
	if err != nil || row.State != store.ApprovalPending {
		return row, err
	}
	timer := time.NewTimer(time.Until(a.ExpiresAt))
	defer timer.Stop()
	select {
	case <-w.answered:
		return q.approval(context.WithoutCancel(ctx), a.Token)
	case <-timer.C:
		return q.end(ctx, a, decision{state: store.ApprovalExpired})
	case <-q.life.Ending():
		if a.Question { // the program that asks is about to end
			return q.end(context.WithoutCancel(ctx), a, decision{state: store.ApprovalStopped})
		}
		return a, lifecycle.ErrParked
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if !errors.Is(cause, lifecycle.ErrParked) {
		_, err = q.end(context.WithoutCancel(ctx), a, decision{state: store.ApprovalStopped})
	}
	return a, errors.Join(cause, err)
}

// approval reads an approval by its token.
func (q *Questions) approval(ctx context.Context, token string) (a store.Approval, err error) {
	err = q.store.Read(ctx, func(tx *store.Tx) error {
		a, err = tx.Approvals().Approval(token)
		return err
	})
	return a, err
}

// Owns reports whether a person at an address is an owner, as of now.
func (q *Questions) Owns(at gateway.Address, person int64) bool {
	return at.Chat.Local() || q.words.Settings().Owns(at.Chat.Channel, person)
}
