package outbox

import (
	"context"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
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
)

// courier is the worker of one address, or what keeps one away from it.
type courier struct {
	again bool
	// next is the row to begin with; without an id, the courier looks for it.
	next store.Out
	gone chan struct{} // closed when it leaves the address
}

// serve delivers until nothing is left for the address.
func (d *Outbox) serve(ctx context.Context, a gateway.Address, c *courier) {
	for d.more(a, c, ctx.Err() != nil) {
		for {
			d.follow(ctx, a)
			o, waits, err := c.next, true, error(nil)
			if c.next = (store.Out{}); o.ID == 0 {
				o, waits, err = d.first(ctx, a)
			}
			if err != nil && ctx.Err() == nil {
				d.config.Log.Error("outbox not read", "chat", a.String(), "err", err)
				wait.For(ctx, time.Second)
				continue
			}
			if err != nil || !waits || !d.deliver(ctx, o) {
				break
			}
		}
	}
}

// first is the row that has to leave next for an address.
func (d *Outbox) first(ctx context.Context, a gateway.Address) (o store.Out, waits bool, err error) {
	err = d.config.Store.Read(ctx, func(tx *store.Tx) error {
		all, err := tx.Outbox().PendingOut(&a, 1)
		if waits = len(all) > 0; waits {
			o = all[0]
		}
		return err
	})
	return o, waits, err
}

// more reports whether the courier has to look again, and lets it go if not.
func (d *Outbox) more(a gateway.Address, c *courier, ended bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !c.again || ended {
		delete(d.couriers, a)
		close(c.gone)
		return false
	}
	c.again = false
	return true
}

// deliver delivers a row until it is settled, or belongs to another address. It
// returns false when ctx ended, or nothing else waits: what is added later is announced.
func (d *Outbox) deliver(ctx context.Context, o store.Out) bool {
	alone := false
	// What an earlier process left in doubt is no sign of an outage: it is repeated as
	// soon as the channel works.
	at, doubt := o.Address, time.Time{}
	for o.State == store.OutboxNew || o.State == store.OutboxSending {
		if !wait.For(ctx, untilDue(o, time.Now())) || o.Resent > 0 && !d.recovered(ctx, o.Address.Chat.Channel, doubt) {
			return false
		}
		if o.State == store.OutboxNew {
			doubt = time.Now()
		}
		var next store.Out
		var err error
		if next, alone, err = d.attempt(ctx, o); err != nil {
			d.config.Life.LogUnstored(ctx, "outbox row not written", err, "key", o.Key)
			if store.Unwritable(err) { // the answer waits for the mark that it is being sent
				d.config.Life.TellUnstored(ctx, o.Address, 0)
			}
			wait.For(ctx, time.Second)
			return ctx.Err() == nil
		}
		// Only a channel that does not work names no time. A row in doubt does
		// not either, but that was no attempt.
		stopped := next.State == store.OutboxNew && next.NotBefore.IsZero() && next.Attempts > o.Attempts
		if o = next; o.Address != at {
			d.Notify(o.Address)
			return true
		}
		if stopped {
			wait.For(ctx, retryMax)
		}
	}
	return !alone
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
func (d *Outbox) recovered(ctx context.Context, channel string, since time.Time) bool {
	for {
		h := d.config.Gateway.HealthOf(channel)
		quiet := time.Since(since)
		switch {
		case h.LastPoll.After(since), h.LastPoll.IsZero() && h.State == gateway.StateOK:
			return true
		case h.State == gateway.StateOK && quiet >= believeAfter:
			return true
		case h.State != gateway.StateConnecting && h.State != gateway.StateStale && quiet >= recoverMax:
			return true
		}
		if !wait.For(ctx, recoverPoll) {
			return false
		}
	}
}
