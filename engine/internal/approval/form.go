package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// form is what a program asks, as long as it waits for an answer. It ends with the
// process.
type form struct {
	row store.Approval
	tools.Question
	reply tools.Reply // guarded by the mu of Questions
}

// Ask asks the person of the turn on behalf of a program, in the chat of the
// turn; a page to open is an owner's matter. Runs of jobs decline: no
// person attends them. A turn asks one thing at a time.
func (a *Approver) Ask(ctx context.Context, asked tools.Question) (tools.Reply, error) {
	t, q := a.turn, a.questions
	declined := tools.Reply{Outcome: tools.Declined, Option: -1}
	if t.Job != nil {
		return declined, nil
	}
	select {
	case a.asking <- struct{}{}:
		defer func() { <-a.asking }()
	case <-ctx.Done():
		return declined, context.Cause(ctx)
	}
	here := a.address()
	at, who := here, t.User
	if asked.Page != "" {
		if at, who = a.opener(); who == 0 {
			return declined, nil
		}
		if at != here {
			q.outbox.Post(ctx, here, "question/"+asked.Call.ID, q.words.Say(locale.AskOwner, asked.From))
		}
	}
	defer t.Waiting(asked.Call.Name)()
	return q.askForm(ctx, store.Approval{
		Turn: t.ID, Call: asked.Call.ID, Address: at, Sender: who, Tool: asked.Call.Name, ExpiresAt: time.Now().Add(t.Timeout),
	}, asked)
}

// Refuse tells the chat what a program asked for in vain.
func (a *Approver) Refuse(ctx context.Context, c tools.Call, from, what string) {
	if q := a.questions; a.turn.Job == nil {
		q.outbox.Post(ctx, a.turn.Address, "refused/"+c.ID+"/"+rand.Text(), q.words.Say(locale.AskRefused, from, what))
	}
}

// opener is the owner who is asked to open a page: the person of the turn in
// their own chat, else the first that can be written to; 0 for none.
func (a *Approver) opener() (at gateway.Address, owner int64) {
	if a.turn.Owned && !inGroup(a.turn.Address) {
		return a.address(), a.turn.User
	}
	for _, at := range a.ownerChats() {
		return at, at.Chat.ID
	}
	return gateway.Address{}, 0
}

// askForm asks a person what a program wants to know and returns when that has ended.
// to says for which call, whom and where. It does not ask a second time about the same
// call.
func (q *Questions) askForm(ctx context.Context, to store.Approval, asked tools.Question) (tools.Reply, error) {
	to.Token, to.Question, to.Shown, to.Home = rand.Text(), true, q.words.Shown(asked), to.Address
	f, done := q.open(to, asked)
	defer done()
	fresh := false
	err := q.life.Persist(ctx, to.Address, func(tx *store.Tx) error {
		_, err := tx.Approvals().ApprovalOf(to.Turn, to.Call)
		if fresh = errors.Is(err, store.ErrNotFound); !fresh {
			return err
		}
		if to.ID, err = tx.Approvals().AddApproval(to); err != nil {
			return err
		}
		return outbox.Add(tx, outbox.Rows(to.Address, q.words.Form(to, asked), questionKey(to), 0))
	})
	if err != nil || !fresh {
		return tools.Reply{Outcome: tools.Cancelled, Option: -1}, err
	}
	to.State = store.ApprovalPending
	lifecycle.CrashPoint("question.asked")
	row, err := q.await(ctx, to)
	q.log.Info("question", "from", asked.From, "call", row.Call, "state", string(row.State), "by", row.AnsweredBy)
	return q.replyTo(f, row.State), err
}

// open takes a form in; the function takes it out again.
func (q *Questions) open(row store.Approval, asked tools.Question) (f *form, done func()) {
	f = &form{row: row, Question: asked}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forms = append(q.forms, f)
	return f, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.forms = slices.DeleteFunc(q.forms, func(o *form) bool { return o == f })
	}
}

// form returns the open form with a token, nil for none.
func (q *Questions) form(token string) *form {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range q.forms {
		if f.row.Token == token {
			return f
		}
	}
	return nil
}

// answer keeps what the person answered, before the turn that waits is woken.
func (q *Questions) answer(f *form, c choice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f.reply = tools.Reply{Outcome: tools.Answered, Option: c.option, Text: c.text}
}

// replyTo is how a form ended.
func (q *Questions) replyTo(f *form, s store.ApprovalState) tools.Reply {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch s {
	case store.ApprovalAnswered:
		return f.reply
	case store.ApprovalDenied:
		return tools.Reply{Outcome: tools.Declined, Option: -1}
	}
	return tools.Reply{Outcome: tools.Cancelled, Option: -1}
}

// CloseForms ends what programs asked before the last end of the process. Whether an
// answer arrived whose call had not ended is unknown; it was not kept, and the chat
// says so.
func (q *Questions) CloseForms(ctx context.Context) error {
	err := q.store.Write(ctx, func(tx *store.Tx) error {
		open, err := tx.Approvals().OpenQuestions()
		if err != nil {
			return err
		}
		for _, a := range open {
			if err := q.closeForm(tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("close the questions of before: %w", err)
	}
	return nil
}

func (q *Questions) closeForm(tx *store.Tx, a store.Approval) error {
	if a.State == store.ApprovalPending {
		_, _, err := q.decide(tx, a.Token, decision{state: store.ApprovalStopped})
		return err
	}
	if err := tx.Approvals().LoseAnswer(a.ID); err != nil {
		return err
	}
	a.State = store.ApprovalStopped
	return q.showOutcome(tx, a, decision{}, "lost")
}
