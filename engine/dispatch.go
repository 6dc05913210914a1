package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/chatqueue"
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
		e.dispatchText(ctx, chatqueue.Item{Row: row, Msg: m})
	case gateway.KindEdit:
		e.dispatchEdit(ctx, chatqueue.Item{Row: row, Msg: m})
	case gateway.KindStop:
		e.stop(ctx, chatqueue.Item{Row: row, Msg: m})
	case gateway.KindCallback:
		e.buttons.press(ctx, chatqueue.Item{Row: row, Msg: m})
	case gateway.KindMember:
		e.chats.member(ctx, chatqueue.Item{Row: row, Msg: m})
	case gateway.KindMoved:
		e.chats.Move(ctx, m.Address.Chat, m.MovedTo, row.ID)
	default:
		e.endUpdates(ctx, store.InboxDone, forNothing, row.ID)
	}
}

func (e *Engine) dispatchText(ctx context.Context, it chatqueue.Item) {
	it = ofAlbum(ctx, e, it)
	switch {
	case !it.Msg.Addressed:
		e.endUpdates(ctx, store.InboxDone, notForBot, it.Row.ID)
	case it.Msg.Command == "stop":
		e.stop(ctx, it)
	case e.answers(ctx, it):
	case it.Msg.Command != "" && it.Msg.Group && !named(it.Msg) && !command.Known(it.Msg.Command):
		e.endUpdates(ctx, store.InboxDone, "a command of another bot", it.Row.ID)
	case it.Msg.Command != "" && !command.InLane(it.Msg.Command):
		e.obey(ctx, it)
	default:
		e.enqueue(ctx, it)
	}
}

// named reports whether a command names the bot: one that names another is never dispatched.
func named(m gateway.Message) bool {
	return strings.HasPrefix(strings.ToLower(m.Text), "/"+m.Command+"@")
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
func (e *Engine) dispatchEdit(ctx context.Context, it chatqueue.Item) {
	// A message that was replaced carries its edit; when it is replayed after
	// a restart, it is the message.
	if it.Row.Kind == "message" {
		it.Msg.Kind = gateway.KindText
		e.dispatchText(ctx, it)
		return
	}
	id, found := e.queues.Replace(it)
	if !found && e.addressedNow(ctx, it) {
		it.Msg.Kind = gateway.KindText
		e.dispatchText(ctx, it)
		return
	}
	e.life.Eventually(ctx, it.Row.Address, func(tx *store.Tx) error {
		note := "the message was taken already"
		if !it.Msg.Addressed {
			note = notForBot
		}
		if found {
			note = "replaced the message"
			if err := tx.Inbox().ReplaceUpdate(id, it.Row.Raw); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return tx.Inbox().EndUpdates(store.InboxDone, note, it.Row.ID)
	}, e.life.OrLog("edit not stored", it.Msg.Address, nil))
}

// addressedNow reports whether an edit makes a message of a group one for the bot.
func (e *Engine) addressedNow(ctx context.Context, it chatqueue.Item) bool {
	m := it.Msg
	if !m.Group || !m.Addressed || m.Command != "" || m.Edited.Sub(m.Time) > editWithin {
		return false
	}
	taken := true
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		taken, err = tx.Inbox().Taken(it.Row, notForBot, forNothing)
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
func (e *Engine) answers(ctx context.Context, it chatqueue.Item) bool {
	answer := e.questions.Read(ctx, it.Row.Address, it.Msg)
	if answer == nil {
		return false
	}
	taken := false
	e.life.Eventually(ctx, it.Row.Address, func(tx *store.Tx) (err error) {
		taken, err = answer.Store(tx, it.Row.ID)
		return err
	}, e.life.OrLog("answer not stored", it.Msg.Address, func() {
		answer.Stored()
		if !taken {
			e.enqueue(ctx, it)
		}
	}))
	return true
}

// obey answers a command that calls no tool.
func (e *Engine) obey(ctx context.Context, it chatqueue.Item) {
	r := e.commands.Answer(ctx, commandOf(it))
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
	e.reply(ctx, it.Row, r)
}

// enqueue puts a message into its chat queue. When many wait behind a running turn, or
// that turn waits for an answer, the person is told so once.
func (e *Engine) enqueue(ctx context.Context, it chatqueue.Item) {
	if e.joins(ctx, it) {
		return
	}
	asked, away := e.questions.WaitsAt(it.Row.Address)
	waiting, tell := e.queues.Add(it, asked)
	if !tell {
		return
	}
	text := e.say(locale.Queue, waiting)
	switch {
	case away:
		text = e.say(locale.OwnerFirst)
	case asked && !e.gateway.Buttons(it.Row.Address.Chat):
		text = e.say(locale.AnswerFirst)
	case asked:
		text = e.say(locale.ButtonFirst)
	}
	e.outbox.Post(ctx, it.Row.Address, "queue/"+rand.Text(), text)
}

// putBack returns messages to the head of their chat queue when their turn could not be
// stored, and waits a moment before the next try.
func (e *Engine) putBack(ctx context.Context, items []chatqueue.Item) {
	wait.For(ctx, time.Second)
	if !e.queues.PutBack(ctx, items) {
		e.dropStopped(ctx, items)
	}
}

// answer runs the turn of messages. The allow list is checked once more, now that
// their turn has come.
func (e *Engine) answer(ctx context.Context, items []chatqueue.Item) {
	items = slices.DeleteFunc(items, func(it chatqueue.Item) bool {
		err := e.gateway.Allowed(it.Row.Update)
		if err != nil {
			e.log.Info("message dropped", "chat", it.Msg.Address.String(), "reason", err.Error())
			e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "not allowed any more", it.Row.ID)
		}
		return err != nil
	})
	if len(items) > 0 && !e.chats.mayWrite(ctx, items[0].Row.Address) {
		e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "the bot may not write there", chatqueue.Rows(items)...)
		return
	}
	switch {
	case len(items) == 0:
	case items[0].Msg.Command != "" && e.commands.Direct(ctx, commandOf(items[0])) == nil:
		e.obey(ctx, items[0])
	default:
		e.startTurn(ctx, items)
	}
}
