package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
)

// press acts on a button, outside the lane. What comes of it is stored before the
// messenger is told, so that a lost answer loses nothing.
func (e *Engine) press(ctx context.Context, it item) {
	var p approval.Pressed
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) (err error) {
		if p, err = e.pressed(tx, it); err != nil {
			return err
		}
		if err := outbox.Add(tx, p.Outs); err != nil {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "", it.row.ID)
	}, func(err error) {
		if err != nil {
			e.log.Error("tap not stored", "chat", it.msg.Address.String(), "err", err)
			p.Say = e.say(locale.Internal)
		} else if p.Changed != nil {
			p.Changed()
		}
		e.life.Go(func(context.Context) { e.acknowledge(ctx, it.msg, p.Say) })
	})
}

// pressed has the one to whom a button belongs act on it.
func (e *Engine) pressed(tx *store.Tx, it item) (p approval.Pressed, err error) {
	if schedule.IsButton(it.msg.Press.Data) {
		say, list, err := e.schedules.Button(tx, it.msg)
		if p.Say = say; err == nil && list != nil {
			p.Outs, err = e.instead(tx, it, turn.Label(e.settings(), list.Text), list.Buttons)
		}
		return p, err
	}
	p, err = e.questions.Press(tx, it.row.Address, it.msg)
	if errors.Is(err, approval.ErrUnknown) {
		p.Say = e.say(locale.Expired)
		p.Outs, err = e.instead(tx, it, p.Say, nil)
	}
	return p, err
}

// instead gives the message below which a button is another text and other buttons.
// It is nil when the button may not change it.
func (e *Engine) instead(tx *store.Tx, it item, text string, buttons [][]gateway.Button) ([]store.Out, error) {
	if may, err := e.mayReplace(tx, it); !may {
		return nil, err
	}
	parts := e.gateway.Render(it.row.Address.Chat.Channel, text)
	outs := outbox.Replacement(it.row.Address, it.msg.Press.Message, parts, fmt.Sprintf("press/%d", it.row.ID))
	if len(outs) > 0 && len(buttons) > 0 {
		parts[0].Buttons = buttons
		outs[0].Body = outbox.Encode(parts[0])
	}
	return outs, nil
}

// mayReplace reports whether a button may change the message below which it is said to
// be. The program of a person can send any data for any message: in a group only an
// owner is believed without a look at whether the message has such a button.
func (e *Engine) mayReplace(tx *store.Tx, it item) (bool, error) {
	if !it.row.Group || e.owns(it.msg) {
		return true, nil
	}
	outs, err := tx.Outbox().OutsOf(it.row.Address, it.msg.Press.Message)
	for _, o := range outs {
		var p gateway.Part
		if err := json.Unmarshal(o.Body, &p); err != nil {
			return false, err
		}
		for _, b := range slices.Concat(p.Buttons...) {
			if b.Data == it.msg.Press.Data {
				return true, nil
			}
		}
	}
	return false, err
}

// acknowledge ends the sign of waiting on a button.
func (e *Engine) acknowledge(ctx context.Context, m gateway.Message, text string) {
	if err := e.gateway.Answer(context.WithoutCancel(ctx), m.Address, m.Press.Query, text); err != nil {
		e.log.Warn("button not answered", "chat", m.Address.String(), "err", err)
	}
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
	}, func(err error) {
		if err != nil {
			e.log.Error("answer not stored", "chat", it.msg.Address.String(), "err", err)
			return
		}
		answer.Stored()
		if !taken {
			e.enqueue(ctx, it)
		}
	})
	return true
}
