// Package outbox takes messages out: it makes the rows of the outbox, keeps the files
// that they name, and has a courier for each address bring them to the gateway. It
// does not know what a message says or why it leaves.
package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/sentfiles"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// Chats is told what the messenger says of chats.
type Chats interface {
	// Lose ends what concerns a chat that cannot be reached any more.
	// The updates that are given end with that.
	Lose(ctx context.Context, chat gateway.ChatID, why string, ids ...store.InboxID)
	// Mute notes that the bot may not write at an address, or in its whole chat.
	Mute(ctx context.Context, a gateway.Address, topic bool, why string)
	// Muted reports whether nothing has to be sent to an address now.
	Muted(a gateway.Address) bool
	// Move gives a chat its new id, and ends the updates that are given.
	Move(ctx context.Context, chat gateway.ChatID, to int64, ids ...store.InboxID)
}

// Config is what New needs. All of it is required.
type Config struct {
	Store   *store.Store
	Gateway *gateway.Gateway
	Life    *lifecycle.Lifecycle
	// Files are the files that rows name.
	Files *sentfiles.Files
	Chats Chats
	// HoldAmbiguous asks whether a message that may have arrived is never repeated.
	HoldAmbiguous func() bool
	// Settled stores, with the row, what else follows from the end of an attempt. What
	// it returns runs once that is stored.
	Settled func(tx *store.Tx, row store.Out) (after func(), err error)
	// Attempted counts an attempt, by what became of the row.
	Attempted func(row store.Out)
	// Say returns one of the bot's own sentences.
	Say func(p locale.Phrase, args ...any) string
	// Owner reports whether an owner reads a chat. Default: no.
	Owner func(gateway.ChatID) bool
	// Speak makes a voice message of a text in Markdown.
	Speak func(ctx context.Context, text, language string) (ogg []byte, length time.Duration, err error)
	Log   *slog.Logger
}

// Outbox takes rows from the database to the gateway: one courier per address,
// in order, so that a row that fails holds back only the ones after it at its
// address. A placeholder asks for its turn there with Alone.
type Outbox struct {
	config Config

	mu       sync.Mutex
	ctx      context.Context              // guarded by mu; nil until Run
	couriers map[gateway.Address]*courier // guarded by mu
	moves    map[gateway.ChatID]int64     // guarded by mu; chats that moved since the start
	closed   bool                         // guarded by mu
	work     sync.WaitGroup
}

// New returns an Outbox that delivers nothing yet.
func New(c Config) *Outbox {
	return &Outbox{config: c, couriers: map[gateway.Address]*courier{}, moves: map[gateway.ChatID]int64{}}
}

// Run starts the delivery of everything that waits. Couriers end with ctx.
func (d *Outbox) Run(ctx context.Context) error {
	d.mu.Lock()
	d.ctx = ctx
	d.mu.Unlock()
	return d.Rescan(ctx)
}

// Rescan looks for rows that were not announced: those of the last run and those
// that a command wrote beside the bot.
func (d *Outbox) Rescan(ctx context.Context) error {
	var pending []store.Out
	err := d.config.Store.Read(ctx, func(tx *store.Tx) (err error) {
		pending, err = tx.Outbox().PendingOut(nil, -1)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	for _, o := range pending {
		d.Notify(o.Address)
	}
	return nil
}

// Post adds a text of the bot itself, outside any answer.
func (d *Outbox) Post(ctx context.Context, to gateway.Address, key, text string) {
	outs := Rows(to, d.config.Gateway.Render(to.Chat.Channel, text), key, 0)
	if err := d.config.Store.Write(ctx, func(tx *store.Tx) error { return Add(tx, outs) }); err != nil {
		d.config.Log.Error("message not stored", "chat", to.String(), "err", err)
	}
}

// Close lets no new courier start; those at work continue.
func (d *Outbox) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// Wait waits for the couriers to leave.
func (d *Outbox) Wait() { d.work.Wait() }

// Notify says that an address has something to deliver.
func (d *Outbox) Notify(a gateway.Address) { d.Added(store.Out{Address: a}) }

// Added says that a row was added. One with an id is the first that waits at its address.
func (d *Outbox) Added(o store.Out) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.home(o.Address)
	if c := d.couriers[a]; c != nil {
		c.again = true
	} else if d.ctx != nil && !d.closed {
		d.startAt(a, o)
	}
}

// startAt starts the courier of an address with a row. d.mu is held.
func (d *Outbox) startAt(a gateway.Address, next store.Out) {
	// Others may have come before it where chats have moved. An edit is not marked before
	// it leaves, so the courier looks whether it still waits.
	if len(d.moves) > 0 || next.Edit != 0 {
		next = store.Out{}
	}
	c := &courier{again: true, next: next, gone: make(chan struct{})}
	d.couriers[a] = c
	ctx := d.ctx
	d.work.Go(func() { d.serve(ctx, a, c) })
}

// Now is an address as it is today.
func (d *Outbox) Now(a gateway.Address) gateway.Address {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.home(a)
}

// Alone waits until everything has left that waits at an address, and keeps what
// comes behind it back until release. It returns nil when ctx ends first, or when
// nothing is delivered any more.
func (d *Outbox) Alone(ctx context.Context, a gateway.Address) (release func()) {
	for ctx.Err() == nil {
		a = d.Now(a)
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

// leave gives an address back that Alone has taken. It reports whether a courier
// delivers there now, which it does when something has been announced, or is known
// to wait.
func (d *Outbox) leave(a gateway.Address, c *courier, waits bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.couriers, a)
	close(c.gone)
	if !waits && !c.again || d.ctx == nil || d.closed {
		return false
	}
	d.startAt(a, store.Out{})
	return true
}

// home is the address to which a chat has moved, if it has. d.mu is held.
func (d *Outbox) home(a gateway.Address) gateway.Address {
	if to := d.moves[a.Chat]; to != 0 {
		a.Chat.ID = to
	}
	return a
}

// Moved says that a chat has a new id, under which its rows wait from now on. The
// newest word counts where chats name each other.
func (d *Outbox) Moved(chat gateway.ChatID, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.moves, gateway.ChatID{Channel: chat.Channel, ID: to})
	d.moves[chat] = to
}

// follow waits for the courier of an address that has become a: what it is sending
// must not be taken for a row that still waits.
func (d *Outbox) follow(ctx context.Context, a gateway.Address) {
	for c := d.before(a); c != nil && ctx.Err() == nil; c = d.before(a) {
		select {
		case <-c.gone:
		case <-ctx.Done():
		}
	}
}

// before is the courier of an address that has become a, nil for none.
func (d *Outbox) before(a gateway.Address) *courier {
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
