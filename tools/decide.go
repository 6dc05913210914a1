package tools

import "encoding/json"

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
	// Layer is who decided: a key of the configuration, or a step of the
	// pipeline ("find", "validate", "pre-check").
	Layer string `json:"layer"`
	// Reason is for people and models.
	Reason string `json:"reason"`
}

// Decide says whether a call may run. The arguments are validated and have
// canonical names. The strictest word of all layers wins.
func (s Scope) Decide(spec Spec, arguments json.RawMessage) Decision {
	for _, l := range s.layers {
		if reason := l.refuse(spec); reason != "" {
			return Decision{Deny, l.name, reason}
		}
	}
	if name, reason := forbidding(s.rules, spec, arguments); reason != "" {
		return Decision{Deny, layerRules + "." + name, reason}
	}
	alters := spec.Alters(arguments)
	if s.autonomy == ReadOnly && alters {
		return Decision{Deny, layerAutonomy, "Read-only mode: " + spec.Name + " may not change anything"}
	}
	for _, l := range s.layers {
		if spec.in(l.Ask) {
			return Decision{Ask, l.name, "Tool is in ask list"}
		}
	}
	if spec.RequiresApproval && (alters || !spec.Changes) && s.autonomy != Full {
		return Decision{Ask, layerAutonomy, "Tool requires approval"}
	}
	return Decision{Allow, layerEveryone, "Nothing forbids it"}
}

// Shows reports whether a model is shown the tool: not when every call of it
// would be denied.
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
	p.decision = scope.Decide(p.spec, p.call.Arguments)
	if p.decision.Verdict != Deny {
		return nil
	}
	r := Fail(PolicyDenied, `Tool "`+p.spec.Name+`" blocked by policy: `+p.decision.Reason)
	return &r
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
	for _, t := range e.registry.sorted {
		if scope.Shows(t.Spec()) {
			shown = append(shown, t)
		}
	}
	return shown
}
