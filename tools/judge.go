package tools

import (
	"fmt"

	"klawbot/internal/clip"
	"klawbot/tools/near"
)

// pass is a call on its way through the pipeline.
type pass struct {
	call  Call // in canonical form after the step that validates
	entry entry
	tool  Tool
	spec  Spec
	// step is the step that looked last.
	step     string
	decision Decision
	// watched is as it was at the question.
	watched watched
}

// judge takes a call through the steps without an effect. Afterwards it may run, needs
// approval, or is refused.
func (e *Executor) judge(c Call) (p *pass, refusal *Result) {
	p = &pass{call: c}
	defer func() {
		if fault := recover(); fault != nil {
			r := e.broken(p.call, fault)
			refusal = &r
		}
	}()
	for _, s := range []struct {
		name string
		look func(*pass) *Result
	}{{"find", e.find}, {"validate", e.validate}, {"pre-check", e.preCheck}, {"policy", e.policy}} {
		p.step = s.name
		if r := s.look(p); r != nil {
			return p, r
		}
	}
	return p, nil
}

// Check says what would happen to a call, without doing it.
func (e *Executor) Check(c Call) Decision {
	p, refusal := e.judge(c)
	if refusal != nil && p.decision.Verdict != Deny {
		return Decision{Verdict: Deny, Layer: p.step, Reason: e.capture.clean(refusal.Error)}
	}
	return p.decision
}

// Concurrent reports whether the call may run beside others: it changes and asks nothing.
func (e *Executor) Concurrent(c Call) bool {
	p, refusal := e.judge(c)
	return refusal != nil || p.decision.Verdict == Allow && !p.spec.Alters(p.call.Arguments)
}

// find looks the tool up by its name or an alias.
func (e *Executor) find(p *pass) *Result {
	registry := e.Registry()
	found, ok := registry.byName[p.call.Name]
	if !ok {
		name := p.call.Name
		return Refused(NotFound, fmt.Sprintf("unknown tool '%s'%s", clip.Runes(name, near.MaxName), near.DidYouMean(registry.Near(name))))
	}
	if found.route != nil {
		found = registry.routed(&p.call, found)
	}
	p.entry, p.tool, p.spec = found, found.tool, found.tool.Spec()
	p.call.Name = p.spec.Name
	return nil
}

// validate brings the arguments into canonical form.
func (e *Executor) validate(p *pass) *Result {
	args, err := p.entry.arguments(p.call.Arguments)
	if err != nil {
		return Refused(Validation, err.Error())
	}
	p.call.Arguments = args
	return nil
}

// preCheck asks the tool whether it refuses the call.
func (e *Executor) preCheck(p *pass) *Result {
	if why := p.spec.missing(); why != "" {
		return Refused(Execution, why)
	}
	if p.spec.PreValidate == nil {
		return nil
	}
	return p.spec.PreValidate(p.call, e.Scope(p.call).autonomy)
}
