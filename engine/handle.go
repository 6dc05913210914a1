package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"klawbot/engine/internal/command"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
	"klawbot/tools"
)

// item is a message that waits for its turn.
type item struct {
	row store.Update
	msg gateway.Message
}

// errDamaged refuses updates while the database is damaged.
var errDamaged = errors.New("the database is damaged: restart the bot, it restores the newest good backup")

// Accept stores updates and returns when they are on the disk; see
// gateway.Handler. What is new is dispatched to its lane.
func (e *Engine) Accept(ctx context.Context, updates []gateway.Update) error {
	if len(updates) == 0 {
		return nil
	}
	if e.store.Condition().State == store.StateDamaged {
		// The next start goes on with a backup, which would not have them.
		e.life.Refused(ctx, updates)
		return fmt.Errorf("store %d updates: %w", len(updates), errDamaged)
	}
	e.backups.first(ctx)
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
	e.meters.updates(updates[0].Channel, len(added))
	lifecycle.CrashPoint("inbox.committed")
	e.dispatching.Lock()
	defer e.dispatching.Unlock()
	for _, row := range added {
		// What was there before the replay of its gate is left to it.
		if last, replayed := e.replayed[gate{row.Channel, row.Group}]; replayed && row.ID > last {
			row.ReceivedAt = time.Now()
			e.dispatch(ctx, row)
		}
	}
	return nil
}

// gate is what the updates of a channel pass on their way to the lanes. There
// are two: in a private chat every message is meant for the bot, in a group the
// channel must know the bot's name first.
type gate struct {
	channel string
	group   bool
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
	e.dispatching.Lock()
	defer e.dispatching.Unlock()
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
	e.replayed[g] = 0
	e.resume(turns, g)
	for _, row := range waiting {
		if row.Channel == g.channel && row.Group == g.group {
			e.dispatch(ctx, row)
			e.replayed[g] = row.ID
		}
	}
	return nil
}

// resume gives the turns that were interrupted behind a gate to their lanes.
func (e *Engine) resume(turns []store.Turn, g gate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range turns {
		if t.Address.Chat.Channel == g.channel && isGroup(t) == g.group && t.Origin == string(tools.OriginPerson) {
			l := e.lane(t.Address)
			l.resumes = append(l.resumes, t)
			l.begin(e.life.Parking()) // a /stop that has come already stops it, too
			e.startLane(l)
		}
	}
}

// isGroup reports whether a turn answers a group: the ids of groups are negative.
func isGroup(t store.Turn) bool { return t.Address.Chat.ID < 0 }

// dispatch gives an update to whom it concerns. It never fails: an update that
// cannot be handled ends as a dead row.
func (e *Engine) dispatch(ctx context.Context, row store.Update) {
	ctx = context.WithoutCancel(ctx)
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("update handling panicked", "update", row.Update.ID, "panic", p, "stack", string(debug.Stack()))
			e.endUpdates(ctx, store.InboxDead, fmt.Sprint("panic: ", p), row.ID)
			e.reply(ctx, row, command.Reply{Text: e.say(locale.Unreadable)})
		}
	}()
	u := row.Update
	m, decodeErr := e.gateway.Decode(u)
	u.MovedTo = m.MovedTo
	if err := e.gateway.Allowed(u); err != nil {
		e.log.Info("message dropped", "chat", u.Address.String(), "reason", err.Error())
		e.endUpdates(ctx, store.InboxDone, "not allowed any more", row.ID)
		return
	}
	if decodeErr != nil {
		e.log.Error("update not understood", "update", row.Update.ID, "err", decodeErr)
		e.endUpdates(ctx, store.InboxDead, decodeErr.Error(), row.ID)
		return
	}
	switch m.Kind {
	case gateway.KindText:
		e.dispatchText(ctx, item{row, m})
	case gateway.KindEdit:
		e.dispatchEdit(ctx, item{row, m})
	case gateway.KindStop:
		e.stopLane(ctx, item{row, m})
	case gateway.KindPress:
		e.press(ctx, item{row, m})
	case gateway.KindMember:
		e.dispatchMember(ctx, item{row, m})
	case gateway.KindMoved:
		e.moveChat(ctx, m.Address.Chat, m.MovedTo, row.ID)
	default:
		e.endUpdates(ctx, store.InboxDone, "asks for nothing", row.ID)
	}
}

func (e *Engine) dispatchText(ctx context.Context, it item) {
	switch {
	case !it.msg.Addressed:
		e.endUpdates(ctx, store.InboxDone, "not addressed to the bot", it.row.ID)
	case it.msg.Unheard:
		e.reply(ctx, it.row, command.Reply{Text: turn.Label(e.settings(), e.say(locale.Unheard))})
	case it.msg.Command == "stop":
		e.stopLane(ctx, it)
	case e.answers(ctx, it):
	case it.msg.Command != "" && it.msg.Group && !command.Known(it.msg.Command):
		e.endUpdates(ctx, store.InboxDone, "a command of another bot", it.row.ID)
	case it.msg.Command != "" && !command.InLane(it.msg.Command):
		e.obey(ctx, it)
	default:
		e.enqueue(ctx, it)
	}
}

// dispatchEdit replaces a message that still waits. A later edit is only
// noted: what was answered stays answered.
func (e *Engine) dispatchEdit(ctx context.Context, it item) {
	// A message that was replaced carries its edit; when it is replayed after
	// a restart, it is the message.
	if it.row.Kind == "message" {
		it.msg.Kind = gateway.KindText
		e.dispatchText(ctx, it)
		return
	}
	id, found := e.replaceWaiting(it)
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) error {
		note := "the message was answered already"
		if found {
			note = "replaced the message"
			if err := tx.Inbox().ReplaceUpdate(id, it.row.Raw); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return tx.Inbox().EndUpdates(store.InboxDone, note, it.row.ID)
	}, func(err error) {
		if err != nil {
			e.log.Error("edit not stored", "chat", it.msg.Address.String(), "err", err)
		}
	})
}

// endUpdates ends rows of the inbox that need no turn.
func (e *Engine) endUpdates(ctx context.Context, s store.InboxState, note string, ids ...store.InboxID) {
	e.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error { return tx.Inbox().EndUpdates(s, note, ids...) }, func(err error) {
		if err != nil {
			e.log.Error("inbox row not ended", "rows", len(ids), "err", err)
		}
	})
}

// reply ends an update and answers it without a model, in one transaction with
// the change that was asked for, if any.
func (e *Engine) reply(ctx context.Context, row store.Update, r command.Reply) {
	to := row.Address
	e.life.Eventually(ctx, to, func(tx *store.Tx) error {
		r := r // the change may run again
		if r.Change != nil {
			if err := r.Change(tx, &r); err != nil {
				return err
			}
		}
		parts := e.gateway.Render(to.Chat.Channel, r.Text)
		if len(parts) > 0 {
			parts[len(parts)-1].Buttons = r.Buttons
		}
		if err := tx.Chats().ReviveChat(to.Chat.Channel, to.Chat.ID, row.ReceivedAt); err != nil {
			return err
		}
		if err := tx.Inbox().EndUpdates(store.InboxDone, "", row.ID); err != nil {
			return err
		}
		return outbox.Add(tx, outbox.Rows(to, parts, fmt.Sprintf("inbox/%d", row.ID), row.Message))
	}, func(err error) {
		if err != nil {
			e.log.Error("reply not stored", "chat", to.String(), "err", err)
		}
	})
}
