package engine

import (
	"context"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/lifecycle"
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
