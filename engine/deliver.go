package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
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

// chats is told what the messenger says of chats.
type deliveryChats interface {
	// Lose takes leave of a chat that cannot be reached any more.
	Lose(ctx context.Context, a gateway.Address, why string)
	// Move gives a chat its new id.
	Move(ctx context.Context, chat gateway.ChatID, to int64)
}

// deliveryConfig is what newDelivery needs. All of it is required.
type deliveryConfig struct {
	Store   *store.Store
	Gateway *gateway.Gateway
	Life    *lifecycle.Lifecycle
	// Files are the files that rows name.
	Files *outbox.SentFiles
	Chats deliveryChats
	// HoldAmbiguous asks whether a message that may have arrived is never repeated.
	HoldAmbiguous func() bool
	// Settled stores, with the row, what else follows from the end of an attempt. What
	// it returns runs once that is stored.
	Settled func(tx *store.Tx, row store.Out) (after func(), err error)
	// Attempted counts an attempt, by what became of the row.
	Attempted func(row store.Out)
	// Say returns one of the bot's own sentences.
	Say func(p locale.Phrase, args ...any) string
	Log *slog.Logger
}

// delivery takes rows from the outbox to the gateway: one courier per address,
// in order, so that a row that fails holds back the ones after it in its chat
// and nobody else. Whatever else shows something at an address asks for its turn
// with alone.
type delivery struct {
	config  deliveryConfig
	store   *store.Store
	gateway *gateway.Gateway
	log     *slog.Logger

	mu       sync.Mutex
	ctx      context.Context              // guarded by mu; nil until run
	couriers map[gateway.Address]*courier // guarded by mu
	moves    map[gateway.ChatID]int64     // guarded by mu; chats that moved since the start
	closed   bool                         // guarded by mu
	work     sync.WaitGroup
}

// newDelivery returns a delivery that has not begun.
func newDelivery(c deliveryConfig) *delivery {
	return &delivery{
		config: c, store: c.Store, gateway: c.Gateway, log: c.Log,
		couriers: map[gateway.Address]*courier{}, moves: map[gateway.ChatID]int64{},
	}
}

// courier is the courier of one address, or what keeps one away from it.
type courier struct {
	again bool
	gone  chan struct{} // closed when it leaves the address
}

// run starts the delivery of everything that waits. Couriers end with ctx.
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
	err := d.store.Read(ctx, func(tx *store.Tx) (err error) {
		pending, err = tx.Outbox().PendingOut(nil, -1)
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

// post adds a text of the bot itself, outside any answer.
func (d *delivery) post(ctx context.Context, to gateway.Address, key, text string) {
	outs := outsFor(to, d.gateway.Render(to.Chat.Channel, text), key, 0)
	if err := d.store.Write(ctx, func(tx *store.Tx) error { return addOuts(tx, outs) }); err != nil {
		d.log.Error("message not stored", "chat", to.String(), "err", err)
	}
}

// close lets no new courier start; those at work go on.
func (d *delivery) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// waitForAll waits for the couriers to leave.
func (d *delivery) waitForAll() { d.work.Wait() }

// notify says that an address has something to deliver.
func (d *delivery) notify(a gateway.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a = d.home(a)
	if c := d.couriers[a]; c != nil {
		c.again = true
		return
	}
	if d.ctx == nil || d.closed {
		return
	}
	d.startAt(a)
}

// startAt starts the courier of an address. d.mu is held.
func (d *delivery) startAt(a gateway.Address) {
	c := &courier{again: true, gone: make(chan struct{})}
	d.couriers[a] = c
	ctx := d.ctx
	d.work.Go(func() { d.serve(ctx, a, c) })
}

// now is an address as it is today.
func (d *delivery) now(a gateway.Address) gateway.Address {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.home(a)
}

// alone waits until everything has left that waits at an address, and keeps what
// comes behind it back until release. It returns nil when ctx ends first, or when
// nothing is delivered any more.
func (d *delivery) alone(ctx context.Context, a gateway.Address) (release func()) {
	for ctx.Err() == nil {
		a = d.now(a)
		d.follow(ctx, a)
		d.mu.Lock()
		c := d.couriers[a]
		if c == nil {
			c = &courier{gone: make(chan struct{})}
			d.couriers[a] = c
			d.mu.Unlock()
			_, waits, err := d.first(ctx, a)
			if err == nil && !waits {
				return func() { d.leave(a, c, false) }
			}
			if !d.leave(a, c, true) {
				return nil
			}
			continue
		}
		d.mu.Unlock()
		select {
		case <-c.gone:
		case <-ctx.Done():
		}
	}
	return nil
}

// leave gives an address back that alone has taken. It reports whether a courier
// delivers there now, which it does when something has been announced, or is known
// to wait.
func (d *delivery) leave(a gateway.Address, c *courier, waits bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.couriers, a)
	close(c.gone)
	if !waits && !c.again || d.ctx == nil || d.closed {
		return false
	}
	d.startAt(a)
	return true
}

// home is the address to which a chat has moved, if it has. d.mu is held.
func (d *delivery) home(a gateway.Address) gateway.Address {
	if to := d.moves[a.Chat]; to != 0 {
		a.Chat.ID = to
	}
	return a
}

// moved says that a chat has a new id, under which its parts wait from now on. The
// newest word counts where chats name each other.
func (d *delivery) moved(chat gateway.ChatID, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.moves, gateway.ChatID{Channel: chat.Channel, ID: to})
	d.moves[chat] = to
}

// follow waits until nobody is at work any more at an address that has become a:
// what is on its way there must not be taken for something that nobody sends.
func (d *delivery) follow(ctx context.Context, a gateway.Address) {
	for ctx.Err() == nil {
		before := d.before(a)
		if before == nil {
			return
		}
		select {
		case <-before.gone:
		case <-ctx.Done():
		}
	}
}

// before is the courier of an address that has become a, nil for none.
func (d *delivery) before(a gateway.Address) *courier {
	d.mu.Lock()
	defer d.mu.Unlock()
	for chat, to := range d.moves {
		if chat.Channel == a.Chat.Channel && to == a.Chat.ID {
			if c := d.couriers[gateway.Address{Chat: gateway.ChatID{Channel: a.Chat.Channel, ID: chat.ID}, Thread: a.Thread}]; c != nil {
				return c
			}
		}
	}
	return nil
}

// serve delivers until nothing is left for the address.
func (d *delivery) serve(ctx context.Context, a gateway.Address, c *courier) {
	for d.more(a, c, ctx.Err() != nil) {
		for {
			d.follow(ctx, a)
			o, waits, err := d.first(ctx, a)
			if err != nil && ctx.Err() == nil {
				d.log.Error("outbox not read", "chat", a.String(), "err", err)
				wait.For(ctx, time.Second)
				continue
			}
			if err != nil || !waits || !d.deliver(ctx, o) {
				break
			}
		}
	}
}

// first is the part that has to leave next for an address.
func (d *delivery) first(ctx context.Context, a gateway.Address) (o store.Out, waits bool, err error) {
	err = d.store.Read(ctx, func(tx *store.Tx) error {
		all, err := tx.Outbox().PendingOut(&a, 1)
		if waits = len(all) > 0; waits {
			o = all[0]
		}
		return err
	})
	return o, waits, err
}

// more reports whether the courier has to look again, and lets it go if not.
func (d *delivery) more(a gateway.Address, c *courier, ended bool) bool {
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

// deliver delivers a part until it is settled, or belongs to another address. It
// returns false when ctx ended.
func (d *delivery) deliver(ctx context.Context, o store.Out) bool {
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
		next, err := d.attempt(ctx, o)
		if err != nil {
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
			d.notify(o.Address)
			break
		}
		if stopped {
			wait.For(ctx, retryMax)
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
		h := d.gateway.HealthOf(channel)
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
