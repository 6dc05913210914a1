package tools

import (
	"maps"
	"slices"

	"klawbot/tools/rule"
)

// Autonomy is what the tools may do without approval.
type Autonomy string

// The levels of autonomy.
const (
	// ReadOnly refuses every call that changes something.
	ReadOnly Autonomy = "readonly"
	// Supervised asks before calls that need approval. It is what an empty Autonomy means.
	Supervised Autonomy = "supervised"
	// Full asks only about tools that the policy says to ask about.
	Full Autonomy = "full"
)

// strictness orders the levels.
func (a Autonomy) strictness() int {
	switch a {
	case Full:
		return 0
	case ReadOnly:
		return 2
	}
	return 1
}

// Policy is what the owner allows. The zero value allows all tools; those that require
// approval need it. The same call always gets the same decision.
type Policy struct {
	Autonomy Autonomy
	// Everyone holds for all calls. Scheduled narrows it for scheduled runs, and
	// Chats for single chats, by their text form ("telegram_123").
	Everyone, Scheduled Limits
	Chats               map[string]Limits
	// Rules forbid single commands and paths.
	Rules []rule.Rule
	// AnyoneApproves lets people approve their own calls of tools that are
	// Unconfined. Without it only owners do.
	AnyoneApproves bool
}

// Names are the tools that the policy names, as they are written, each once.
func (p Policy) Names() []string {
	var all []string
	for _, l := range append(slices.Collect(maps.Values(p.Chats)), p.Everyone, p.Scheduled) {
		all = slices.Concat(all, l.Allow, l.Deny, l.Ask)
	}
	for _, r := range p.Rules {
		all = append(all, r.Tools()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Limits name tools, also by an alias, and groups of tools. With an allow list only what
// it names is allowed; a deny list beats it.
type Limits struct {
	Allow, Deny             []string
	AllowGroups, DenyGroups []Group
	// Ask requires approval for every call of a tool, at any autonomy.
	Ask []string
}

// refuse says why the limits refuse a tool, or "".
func (l Limits) refuse(s Spec) string {
	switch {
	case s.in(l.Deny):
		return "Tool is in deny list"
	case slices.Contains(l.DenyGroups, s.Group):
		return `Tool group "` + string(s.Group) + `" is denied`
	case len(l.Allow)+len(l.AllowGroups) > 0 && !s.in(l.Allow) && !slices.Contains(l.AllowGroups, s.Group):
		return "Tool not in allow list"
	}
	return ""
}

// names are the tool's name and its aliases.
func (s Spec) names() []string {
	all := make([]string, 1, 1+len(s.Aliases))
	all[0] = s.Name
	for _, a := range s.Aliases {
		all = append(all, a.Name)
	}
	return all
}

// in reports whether a list has the tool, under any of its names.
func (s Spec) in(list []string) bool {
	return len(list) > 0 && slices.ContainsFunc(s.names(), func(n string) bool { return slices.Contains(list, n) })
}

// The layers of a policy, by the key of the configuration that an owner would change.
const (
	layerEveryone  = "tools.policy"
	layerScheduled = "tools.policy.scheduled"
	layerChats     = "tools.policy.chats."
	layerRules     = "tools.rules"
	layerAutonomy  = "security.autonomy"
	layerScreen    = "injection check"
)

// Scope is the part of a Policy that holds for the calls of one run. It can only be
// narrowed.
type Scope struct {
	autonomy Autonomy
	layers   []layer
	rules    []rule.Rule
}

type layer struct {
	name string
	Limits
}

// For is the scope of calls from a chat, which may be empty, and an origin.
func (p Policy) For(chat string, origin Origin) Scope {
	s := Scope{autonomy: p.Autonomy, layers: []layer{{layerEveryone, p.Everyone}}, rules: p.Rules}
	if origin == OriginSchedule {
		s.layers = append(s.layers, layer{layerScheduled, p.Scheduled})
	}
	if l, ok := p.Chats[chat]; ok {
		s.layers = append(s.layers, layer{layerChats + chat, l})
	}
	return s
}

// And is the scope of a run that another run started: what both allow.
func (s Scope) And(parent Scope) Scope {
	if parent.autonomy.strictness() > s.autonomy.strictness() {
		s.autonomy = parent.autonomy
	}
	s.layers = slices.Concat(s.layers, parent.layers)
	s.rules = slices.Concat(s.rules, parent.rules)
	return s
}
