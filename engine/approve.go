package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/wait"
	"klawbot/tools"
)

// approver asks the person of a turn about a call. What is asked, and what came
// of it, is a row of the store: it survives the end of the process, and the same
// call is never asked about twice.
type approver struct{ t *turn }

var _ tools.Approver = approver{}

// approver asks in the chat of the turn. A run that has no chat asks nobody.
func (t *turn) approver() tools.Approver {
	if t.row.Address.Chat.Channel == store.JobChannel {
		return nil
	}
	return approver{t}
}

// Why a call may not run although nobody has said no, in words for the model.
const (
	// otherCall: it is not what was asked about before the bot's last start.
	otherCall = "a file that it runs has changed since the question; call it again"
	// tooLong: a person could not read all of it.
	tooLong = "it is too long to be shown whole to the person who decides; make it shorter, split it into several calls, or write the long part into a file first and use that"
	// hidden: the person would read [redacted] where a command or a path stands.
	hidden = "a part of it looks like a password or a key, would be masked for the person who decides, and could still run or name a file; put the secret into a file, or write special characters of an address as %24 and the like"
	// noOwner: only an owner may decide, and none can be asked.
	noOwner = "only an owner of this bot may approve it, and no owner can be reached; tell the person so, and do not try it in another way"
)

// Approve asks and waits, without a slot for model calls. The lane stays closed
// but for buttons and /stop.
func (a approver) Approve(ctx context.Context, q tools.Question) (tools.Answer, error) {
	t, at := a.t, a.t.address()
	asked := store.Approval{
		Turn: t.row.ID, Call: q.Call.ID, Address: at, Home: at, Sender: t.user, Tool: q.Call.Name,
		Hash: hashOf(q), Shown: tools.Show(q.Call.Arguments, t.e.redact), ExpiresAt: time.Now().Add(t.settings.ApprovalTimeout),
		Owners: q.OwnerOnly, Once: q.OnceOnly != "",
	}
	if q.OwnerOnly && !t.ownerHere() {
		return t.approveByOwner(ctx, asked, q)
	}
	row, refusal, err := t.decide(ctx, asked, q)
	return t.answered(row, refusal), err
}

// answered is the answer to a question: how it ended, or why it was not asked.
func (t *turn) answered(row store.Approval, refusal string) tools.Answer {
	if refusal != "" {
		return tools.Answer{Reason: refusal}
	}
	t.log.Info("approval", "tool", row.Tool, "call", row.Call, "state", string(row.State), "by", row.AnsweredBy)
	return tools.Answer{Granted: row.State.Granted(), Reason: whyNot(row, t.directed != nil)}
}

// decide asks and returns how that ended, or in words for the model why nobody is
// asked.
func (t *turn) decide(ctx context.Context, asked store.Approval, q tools.Question) (row store.Approval, refusal string, err error) {
	asked.Token = rand.Text()
	if tools.Obscures(q.Call.Arguments, t.e.redact) {
		return row, hidden, t.e.withdraw(ctx, asked)
	}
	parts := t.e.question(asked, q, t.origin(ctx, asked))
	if parts == nil {
		return row, tooLong, t.e.withdraw(ctx, asked)
	}
	if row, err = t.e.ask(ctx, asked, parts, t.notice(asked)); err != nil {
		return row, "", err
	}
	if row.Hash != asked.Hash || asked.Owners && !row.Owners {
		return row, otherCall, t.e.withdraw(ctx, asked)
	}
	lifecycle.CrashPoint("approval.asked")
	if row.State == store.ApprovalPending {
		defer t.show.Wait(q.Call.Name)()
		if t.job != nil { // the time of people does not count
			t.job.deadline.stop()
			defer t.job.deadline.goOn()
		}
		row, err = t.e.await(ctx, row)
	}
	return row, "", err
}

// withdraw ends the question about a call that may not run any more as it was
// asked about before the last end of the process, if there is one.
func (e *Engine) withdraw(ctx context.Context, asked store.Approval) error {
	var ended store.Approval
	err := e.life.Persist(ctx, asked.Address, func(tx *store.Tx) error {
		row, err := tx.Approvals().ApprovalOf(asked.Turn, asked.Call)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		ended, _, err = e.resolveIn(tx, row.Token, verdict{state: store.ApprovalStopped})
		return err
	})
	if err == nil && ended.ID != 0 {
		e.resolved(ended)
	}
	return err
}

// whyNot is why a call may not run, in words for the model, or for the person
// who made the call.
func whyNot(a store.Approval, person bool) string {
	switch a.State {
	case store.ApprovalDenied:
		switch {
		case person && a.Sender == a.AnsweredBy:
			return "you said no"
		case a.Owners:
			return "denied by an owner; do not try it in another way, ask what to do instead"
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
// has just given, or a pending one whose question is on its way. The chat of the call
// gets the notice when the question stands in another one.
func (e *Engine) ask(ctx context.Context, asked store.Approval, parts []gateway.Part, notice []store.Out) (row store.Approval, err error) {
	err = e.life.Persist(ctx, asked.Address, func(tx *store.Tx) error {
		if row, err = tx.Approvals().ApprovalOf(asked.Turn, asked.Call); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		row = asked
		row.State = store.ApprovalPending
		if !asked.Once {
			grant, err := tx.Approvals().UseGrant(asked, e.settings().Owners[asked.Address.Chat.Channel])
			if err == nil {
				row.State, row.Grant, row.AnsweredBy, row.AnsweredAt = store.ApprovalGranted, grant.ID, grant.AddedBy, time.Now()
			} else if !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if row.ID, err = tx.Approvals().AddApproval(row); err != nil || row.State != store.ApprovalPending {
			return err
		}
		if err := outbox.Add(tx, outbox.Rows(row.Address, parts, questionKey(row), 0)); err != nil || !row.Away() {
			return err
		}
		return outbox.Add(tx, notice)
	})
	return row, err
}

// question is the message that asks, with its buttons: nil when the call does not
// fit into one, and nobody could read all of what would run. origin says who wants
// it, "" when that is plain.
func (e *Engine) question(a store.Approval, q tools.Question, origin string) []gateway.Part {
	if clip.UTF16Len(a.Shown) > outbox.MaxUnits {
		return nil
	}
	lines := []string{e.say(locale.Approve, a.Tool)}
	if origin != "" {
		lines = append(lines, origin)
	}
	if q.Dangerous {
		lines = append(lines, e.say(locale.Dangerous))
	}
	if a.Shown != "" {
		lines = append(lines, locale.CodeBlock(a.Shown))
	}
	switch q.OnceOnly {
	case "":
	case tools.TooManyFiles:
		lines = append(lines, e.say(locale.ManyFiles))
	default:
		lines = append(lines, e.say(locale.OtherFiles))
	}
	lines = append(lines, e.say(locale.ApproveUntil, e.span(time.Until(a.ExpiresAt))))
	if a.Address.Chat.Local() {
		words := locale.ApproveWords
		if a.Once {
			words = locale.ApproveOnceWords
		}
		lines = append(lines, e.say(words))
	}
	parts := e.gateway.Render(a.Address.Chat.Channel, strings.Join(lines, "\n"))
	if len(parts) != 1 || parts[0].Document != nil {
		return nil
	}
	allow := []gateway.Button{{Text: e.say(locale.ButtonOnce), Data: choice(a.Token, choiceOnce)}}
	if !a.Once {
		allow = append(allow, gateway.Button{Text: e.say(locale.ButtonHour), Data: choice(a.Token, choiceHour)})
	}
	parts[0].Buttons = [][]gateway.Button{allow, {{Text: e.say(locale.ButtonNo), Data: choice(a.Token, choiceNo)}}}
	return parts
}

// approvalKey begins the keys of questions and of what comes of them.
const approvalKey = "approval/"

// questionKey is the key of the question's parts in the outbox.
func questionKey(a store.Approval) string { return fmt.Sprintf("%s%d", approvalKey, a.ID) }

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
		wait.Signal(w.answered)
	}
}

// at reports whether a turn of an address waits for a person, and whether that
// person is asked elsewhere.
func (q *questions) at(a gateway.Address) (waits, away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if w.approval.Home == a && w.approval.Turn != 0 {
			return true, w.approval.Away()
		}
	}
	return false, false
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
	case <-e.life.Ending():
		if a.Question { // whoever asks is about to be gone
			return e.resolve(context.WithoutCancel(ctx), a, verdict{state: store.ApprovalStopped})
		}
		return a, lifecycle.ErrParked
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if !errors.Is(cause, lifecycle.ErrParked) {
		_, err = e.resolve(context.WithoutCancel(ctx), a, verdict{state: store.ApprovalStopped})
	}
	return a, errors.Join(cause, err)
}

// approval reads an approval by its token.
func (e *Engine) approval(ctx context.Context, token string) (a store.Approval, err error) {
	err = e.store.Read(ctx, func(tx *store.Tx) error {
		a, err = tx.Approvals().Approval(token)
		return err
	})
	return a, err
}
