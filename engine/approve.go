package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// approver asks the person of a turn about a call. What is asked, and what came
// of it, is a row of the store: it survives the end of the process, and the same
// call is never asked about twice.
type approver struct{ t *turn }

var _ tools.Approver = approver{}

// approver asks in the chat of the turn. A run that has no chat asks nobody.
func (t *turn) approver() tools.Approver {
	if t.row.Address.Channel == jobChannel {
		return nil
	}
	return approver{t}
}

// otherCall is why a call may not run that is not what was asked about before
// the bot's last start.
const otherCall = "a file that it runs has changed since the question; call it again"

// Approve asks and waits, without a slot for model calls. The lane stays closed
// but for buttons and /stop.
func (a approver) Approve(ctx context.Context, q tools.Question) (tools.Answer, error) {
	t := a.t
	asked := store.Approval{
		Token: newID(), Turn: t.row.ID, Call: q.Call.ID, Address: t.row.Address, Sender: t.user, Tool: q.Call.Name,
		Hash: hashOf(q), Shown: tools.Show(q.Call.Arguments, t.e.redact), ExpiresAt: time.Now().Add(t.settings.ApprovalTimeout),
	}
	row, err := t.e.ask(ctx, asked, q.Dangerous)
	if err != nil {
		return tools.Answer{}, err
	}
	if row.Hash != asked.Hash {
		if row.State == store.ApprovalPending {
			_, err = t.e.resolve(ctx, row, verdict{state: store.ApprovalStopped})
		}
		return tools.Answer{Reason: otherCall}, err
	}
	crashPoint("approval.asked")
	if row.State == store.ApprovalPending {
		defer t.show.wait(q.Call.Name)()
		if t.job != nil { // the time of people does not count
			t.job.deadline.stop()
			defer t.job.deadline.goOn()
		}
		if row, err = t.e.await(ctx, row); err != nil {
			return tools.Answer{}, err
		}
	}
	t.log.Info("approval", "tool", row.Tool, "call", row.Call, "state", string(row.State), "by", row.AnsweredBy)
	return tools.Answer{Granted: row.State.Granted(), Reason: whyNot(row.State, t.directed != nil)}, nil
}

// whyNot is why a call may not run, in words for the model, or for the person
// who made the call.
func whyNot(s store.ApprovalState, person bool) string {
	switch s {
	case store.ApprovalDenied:
		if person {
			return "you said no"
		}
		return "denied by the user; do not try it in another way, ask what to do instead"
	case store.ApprovalExpired:
		return "nobody answered in time"
	}
	return "the turn was stopped"
}

// hashOf identifies a tool, its exact arguments, which are in canonical form,
// and what else the call depends on.
func hashOf(q tools.Question) string {
	text := q.Call.Name + "\x00" + string(q.Call.Arguments)
	if q.Binds != "" {
		text += "\x00" + q.Binds
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ask returns the approval of a call: the one that is stored, one that a grant
// has just given, or a pending one whose question is on its way.
func (e *Engine) ask(ctx context.Context, asked store.Approval, dangerous bool) (row store.Approval, err error) {
	err = e.persist(ctx, asked.Address, func(tx *store.Tx) error {
		if row, err = tx.ApprovalOf(asked.Turn, asked.Call); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		row = asked
		grant, err := tx.UseGrant(asked)
		switch {
		case err == nil:
			row.State, row.Grant, row.AnsweredBy, row.AnsweredAt = store.ApprovalGranted, grant.ID, grant.AddedBy, time.Now()
		case !errors.Is(err, store.ErrNotFound):
			return err
		default:
			row.State = store.ApprovalPending
		}
		if row.ID, err = tx.AddApproval(row); err != nil || row.State != store.ApprovalPending {
			return err
		}
		return addOuts(tx, e.question(row, dangerous))
	})
	if err == nil && row.State == store.ApprovalPending {
		e.delivery.notify(asked.Address)
	}
	return row, err
}

// question is the message that asks, with its buttons.
func (e *Engine) question(a store.Approval, dangerous bool) []store.Out {
	text := e.say(sayApprove, a.Tool) + "\n"
	if dangerous {
		text += e.say(sayDangerous) + "\n"
	}
	if a.Shown != "" {
		text += inCode(a.Shown) + "\n"
	}
	text += e.say(sayApproveUntil, e.span(time.Until(a.ExpiresAt)))
	if isLocal(a.Address) {
		text += "\n" + e.say(sayApproveWords)
	}
	to := reachable(a.Address)
	parts := e.gateway.Render(to.Chat.Channel, text)
	if len(parts) == 0 {
		return nil
	}
	parts = parts[:1] // what is shown of a call is short enough for one
	parts[0].Buttons = [][]gateway.Button{
		{{Text: e.say(sayButtonOnce), Data: choice(a.Token, choiceOnce)}, {Text: e.say(sayButtonHour), Data: choice(a.Token, choiceHour)}},
		{{Text: e.say(sayButtonNo), Data: choice(a.Token, choiceNo)}},
	}
	return outsFor(to, parts, questionKey(a), 0)
}

// approvalKey begins the keys of questions and of what comes of them.
const approvalKey = "approval/"

// questionKey is the key of the question's parts in the outbox.
func questionKey(a store.Approval) string { return fmt.Sprintf("%s%d", approvalKey, a.ID) }

// isLocal reports whether a chat is on this machine, where people answer in words.
func isLocal(a store.Address) bool { return a.Chat == 0 }

// questions are the approvals that turns wait for in this process.
type questions struct {
	mu      sync.Mutex
	waiting map[store.ApprovalID]*waiter // guarded by mu
}

// waiter is a turn that waits for a person.
type waiter struct {
	approval store.Approval
	answered chan struct{}
}

// wait registers a waiter; the function takes it away again.
func (q *questions) wait(a store.Approval) (w *waiter, done func()) {
	w = &waiter{approval: a, answered: make(chan struct{}, 1)}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[store.ApprovalID]*waiter{}
	}
	q.waiting[a.ID] = w
	return w, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.waiting, a.ID)
	}
}

// wake tells the turn that waits for an approval, if one does, that it ended.
func (q *questions) wake(id store.ApprovalID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.waiting[id]; w != nil {
		signal(w.answered)
	}
}

// at reports whether a turn of an address waits for a person.
func (q *questions) at(a store.Address) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if w.approval.Address == a && w.approval.Turn != 0 {
			return true
		}
	}
	return false
}

// deadline is until when an approval may be answered: by the clock that nobody
// sets while its turn waits, else by the time that is stored.
func (q *questions) deadline(a store.Approval) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.waiting[a.ID]; w != nil {
		return w.approval.ExpiresAt
	}
	return a.ExpiresAt
}

// await waits until a pending approval has ended, and ends it itself when nobody
// answers or the turn is stopped. A turn that is parked leaves it pending, unless
// it is a question of a program.
func (e *Engine) await(ctx context.Context, a store.Approval) (store.Approval, error) {
	w, done := e.questions.wait(a)
	defer done()
	// The answer may have come before anybody waited for it.
	row, err := e.approval(ctx, a.Token)
	if err != nil || row.State != store.ApprovalPending {
		return row, err
	}
	timer := time.NewTimer(time.Until(a.ExpiresAt))
	defer timer.Stop()
	select {
	case <-w.answered:
		return e.approval(context.WithoutCancel(ctx), a.Token)
	case <-timer.C:
		return e.resolve(ctx, a, verdict{state: store.ApprovalExpired})
	case <-e.ending():
		if a.Question { // whoever asks is about to be gone
			return e.resolve(context.WithoutCancel(ctx), a, verdict{state: store.ApprovalStopped})
		}
		return a, errParked
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if !errors.Is(cause, errParked) {
		_, err = e.resolve(context.WithoutCancel(ctx), a, verdict{state: store.ApprovalStopped})
	}
	return a, errors.Join(cause, err)
}

// ending is closed when the engine is about to stop: whoever waits for a person
// needs not hold it up.
func (e *Engine) ending() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running == nil {
		return nil
	}
	return e.running.Done()
}

// approval reads an approval by its token.
func (e *Engine) approval(ctx context.Context, token string) (a store.Approval, err error) {
	err = e.store.Read(ctx, func(tx *store.Tx) error {
		a, err = tx.Approval(token)
		return err
	})
	return a, err
}
