package engine

import (
	"context"
	"fmt"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
)

// joins has a message join the turn at work in its chat, if that can be, and reports
// whether it did. The message enters the turn's row first, so that a crash neither
// loses nor doubles it.
func (e *Engine) joins(ctx context.Context, it chatqueue.Item) bool {
	j := e.queues.Claim(it)
	return j != nil && e.storeJoin(ctx, j, it)
}

// storeJoin has a message join a turn that is claimed for it.
func (e *Engine) storeJoin(ctx context.Context, j *chatqueue.Join, it chatqueue.Item) bool {
	err := e.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.Inbox().StartUpdates(j.Turn, it.Row.ID) })
	if err != nil {
		e.log.Warn("message does not join the turn", "turn", j.Turn, "err", err)
	} else {
		lifecycle.CrashPoint("turn.joined")
	}
	e.queues.Joined(j, it, err == nil)
	return err == nil
}

// beginAgain puts a turn that was joined back to the head of its chat queue.
func (e *Engine) beginAgain(ctx context.Context, j *chatqueue.Join, row store.Turn) {
	e.queues.Settle(j)
	if e.life.Parking().Err() != nil {
		return // it resumes at the next start
	}
	err := e.store.Read(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		row, err = tx.Turns().Turn(row.ID)
		return err
	})
	if err != nil {
		e.log.Error("joined turn not read", "turn", row.ID, "err", err)
	}
	e.queues.Again(j, row)
}

// moveBelow has a turn that a message has joined answer that message, below it: a
// placeholder that stands above is taken away.
func (e *Engine) moveBelow(ctx context.Context, row store.Turn, message int64) store.Turn {
	row.ReplyTo = message
	if row.Placeholder != store.PlaceholderShown || row.PlaceholderID > message {
		return row
	}
	away := outbox.Deletion(row.Address, row.ID, row.PlaceholderID)
	away.Key = fmt.Sprintf("%s/%d", away.Key, row.PlaceholderID) // more messages may join
	err := e.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if err := tx.Turns().SetPlaceholder(row.ID, store.PlaceholderNone, 0); err != nil {
			return err
		}
		return outbox.Add(tx, []store.Out{away})
	})
	if err != nil {
		e.log.Warn("placeholder stays above a message that joined", "turn", row.ID, "err", err)
		return row
	}
	lifecycle.CrashPoint("turn.moved")
	row.Placeholder, row.PlaceholderID = store.PlaceholderNone, 0
	return row
}
