package prompt

import (
	"context"
	"errors"
	"slices"
	"time"

	"klawbot/engine/internal/estimate"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/summary"
)

const (
	// keptShare is the share of the room for messages that stays word for word.
	keptShare = 0.4
	// laterWithin bounds the calls for one summary, nowWithin those that a person
	// waits for.
	laterWithin = 5 * time.Minute
	nowWithin   = time.Minute
)

// summable reports whether the conversation may be summed up.
func (w *Window) summable() bool {
	return w.in.Session != 0 && !w.in.Directed && w.in.Settings.CompactAt > 0
}

// CompactLater sums up, beside the chat queue, a conversation that has become too long for a
// model. Said is what the turn has added to it beside what was asked.
func (w *Window) CompactLater(modelName string, said []store.Message) {
	if !w.summable() || w.builder.summaries.Rests(w.in.Session) {
		return
	}
	limit := int(w.in.Settings.CompactAt * float64(w.room(modelName)))
	task := w.task(modelName, keptShare)
	added := 0
	for _, m := range slices.Concat(w.in.Asked, said) {
		added += w.builder.tokens.Words(m.Body)
	}
	read := w.read
	w.builder.config.Life.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, laterWithin)
		defer cancel()
		if err := w.builder.summaries.Later(ctx, task, limit, read, added); err != nil && ctx.Err() == nil && !errors.Is(err, summary.ErrBusy) {
			w.in.Log.Warn("conversation not summarized", "err", err)
		}
	})
}

// compactNow sums up a conversation that a request has no room for, and
// reports whether there is a summary that was not there before.
func (w *Window) compactNow(ctx context.Context, modelName string, share float64) bool {
	if !w.summable() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, nowWithin)
	defer cancel()
	task := w.task(modelName, share)
	task.Person = true
	done, err := w.builder.summaries.Make(ctx, task)
	if errors.Is(err, summary.ErrBusy) {
		return true // and it has ended now
	}
	if err != nil && ctx.Err() == nil {
		w.in.Log.Warn("conversation not summarized", "err", err)
	}
	return done
}

// task is what is to be summed up, with a share of the room left to messages as they
// are.
func (w *Window) task(modelName string, share float64) summary.Task {
	return summary.Task{
		Session: w.in.Session, Address: w.in.Address, Turn: w.in.Turn,
		Room: max(w.room(modelName), estimate.LeastRoom), Share: share, KeepMessages: w.in.Settings.ContextWindow,
	}
}
