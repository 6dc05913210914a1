package approval

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// Turn is for whose sake a person is asked.
type Turn struct {
	ID store.TurnID
	// Address is where the turn answers.
	Address gateway.Address
	// User is who caused the turn, Name what they are called, "" when that is not
	// known. Owned says that owners alone caused it; else User is none of them.
	User  int64
	Name  string
	Owned bool
	// Directed says that a person made the call, and no model.
	Directed bool
	// Job is what the turn runs, nil for a person's turn.
	Job *store.Job
	// Timeout is how long a person may think.
	Timeout time.Duration
	// Waiting says that the turn waits for a person who decides about a tool; resume
	// says that it continues.
	Waiting func(tool string) (resume func())
	Log     *slog.Logger
}

// Approver asks people for one turn.
type Approver struct {
	questions *Questions
	turn      Turn
	// asking is full while a form is open.
	asking chan struct{}
}

var _ tools.Asker = (*Approver)(nil)

// Approver returns the Approver of a turn.
func (q *Questions) Approver(t Turn) *Approver {
	return &Approver{questions: q, turn: t, asking: make(chan struct{}, 1)}
}

// address is where the turn answers today.
func (a *Approver) address() gateway.Address { return a.questions.outbox.Now(a.turn.Address) }

// home is the chat for which the turn acts: that of the person, or the one that a job
// belongs to.
func (a *Approver) home() gateway.Address {
	if j := a.turn.Job; j != nil && j.Home.Chat.Channel != "" {
		return a.questions.outbox.Now(j.Home)
	}
	return a.address()
}

// Why a call may not run although no one has denied it, in words for the model.
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

// Approve asks and waits, without a slot for model calls. The chat queue stays closed
// but for buttons and /stop.
func (a *Approver) Approve(ctx context.Context, asked tools.ApprovalRequest) (tools.Answer, error) {
	t, at := a.turn, a.address()
	row := store.Approval{
		Turn: t.ID, Call: asked.Call.ID, Address: at, Home: at, Sender: t.User, Tool: asked.Call.Name,
		Hash: hashOf(asked), Shown: tools.Show(asked.Call.Arguments, a.questions.words.Redact), ExpiresAt: time.Now().Add(t.Timeout),
		Owners: asked.OwnerOnly, Once: asked.OnceOnly != "",
	}
	if asked.OwnerOnly && !a.ownerHere() {
		return a.askOwners(ctx, row, asked)
	}
	row, refusal, err := a.ask(ctx, row, asked)
	return a.answer(row, refusal), err
}

// answer is the answer to a question: how it ended, or why it was not asked.
func (a *Approver) answer(row store.Approval, refusal string) tools.Answer {
	if refusal != "" {
		return tools.Answer{Reason: refusal}
	}
	a.turn.Log.Info("approval", "tool", row.Tool, "call", row.Call, "state", string(row.State), "by", row.AnsweredBy)
	return tools.Answer{Granted: row.State.Granted(), Reason: whyNot(row, a.turn.Directed)}
}

// ask asks and returns how that ended, or in words for the model why it does not
// ask.
func (a *Approver) ask(ctx context.Context, wanted store.Approval, asked tools.ApprovalRequest) (row store.Approval, refusal string, err error) {
	q := a.questions
	wanted.Token = rand.Text()
	if tools.Obscures(asked.Call.Arguments, q.words.Redact) {
		return row, hidden, q.withdraw(ctx, wanted)
	}
	parts := q.words.Approval(wanted, asked, a.origin(ctx, wanted))
	if parts == nil {
		return row, tooLong, q.withdraw(ctx, wanted)
	}
	if row, err = q.begin(ctx, wanted, parts, a.notice(wanted)); err != nil {
		return row, "", err
	}
	if row.Hash != wanted.Hash || wanted.Owners && !row.Owners {
		return row, otherCall, q.withdraw(ctx, wanted)
	}
	lifecycle.CrashPoint("approval.asked")
	if row.State == store.ApprovalPending {
		defer a.turn.Waiting(asked.Call.Name)()
		row, err = q.await(ctx, row)
	}
	return row, "", err
}

// withdraw ends the question about a call that may not run any more as it was
// asked about before the last end of the process, if there is one.
func (q *Questions) withdraw(ctx context.Context, wanted store.Approval) error {
	var ended store.Approval
	err := q.life.Persist(ctx, wanted.Address, func(tx *store.Tx) error {
		row, err := tx.Approvals().ApprovalOf(wanted.Turn, wanted.Call)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		ended, _, err = q.decide(tx, row.Token, decision{state: store.ApprovalStopped})
		return err
	})
	if err == nil && ended.ID != 0 {
		q.wake(ended.ID)
	}
	return err
}

// whyNot is why a call may not run, in words for the model, or for the person
// who made the call.
func whyNot(row store.Approval, person bool) string {
	switch row.State {
	case store.ApprovalDenied:
		switch {
		case person && row.Sender == row.AnsweredBy:
			return "you said no"
		case row.Owners:
			return "denied by an owner; do not try it in another way, ask what to do instead"
		}
		return "denied by the user; do not try it in another way, ask what to do instead"
	case store.ApprovalExpired:
		return "no one answered in time"
	}
	return "the turn was stopped"
}

// hashOf identifies a tool, its exact arguments, which are in canonical form,
// and what else the call depends on.
func hashOf(asked tools.ApprovalRequest) string {
	text := asked.Call.Name + "\x00" + string(asked.Call.Arguments)
	if asked.Binds != "" {
		text += "\x00" + asked.Binds
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// begin returns the approval of a call: the one that is stored, one that a grant
// has just given, or a pending one whose question is on its way. The chat of the call
// gets the notice when another one is asked.
func (q *Questions) begin(ctx context.Context, wanted store.Approval, parts []gateway.Part, notice []store.Out) (row store.Approval, err error) {
	err = q.life.Persist(ctx, wanted.Address, func(tx *store.Tx) error {
		if row, err = tx.Approvals().ApprovalOf(wanted.Turn, wanted.Call); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		row = wanted
		row.State = store.ApprovalPending
		if !wanted.Once {
			grant, err := tx.Approvals().UseGrant(wanted, q.words.Settings().Owners[wanted.Address.Chat.Channel])
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

// keyPrefix begins the keys of questions and of what comes of them.
const keyPrefix = "approval/"

// questionKey is the key of the question's rows in the outbox.
func questionKey(a store.Approval) string { return fmt.Sprintf("%s%d", keyPrefix, a.ID) }
