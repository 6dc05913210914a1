package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// journal stores what the tool calls of a turn do.
type journal struct{ t *turn }

var _ tools.Journal = journal{}

// Started stores that a call is about to have its effect. A call that has
// none, or whose effect is part of its result, can be repeated and needs no row. The allow
// list may have changed since the model was asked, or while a person was.
func (j journal) Started(ctx context.Context, c tools.Call) error {
	if err := listed(j.t); err != nil {
		return err
	}
	if !j.t.inDoubt(c) {
		return nil
	}
	j.t.show.Need()
	err := j.t.Life.Persist(ctx, j.t.Row.Address, func(tx *store.Tx) error { return tx.Turns().StartCall(j.row(c)) })
	if err != nil {
		return fmt.Errorf("journal the start of %s: %w", c.Name, err)
	}
	lifecycle.CrashPoint("call.started")
	return j.t.Gateway.Replicated(ctx)
}

// Finished stores the result, and what it sends, in one transaction. It is
// stored even when the turn was cancelled: the effect is there.
func (j journal) Finished(ctx context.Context, c tools.Call, r tools.Result) error {
	lifecycle.CrashPoint("call.done")
	ctx = context.WithoutCancel(ctx)
	result, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("journal the result of %s: %w", c.Name, err)
	}
	outs, err := outbox.ResultRows(j.t.Gateway, c, r)
	if err != nil {
		return err
	}
	err = j.t.Life.Persist(ctx, j.t.Row.Address, func(tx *store.Tx) error {
		if !j.t.inDoubt(c) {
			if err := tx.Turns().StartCall(j.row(c)); err != nil {
				return err
			}
		}
		if err := tx.Turns().FinishCall(c.ID, result); err != nil {
			return err
		}
		return outbox.Add(tx, outs)
	})
	if err != nil {
		return fmt.Errorf("journal the result of %s: %w", c.Name, err)
	}
	lifecycle.CrashPoint("call.finished")
	return nil
}

func (j journal) row(c tools.Call) store.Call {
	return store.Call{ID: c.ID, Turn: j.t.Row.ID, Name: c.Name}
}

// keepArtifacts notes the files that a call hands over with the answer, each
// once.
func (t *turn) keepArtifacts(r tools.Result) {
	for _, a := range r.Artifacts {
		if !slices.Contains(t.artifacts, a) {
			t.artifacts = append(t.artifacts, a)
		}
	}
}

// files are the parts of the turn's artifacts. One that is gone, as after a
// backup was restored, is left out.
func (t *turn) files() []gateway.Part {
	var files []*gateway.Document
	for _, a := range t.artifacts {
		d, err := outbox.Document(a.Name, a.MIME, a.Path)
		if err != nil {
			t.Log.Warn("file not sent", "err", err)
			continue
		}
		files = append(files, d)
	}
	return outbox.Albums(files)
}

// inDoubt reports whether it would be unknown, after a crash, if a call has
// happened: it changes something that is not part of its result. The call is in
// canonical form.
func (t *turn) inDoubt(c tools.Call) bool {
	found, _, ok := t.executor.Registry().Find(c.Name)
	return ok && found.Spec().Alters(c.Arguments) && !found.Spec().Atomic
}
