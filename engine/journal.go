package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// journal writes down what the tool calls of a turn do.
type journal struct{ t *turn }

var _ tools.Journal = journal{}

// Started writes down that a call is about to have its effect. A call that has
// none, or whose effect is part of its result, can be repeated and needs no row.
func (j journal) Started(ctx context.Context, c tools.Call) error {
	if !j.t.inDoubt(c) {
		return nil
	}
	j.t.show.need()
	err := j.t.e.life.Persist(ctx, j.t.row.Address, func(tx *store.Tx) error { return tx.Turns().StartCall(j.row(c)) })
	if err != nil {
		return fmt.Errorf("journal the start of %s: %w", c.Name, err)
	}
	lifecycle.CrashPoint("call.started")
	return nil
}

// Finished stores the result, and what it sends, in one transaction. It is
// written down even when the turn was cancelled meanwhile: the effect is there.
func (j journal) Finished(ctx context.Context, c tools.Call, r tools.Result) error {
	lifecycle.CrashPoint("call.done")
	ctx = context.WithoutCancel(ctx)
	result, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("journal the result of %s: %w", c.Name, err)
	}
	outs, err := outgoing(j.t.e.gateway, c, r)
	if err != nil {
		return err
	}
	err = j.t.e.life.Persist(ctx, j.t.row.Address, func(tx *store.Tx) error {
		if !j.t.inDoubt(c) {
			if err := tx.Turns().StartCall(j.row(c)); err != nil {
				return err
			}
		}
		if err := tx.Turns().FinishCall(c.ID, result); err != nil {
			return err
		}
		return addOuts(tx, outs)
	})
	if err != nil {
		return fmt.Errorf("journal the result of %s: %w", c.Name, err)
	}
	lifecycle.CrashPoint("call.finished")
	return nil
}

func (j journal) row(c tools.Call) store.Call {
	return store.Call{ID: c.ID, Turn: j.t.row.ID, Name: c.Name}
}

// outgoing renders the messages that a result carries.
func outgoing(g *gateway.Gateway, c tools.Call, r tools.Result) ([]store.Out, error) {
	var outs []store.Out
	for i, m := range r.Outgoing {
		chat, err := gateway.ParseChatID(m.Chat)
		if err != nil {
			return nil, fmt.Errorf("send for %s: %w", c.Name, err)
		}
		to := gateway.Address{Chat: chat, Thread: m.Thread}
		parts, err := partsOf(g, chat.Channel, m)
		if err != nil {
			return nil, err
		}
		outs = append(outs, outsFor(to, parts, fmt.Sprintf("call/%s/%d", c.ID, i), 0)...)
	}
	return outs, nil
}

// partsOf renders a message that a result carries, with its file.
func partsOf(g *gateway.Gateway, channel string, m tools.Outgoing) ([]gateway.Part, error) {
	written := g.Render(channel, m.Text)
	if m.File == nil {
		return written, nil
	}
	d, err := documentOf(m.File.Name, m.File.MIME, m.File.Path)
	if err != nil {
		return nil, err
	}
	return withFile(d, written), nil
}

// inDoubt reports whether nobody could tell, after a crash, if a call has
// happened: it changes something that is not part of its result. The call is in
// canonical form.
func (t *turn) inDoubt(c tools.Call) bool {
	found, _, ok := t.executor.Registry().Find(c.Name)
	return ok && found.Spec().Alters(c.Arguments) && !found.Spec().Atomic
}
