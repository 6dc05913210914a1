package tools

import (
	"encoding/json"

	"klawbot/tools/budget"
	"klawbot/tools/rule"
)

// Verdict is what a policy says about a call.
type Verdict string

// The verdicts, from the widest to the strictest.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Decision is a verdict with its reason. Its JSON form is stable.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// Layer is what decided: a key of the configuration, or a step of the
	// pipeline ("find", "validate", "pre-check").
	Layer string `json:"layer"`
	// Reason is for people and models.
	Reason string `json:"reason"`
	// Binds identifies what the call depends on besides its arguments, such as
	// the content of a script: an approval holds for that alone. Empty: nothing.
	Binds string `json:"-"`
	// OwnerOnly says that only an owner of the bot may agree to a call with the
	// verdict Ask, not the person who caused it.
	OwnerOnly bool `json:"owner_only,omitempty"`
	// OnceOnly says why an approval holds for this call alone and is never
	// remembered: UnknownFiles or TooManyFiles. Empty: it may be.
	OnceOnly string `json:"once_only,omitempty"`
	// Looks says that this call of a dangerous tool changes nothing: the approval
	// request carries no warning.
	Looks bool `json:"-"`
}

// The reasons for OnceOnly.
const (
	// UnknownFiles: the call may run files that are not known beforehand. Those in
	// the workspace are covered by Binds.
	UnknownFiles = "it may run other files"
	// TooManyFiles is the same, but there are too many files for Binds.
	TooManyFiles = "it may run other files, and there are too many to watch"
)

// strictness orders the verdicts.
func (v Verdict) strictness() int {
	switch v {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

// permit adds the tool's own decision to that of the policy. The stricter one wins, the
// tool's own when both are as strict.
func (s Spec) permit(d Decision, c Call, a Autonomy) (strictest Decision) {
	if s.Permit == nil || d.Verdict == Deny {
		return d
	}
	defer func() {
		if recover() != nil {
			strictest = Decision{Verdict: Deny, Layer: layerEveryone, Reason: s.Name + " cannot judge this call; try it another way"}
		}
	}()
	own := s.Permit(c, a)
	if own.Verdict != Allow && own.Verdict != Ask {
		own.Verdict = Deny
	}
	if own.Verdict.strictness() < d.Verdict.strictness() || own.Verdict == d.Verdict && own.Reason == "" {
		own.Verdict, own.Layer, own.Reason = d.Verdict, d.Layer, d.Reason
	}
	own.OwnerOnly = own.OwnerOnly || d.OwnerOnly
	return own
}

// Decide says whether a call may run. The arguments are validated and have
// canonical names. The strictest word of all layers wins.
func (s Scope) Decide(spec Spec, arguments json.RawMessage) Decision {
	for _, l := range s.layers {
		if reason := l.refuse(spec); reason != "" {
			return Decision{Verdict: Deny, Layer: l.name, Reason: reason}
		}
	}
	name, reason, looked := rule.Forbidding(s.rules, spec.names(), arguments)
	if reason != "" {
		return Decision{Verdict: Deny, Layer: layerRules + "." + name, Reason: reason}
	}
	alters := spec.Alters(arguments)
	if s.autonomy == ReadOnly && alters {
		return Decision{Verdict: Deny, Layer: layerAutonomy, Reason: "Read-only mode: " + spec.Name + " may not change anything"}
	}
	if !looked {
		return tooComplex(layerRules)
	}
	for _, l := range s.layers {
		if spec.in(l.Ask) {
			return Decision{Verdict: Ask, Layer: l.name, Reason: "Tool is in ask list"}
		}
	}
	if spec.RequiresApproval && (alters || !spec.Changes) && s.autonomy != Full {
		return Decision{Verdict: Ask, Layer: layerAutonomy, Reason: "Tool requires approval"}
	}
	return Decision{Verdict: Allow, Layer: "default", Reason: "no rule is against it"}
}

// tooComplex is the decision about a call that cannot be checked: it needs approval.
func tooComplex(layer string) Decision {
	reason := "The call is " + budget.ErrTooComplex.Error()
	return Decision{Verdict: Ask, Layer: layer, Reason: reason, OnceOnly: reason}
}

// Shows reports whether a model is shown the tool: not when all its calls are denied.
func (s Scope) Shows(spec Spec) bool {
	for _, l := range s.layers {
		if l.refuse(spec) != "" {
			return false
		}
	}
	return s.autonomy != ReadOnly || !spec.Changes || spec.ChangesWhen != nil
}

// policy is the step that asks the owner's policy.
func (e *Executor) policy(p *pass) *Result {
	scope := e.Scope(p.call)
	p.decision = p.spec.permit(scope.Decide(p.spec, p.call.Arguments), p.call, scope.autonomy)
	p.decision = p.spec.kept(p.decision, p.call)
	switch {
	case p.decision.Verdict != Ask:
		p.decision.OwnerOnly, p.decision.OnceOnly = false, ""
	case p.spec.Unconfined != nil && p.spec.Unconfined() && !e.rules().AnyoneApproves:
		p.decision.OwnerOnly = true
	}
	if p.decision.Verdict != Deny {
		return nil
	}
	return Refused(PolicyDenied, `Tool "`+p.spec.Name+`" blocked by policy: `+p.decision.Reason)
}

// Scope is what a call may do now.
func (e *Executor) Scope(c Call) Scope {
	s := e.rules().For(c.Chat, c.Origin)
	if c.Within != nil {
		s = s.And(*c.Within)
	}
	return s
}

// Offered are the tools that a model is shown for such calls, by name.
func (e *Executor) Offered(c Call) []Tool {
	var shown []Tool
	scope := e.Scope(c)
	for _, t := range e.Registry().sorted {
		if scope.Shows(t.Spec()) && t.Spec().missing() == "" {
			shown = append(shown, t)
		}
	}
	return shown
}
