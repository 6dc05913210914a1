package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

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
		e.stop(ctx, item{row, m})
	case gateway.KindCallback:
		e.buttons.press(ctx, item{row, m})
	case gateway.KindMember:
		e.chats.member(ctx, item{row, m})
	case gateway.KindMoved:
		e.chats.Move(ctx, m.Address.Chat, m.MovedTo, row.ID)
	default:
		e.endUpdates(ctx, store.InboxDone, forNothing, row.ID)
	}
}

func (e *Engine) dispatchText(ctx context.Context, it item) {
	it = ofAlbum(ctx, e, it)
	switch {
	case !it.msg.Addressed:
		e.endUpdates(ctx, store.InboxDone, notForBot, it.row.ID)
	case it.msg.Command == "stop":
		e.stop(ctx, it)
	case e.answers(ctx, it):
	case it.msg.Command != "" && it.msg.Group && !command.Known(it.msg.Command):
		e.endUpdates(ctx, store.InboxDone, "a command of another bot", it.row.ID)
	case it.msg.Command != "" && !command.InLane(it.msg.Command):
		e.obey(ctx, it)
	default:
		e.enqueue(ctx, it)
	}
}

// Notes of messages that were not for the bot: an edit can address it later.
const (
	notForBot  = "not addressed to the bot"
	forNothing = "asks for nothing"
)

// editWithin is how long after a message an edit may address the bot.
const editWithin = time.Hour

// dispatchEdit replaces a message that still waits, and takes one that addresses the bot
// only now. Any other edit is only noted: what was answered stays answered. Commands in
// edits are never obeyed.
func (e *Engine) dispatchEdit(ctx context.Context, it item) {
	// A message that was replaced carries its edit; when it is replayed after
	// a restart, it is the message.
	if it.row.Kind == "message" {
		it.msg.Kind = gateway.KindText
		e.dispatchText(ctx, it)
		return
	}
	id, found := e.lanes.replace(it)
	if !found && e.addressedNow(ctx, it) {
		it.msg.Kind = gateway.KindText
		e.dispatchText(ctx, it)
		return
	}
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) error {
		note := "the message was taken already"
		if !it.msg.Addressed {
			note = notForBot
		}
		if found {
			note = "replaced the message"
			if err := tx.Inbox().ReplaceUpdate(id, it.row.Raw); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return tx.Inbox().EndUpdates(store.InboxDone, note, it.row.ID)
	}, e.life.OrLog("edit not stored", it.msg.Address, nil))
}

// addressedNow reports whether an edit makes a message of a group one for the bot.
func (e *Engine) addressedNow(ctx context.Context, it item) bool {
	m := it.msg
	if !m.Group || !m.Addressed || m.Command != "" || m.Edited.Sub(m.Time) > editWithin {
		return false
	}
	taken := true
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		taken, err = tx.Inbox().Taken(it.row, notForBot, forNothing)
		return err
	})
	if err != nil {
		e.log.Error("edit not looked up", "chat", m.Address.String(), "err", err)
	}
	return !taken
}

// endUpdates ends rows of the inbox that need no turn.
func (e *Engine) endUpdates(ctx context.Context, s store.InboxState, note string, ids ...store.InboxID) {
	e.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error { return tx.Inbox().EndUpdates(s, note, ids...) },
		e.life.OrLog("inbox row not ended", gateway.Address{}, nil))
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
	}, e.life.OrLog("reply not stored", to, nil))
}

// answers takes a message for the answer to a question, and reports whether it did.
func (e *Engine) answers(ctx context.Context, it item) bool {
	answer := e.questions.Read(ctx, it.row.Address, it.msg)
	if answer == nil {
		return false
	}
	taken := false
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) (err error) {
		taken, err = answer.Store(tx, it.row.ID)
		return err
	}, e.life.OrLog("answer not stored", it.msg.Address, func() {
		answer.Stored()
		if !taken {
			e.enqueue(ctx, it)
		}
	}))
	return true
}

// obey answers a command that calls no tool.
func (e *Engine) obey(ctx context.Context, it item) {
	r := e.commands.Answer(ctx, it.command())
	change := r.Change
	r.Change = func(tx *store.Tx, r *command.Reply) error {
		if change != nil {
			if err := change(tx, r); err != nil {
				return err
			}
		}
		r.Text = turn.Label(e.settings(), r.Text)
		return nil
	}
	e.reply(ctx, it.row, r)
}

// enqueue puts a message into its chat queue. When many wait behind a running turn, or
// that turn waits for an answer, the person is told so once.
func (e *Engine) enqueue(ctx context.Context, it item) {
	if e.joins(ctx, it) {
		return
	}
	asked, away := e.questions.WaitsAt(it.row.Address)
	waiting, tell := e.lanes.add(it, asked)
	if !tell {
		return
	}
	text := e.say(locale.Queue, waiting)
	switch {
	case away:
		text = e.say(locale.OwnerFirst)
	case asked && !e.gateway.Buttons(it.row.Address.Chat):
		text = e.say(locale.AnswerFirst)
	case asked:
		text = e.say(locale.ButtonFirst)
	}
	e.outbox.Post(ctx, it.row.Address, "queue/"+rand.Text(), text)
}

// putBack returns messages to the head of their lane when their turn could not be
// stored, and waits a moment before the next try.
func (e *Engine) putBack(ctx context.Context, items []item) {
	wait.For(ctx, time.Second)
	if !e.lanes.putBack(ctx, items) {
		e.dropStopped(ctx, items)
	}
}

// answer runs the turn of messages. The allow list is checked once more, now that
// their turn has come.
func (e *Engine) answer(ctx context.Context, items []item) {
	items = slices.DeleteFunc(items, func(it item) bool {
		err := e.gateway.Allowed(it.row.Update)
		if err != nil {
			e.log.Info("message dropped", "chat", it.msg.Address.String(), "reason", err.Error())
			e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "not allowed any more", it.row.ID)
		}
		return err != nil
	})
	if len(items) > 0 && !e.chats.mayWrite(ctx, items[0].row.Address) {
		e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "the bot may not write there", rowsOf(items)...)
		return
	}
	switch {
	case len(items) == 0:
	case items[0].msg.Command != "" && e.commands.Direct(ctx, items[0].command()) == nil:
		e.obey(ctx, items[0])
	default:
		e.startTurn(ctx, items)
	}
}
