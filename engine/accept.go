package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
	"klawbot/gateway"
	"klawbot/tools"
)

// errDamaged refuses updates while the database is damaged.
var errDamaged = errors.New("the database is damaged: restart the bot, it restores the newest good backup")

// Accept stores updates and returns when they are on the disk; see
// gateway.Handler. What is new is dispatched to its chat queue.
func (e *Engine) Accept(ctx context.Context, updates []gateway.Update) error {
	if len(updates) == 0 {
		return nil
	}
	if e.store.Condition().State == condition.Damaged {
		// The next start restores a backup, which would not have them.
		e.life.Refused(ctx, updates)
		return fmt.Errorf("store %d updates: %w", len(updates), errDamaged)
	}
	e.backups.First(ctx)
	var added []store.Update
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		added = added[:0]
		for _, u := range updates {
			row := store.Update{Update: u, State: store.InboxNew}
			if u.Fault != "" {
				row.State, row.Note = store.InboxDead, u.Fault
			}
			id, isNew, err := tx.Inbox().AddUpdate(row)
			if err != nil {
				return err
			}
			if row.ID = id; isNew && row.State == store.InboxNew {
				added = append(added, row)
			}
		}
		return nil
	})
	if err != nil {
		if store.Unwritable(err) || store.Damaged(err) {
			e.life.Refused(ctx, updates)
		}
		return fmt.Errorf("store %d updates: %w", len(updates), err)
	}
	e.report.meters.Updates(updates[0].Channel, len(added))
	lifecycle.CrashPoint("inbox.committed")
	e.gates.mu.Lock()
	defer e.gates.mu.Unlock()
	for _, row := range added {
		// replay dispatches the older ones.
		if last, replayed := e.gates.open[gate{row.Channel, row.Group}]; replayed && row.ID > last {
			row.ReceivedAt = time.Now()
			e.dispatch(ctx, row)
		}
	}
	return nil
}

// Knocked counts chats that wrote without being allowed to, and asks the owners about
// them; see gateway.Doorkeeper.
func (e *Engine) Knocked(ctx context.Context, knocks []gateway.Knock) {
	e.buttons.strangers.Knocked(ctx, knocks)
}

// gate is what the updates of a channel pass on their way to the chat queues. There
// are two: in a private chat every message is meant for the bot, in a group the
// channel must know the bot's name first.
type gate struct {
	channel string
	group   bool
}

// gates are the gates whose stored updates were dispatched, each with the last row of
// them. mu is held while updates are handed to chat queues, so that they get there in order.
type gates struct {
	mu   sync.Mutex
	open map[gate]store.InboxID // guarded by mu
}

// replay opens a gate: it dispatches what the inbox holds behind it. Until then
// Accept only stores.
func (e *Engine) replay(ctx context.Context, g gate) error {
	if g.group {
		select {
		case <-e.gateway.Ready(g.channel):
		case <-ctx.Done():
			return nil
		}
	}
	e.gates.mu.Lock()
	defer e.gates.mu.Unlock()
	var waiting []store.Update
	var turns []store.Turn
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if turns, err = tx.Turns().RunningTurns(); err != nil {
			return err
		}
		waiting, err = tx.Inbox().NewUpdates()
		return err
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replay the inbox: %w", err)
	}
	for _, t := range turns {
		group := t.Address.Chat.ID < 0 // as the ids of groups are
		if t.Address.Chat.Channel == g.channel && group == g.group && t.Origin == string(tools.OriginPerson) {
			e.queues.Resume(t)
		}
	}
	e.gates.open[g] = 0
	for _, row := range waiting {
		if row.Channel == g.channel && row.Group == g.group {
			e.dispatch(ctx, row)
			e.gates.open[g] = row.ID
		}
	}
	return nil
}
