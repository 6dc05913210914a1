package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/learn"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/stranger"
	"klawbot/engine/internal/turn"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// buttons act on the buttons below messages of the bot, beside the chat queues.
type buttons struct {
	life      *lifecycle.Lifecycle
	gateway   *gateway.Gateway
	settings  func() settings.Settings
	questions *approval.Questions
	schedules *schedule.Editor
	strangers *stranger.Strangers
	ears      *learn.Ears
	log       *slog.Logger
}

// press acts on a button. What comes of it is stored before the messenger is told, so
// that a lost answer loses nothing.
func (b *buttons) press(ctx context.Context, it chatqueue.Item) {
	var p approval.Outcome
	act := b.act
	if stranger.IsButton(it.Msg.Callback.Data) {
		act = b.aboutStranger(ctx, it)
	}
	b.life.Eventually(ctx, it.Row.Address, func(tx *store.Tx) (err error) {
		if p, err = act(tx, it); err != nil {
			return err
		}
		if err := outbox.Add(tx, p.Outs); err != nil || p.Open {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "", it.Row.ID)
	}, func(err error) {
		if err != nil {
			b.log.Error("button press not stored", "chat", it.Msg.Address.String(), "err", err)
			p.Say = b.say(locale.Internal)
		} else if p.Changed != nil {
			p.Changed()
		}
		b.life.Go(func(context.Context) { // ends the sign of waiting on the button
			if err := b.gateway.Answer(context.WithoutCancel(ctx), it.Msg.Address, it.Msg.Callback.Query, p.Say); err != nil {
				b.log.Warn("button not answered", "chat", it.Msg.Address.String(), "err", err)
			}
		})
	})
}

// aboutStranger lets an owner decide about an unknown sender, and returns what stores it.
func (b *buttons) aboutStranger(ctx context.Context, it chatqueue.Item) func(*store.Tx, chatqueue.Item) (approval.Outcome, error) {
	owns := b.questions.Owns(it.Msg.Address, it.Msg.Sender.ID)
	d := b.strangers.Press(ctx, stranger.Tap{Message: it.Msg, At: it.Row.Address, Row: it.Row.ID}, owns)
	return func(tx *store.Tx, _ chatqueue.Item) (p approval.Outcome, err error) {
		if p.Say = d.Say; d.Change != nil {
			p.Outs, err = d.Change(tx)
		}
		return p, err
	}
}

// act has the package to which a button belongs act on it.
func (b *buttons) act(tx *store.Tx, it chatqueue.Item) (p approval.Outcome, err error) {
	if learn.IsButton(it.Msg.Callback.Data) {
		return b.ears.Press(it.Row, it.Msg, b.questions.Owns(it.Msg.Address, it.Msg.Sender.ID)), nil
	}
	if schedule.IsButton(it.Msg.Callback.Data) {
		say, list, err := b.schedules.Button(tx, it.Msg)
		if p.Say = say; err == nil && list != nil {
			p.Outs, err = b.replacement(tx, it, turn.Label(b.settings(), list.Text), list.Buttons)
		}
		return p, err
	}
	p, err = b.questions.Press(tx, it.Row.Address, it.Msg)
	if errors.Is(err, approval.ErrUnknown) {
		p.Say = b.say(locale.Expired)
		p.Outs, err = b.replacement(tx, it, p.Say, nil)
	}
	return p, err
}

// replacement gives the message below which a button is another text and other buttons.
// It is nil when the button may not change it.
func (b *buttons) replacement(tx *store.Tx, it chatqueue.Item, text string, rows [][]gateway.Button) ([]store.Out, error) {
	if may, err := b.mayReplace(tx, it); !may {
		return nil, err
	}
	parts := b.gateway.Render(it.Row.Address.Chat.Channel, text)
	outs := outbox.Replacement(it.Row.Address, it.Msg.Callback.Message, parts, fmt.Sprintf("press/%d", it.Row.ID))
	if len(outs) > 0 && len(rows) > 0 {
		parts[0].Buttons = rows
		outs[0].Body = outbox.Encode(parts[0])
	}
	return outs, nil
}

// mayReplace reports whether a button may change the message below which it claims to
// be. A member's client can send any data for any message: in a group, the message
// must have such a button, unless an owner uses it.
func (b *buttons) mayReplace(tx *store.Tx, it chatqueue.Item) (bool, error) {
	if !it.Row.Group || b.questions.Owns(it.Msg.Address, it.Msg.Sender.ID) {
		return true, nil
	}
	outs, err := tx.Outbox().OutsOf(it.Row.Address, it.Msg.Callback.Message)
	for _, o := range outs {
		var p gateway.Part
		if err := json.Unmarshal(o.Body, &p); err != nil {
			return false, err
		}
		for _, button := range slices.Concat(p.Buttons...) {
			if button.Data == it.Msg.Callback.Data {
				return true, nil
			}
		}
	}
	return false, err
}

func (b *buttons) say(p locale.Phrase) string { return locale.Say(b.settings().Language, p) }
