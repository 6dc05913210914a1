package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

const (
	// retryMax bounds the wait between two attempts.
	retryMax = time.Minute
	// notBeforeMax bounds the wait for a time that was stored: the clock may
	// have been wrong then.
	notBeforeMax = time.Hour
	// believeAfter is how long a channel must have been well, though not heard
	// from, for a repeat; recoverMax is how long a repeat waits for a channel
	// that cannot tell whether it is.
	believeAfter = 10 * time.Second
	recoverMax   = 2 * time.Minute
	recoverPoll  = 100 * time.Millisecond
	// deliverBatch is how many rows of an address are read at once.
	deliverBatch = 16
)

// delivery takes parts from the outbox to the gateway: one worker per address,
// in order, so that a part that fails holds back the ones after it in its chat
// and nobody else.
type delivery struct {
	e *Engine

	mu      sync.Mutex
	ctx     context.Context            // guarded by mu; nil until run
	workers map[store.Address]*courier // guarded by mu
	moves   map[gateway.ChatID]int64   // guarded by mu; chats that moved since the start
	closed  bool                       // guarded by mu
	wait    sync.WaitGroup
}

// courier is the worker of one address.
type courier struct{ again bool }

// run starts the delivery of everything that waits. Workers end with ctx.
func (d *delivery) run(ctx context.Context) error {
	d.mu.Lock()
	d.ctx = ctx
	d.mu.Unlock()
	return d.rescan(ctx)
}

// rescan looks for rows that nobody announced: those of the last run and those
// that a command wrote beside the bot.
func (d *delivery) rescan(ctx context.Context) error {
	var pending []store.Out
	err := d.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		pending, err = tx.PendingOut(nil, -1)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	for _, o := range pending {
		d.notify(o.Address)
	}
	return nil
}

// close lets no new worker start; those at work go on.
func (d *delivery) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// notify says that an address has something to deliver.
func (d *delivery) notify(a store.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if to := d.moves[reachable(a).Chat]; to != 0 {
		a.Chat = to
	}
	if c := d.workers[a]; c != nil {
		c.again = true
		return
	}
	if d.ctx == nil || d.closed {
		return
	}
	c := &courier{again: true}
	d.workers[a] = c
	ctx := d.ctx
	d.wait.Go(func() { d.serve(ctx, a, c) })
}

// moved says that a chat has a new id, under which its parts wait from now on.
func (d *delivery) moved(chat gateway.ChatID, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.moves[chat] = to
}

// serve delivers until nothing is left for the address.
func (d *delivery) serve(ctx context.Context, a store.Address, c *courier) {
	for d.more(a, c, ctx.Err() != nil) {
		for {
			var pending []store.Out
			err := d.e.store.Read(ctx, func(tx *store.Tx) (err error) {
				pending, err = tx.PendingOut(&a, deliverBatch)
				return err
			})
			if err != nil {
				if ctx.Err() == nil {
					d.e.log.Error("outbox not read", "chat", reachable(a).String(), "err", err)
					pause(ctx, time.Second)
				}
				break
			}
			if len(pending) == 0 || !d.deliverAll(ctx, pending) {
				break
			}
		}
	}
}

// more reports whether the worker has to look again, and lets it go if not.
func (d *delivery) more(a store.Address, c *courier, ended bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !c.again || ended {
		delete(d.workers, a)
		return false
	}
	c.again = false
	return true
}

// deliverAll delivers rows in order, each until it is settled. It returns false
// when ctx ended.
func (d *delivery) deliverAll(ctx context.Context, rows []store.Out) bool {
	for _, o := range rows {
		doubt := time.Now()
		for o.State == store.OutboxNew || o.State == store.OutboxSending {
			if !pause(ctx, untilDue(o, time.Now())) || o.Resent > 0 && !d.recovered(ctx, o.Address.Channel, doubt) {
				return false
			}
			doubt = time.Now()
			next, err := d.attempt(ctx, o)
			if err != nil {
				d.e.logUnstored(ctx, "outbox row not written", err, "key", o.Key)
				pause(ctx, time.Second)
				return ctx.Err() == nil
			}
			// Only a channel that does not work names no time. A row in doubt does
			// not either, but that was no attempt.
			stopped := next.State == store.OutboxNew && next.NotBefore.IsZero() && next.Attempts > o.Attempts
			if o = next; o.Address != rows[0].Address {
				d.notify(o.Address)
				break
			}
			if stopped {
				pause(ctx, retryMax)
			}
		}
	}
	return true
}

// untilDue is how long a row has to wait yet. A row that was made in the future
// shows that the clock was set back since; then its time says nothing. What the
// messenger asked for is kept by its channel.
func untilDue(o store.Out, now time.Time) time.Duration {
	if o.CreatedAt.After(now) {
		return min(o.NotBefore.Sub(now), retryMax)
	}
	return min(o.NotBefore.Sub(now), notBeforeMax)
}

// recovered waits, before a send is repeated, until its channel has heard from
// the messenger again, however long it is out of reach: a repeat into the same
// outage is wasted, and there are few. It returns false when ctx ends first.
func (d *delivery) recovered(ctx context.Context, channel string, since time.Time) bool {
	for {
		h := d.e.health(channel)
		quiet := time.Since(since)
		switch {
		case h.LastPoll.After(since), h.LastPoll.IsZero() && h.State == gateway.StateOK:
			return true
		case h.State == gateway.StateOK && quiet >= believeAfter:
			return true
		case h.State != gateway.StateConnecting && h.State != gateway.StateStale && quiet >= recoverMax:
			return true
		}
		if !pause(ctx, recoverPoll) {
			return false
		}
	}
}

// pause waits, and returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
