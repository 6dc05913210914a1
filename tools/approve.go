package tools

import (
	"context"
	"fmt"
)

// Approver asks a person whether a call may run. It is safe for several goroutines.
type Approver interface {
	// Approve returns with an answer; no answer in time counts as no. A call with the
	// same id is asked about once. The error ends the turn.
	Approve(ctx context.Context, q ApprovalRequest) (Answer, error)
}

// ApprovalRequest asks a person whether a call may run.
type ApprovalRequest struct {
	// Call is exactly what will run.
	Call Call
	// Dangerous is as in Spec, unless the Decision has Looks.
	Dangerous bool
	// Binds is as in Decision: the answer holds for that alone.
	Binds string
	// OwnerOnly and OnceOnly are as in Decision.
	OwnerOnly bool
	OnceOnly  string
}

// Answer is the decision of a person.
type Answer struct {
	Granted bool
	// Reason tells the model why not.
	Reason string
}

// Always is an Approver that approves everything (--yes).
type Always struct{}

// Approve approves.
func (Always) Approve(context.Context, ApprovalRequest) (Answer, error) {
	return Answer{Granted: true}, nil
}

// approve has a person asked about a call with the verdict Ask.
func (e *Executor) approve(ctx context.Context, p *pass) (*Result, error) {
	asked := p.decision
	if p.watched = p.spec.watch(p.call); p.watched.tooMany {
		asked.OnceOnly = TooManyFiles
	}
	answer := Answer{Reason: "no one can approve it here"}
	if p.call.Approver != nil {
		var err error
		answer, err = p.call.Approver.Approve(ctx, ApprovalRequest{
			Call: p.call, Dangerous: p.spec.Dangerous && !asked.Looks, Binds: asked.Binds + p.watched.state, OwnerOnly: asked.OwnerOnly, OnceOnly: asked.OnceOnly,
		})
		if err != nil {
			return nil, fmt.Errorf("ask about %s: %w", p.spec.Name, err)
		}
	}
	if !answer.Granted {
		return Refused(ApprovalDenied, fmt.Sprintf("Tool %q was not approved: %s", p.spec.Name, answer.Reason)), nil
	}
	// The policy, or what the call depends on, may have changed since the question.
	if r := e.policy(p); r != nil {
		return r, nil
	}
	if p.decision.OwnerOnly && !asked.OwnerOnly {
		return Refused(ApprovalDenied, fmt.Sprintf("Tool %q was not run: since the question, only an owner may approve it; call it again", p.spec.Name)), nil
	}
	if p.decision.Binds != asked.Binds {
		return p.changed(), nil
	}
	p.decision.Verdict = Ask // a person has approved it
	return nil, nil
}

// watched is what Spec.Watch says.
type watched struct {
	state   string
	tooMany bool
}

// watch checks what a call may depend on.
func (s Spec) watch(c Call) (w watched) {
	if s.Watch != nil {
		w.state, w.tooMany = s.Watch(c)
	}
	return w
}

// changed refuses a call whose files differ from those that were approved.
func (p *pass) changed() *Result {
	return Refused(ApprovalDenied, fmt.Sprintf("Tool %q was not run: a file that it runs has changed since the question; call it again", p.spec.Name))
}
