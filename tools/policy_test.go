package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/rule"
)

// specs of tools that policies are tried on.
var (
	reads  = tools.Spec{Name: "file_read", Group: tools.GroupFiles, Aliases: []tools.Alias{{Name: "read_file"}}}
	writes = tools.Spec{Name: "file_write", Group: tools.GroupFiles, Changes: true}
	shell  = tools.Spec{Name: "shell", Group: tools.GroupRuntime, Changes: true, RequiresApproval: true, Dangerous: true}
	config = tools.Spec{Name: "config", Group: tools.GroupSystem, Changes: true, RequiresApproval: true,
		ChangesWhen: func(a json.RawMessage) bool { return !strings.Contains(string(a), `"get"`) }}
	careful = tools.Spec{Name: "peek", Group: tools.GroupNet, RequiresApproval: true}
)

func TestPolicyDecisions(t *testing.T) {
	only := func(l tools.Limits) tools.Policy { return tools.Policy{Everyone: l} }
	at := func(a tools.Autonomy) tools.Policy { return tools.Policy{Autonomy: a} }
	chat := func(l tools.Limits) tools.Policy {
		return tools.Policy{Everyone: tools.Limits{Deny: []string{"shell"}}, Chats: map[string]tools.Limits{"telegram_5": l}}
	}
	for name, c := range map[string]struct {
		policy tools.Policy
		spec   tools.Spec
		call   tools.Call
		want   tools.Verdict
		layer  string
		reason string
	}{
		"no policy allows":                       {tools.Policy{}, writes, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"a denied tool":                          {only(tools.Limits{Deny: []string{"file_write"}}), writes, tools.Call{}, tools.Deny, "tools.policy", "Tool is in deny list"},
		"a tool denied by an alias":              {only(tools.Limits{Deny: []string{"read_file"}}), reads, tools.Call{}, tools.Deny, "tools.policy", "Tool is in deny list"},
		"a tool that is not allowed":             {only(tools.Limits{Allow: []string{"file_read"}}), writes, tools.Call{}, tools.Deny, "tools.policy", "Tool not in allow list"},
		"a tool that is allowed":                 {only(tools.Limits{Allow: []string{"file_write"}}), writes, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"a tool of an allowed group":             {only(tools.Limits{AllowGroups: []tools.Group{"fs"}}), writes, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"a tool of another group":                {only(tools.Limits{AllowGroups: []tools.Group{"fs"}}), config, tools.Call{}, tools.Deny, "tools.policy", "Tool not in allow list"},
		"allow lists add up":                     {only(tools.Limits{Allow: []string{"config"}, AllowGroups: []tools.Group{"fs"}}), reads, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"a denied group":                         {only(tools.Limits{DenyGroups: []tools.Group{"fs"}}), reads, tools.Call{}, tools.Deny, "tools.policy", `Tool group "fs" is denied`},
		"deny beats allow":                       {only(tools.Limits{Allow: []string{"shell"}, Deny: []string{"shell"}}), shell, tools.Call{}, tools.Deny, "tools.policy", "Tool is in deny list"},
		"a denied group beats an allowed tool":   {only(tools.Limits{Allow: []string{"shell"}, DenyGroups: []tools.Group{"runtime"}}), shell, tools.Call{}, tools.Deny, "tools.policy", `Tool group "runtime" is denied`},
		"a chat cannot widen":                    {chat(tools.Limits{Allow: []string{"shell"}}), shell, tools.Call{Chat: "telegram_5"}, tools.Deny, "tools.policy", "Tool is in deny list"},
		"a chat narrows":                         {chat(tools.Limits{DenyGroups: []tools.Group{"fs"}}), writes, tools.Call{Chat: "telegram_5"}, tools.Deny, "tools.policy.chats.telegram_5", `Tool group "fs" is denied`},
		"another chat is not concerned":          {chat(tools.Limits{DenyGroups: []tools.Group{"fs"}}), writes, tools.Call{Chat: "telegram_6"}, tools.Allow, "default", "no rule is against it"},
		"a chat is asked":                        {chat(tools.Limits{Ask: []string{"file_read"}}), reads, tools.Call{Chat: "telegram_5"}, tools.Ask, "tools.policy.chats.telegram_5", "Tool is in ask list"},
		"a scheduled run is narrowed":            {tools.Policy{Scheduled: tools.Limits{Deny: []string{"file_write"}}}, writes, tools.Call{Origin: tools.OriginSchedule}, tools.Deny, "tools.policy.scheduled", "Tool is in deny list"},
		"a person is no scheduled run":           {tools.Policy{Scheduled: tools.Limits{Deny: []string{"file_write"}}}, writes, tools.Call{Origin: tools.OriginPerson}, tools.Allow, "default", "no rule is against it"},
		"readonly refuses a change":              {at(tools.ReadOnly), writes, tools.Call{}, tools.Deny, "security.autonomy", "Read-only mode: file_write may not change anything"},
		"readonly reads":                         {at(tools.ReadOnly), reads, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"readonly refuses a call that changes":   {at(tools.ReadOnly), config, tools.Call{Arguments: json.RawMessage(`{"action":"set"}`)}, tools.Deny, "security.autonomy", "Read-only mode: config may not change anything"},
		"readonly runs the call that does not":   {at(tools.ReadOnly), config, tools.Call{Arguments: json.RawMessage(`{"action":"get"}`)}, tools.Allow, "default", "no rule is against it"},
		"supervised asks":                        {at(tools.Supervised), shell, tools.Call{}, tools.Ask, "security.autonomy", "Tool requires approval"},
		"supervised is the default":              {at(""), shell, tools.Call{}, tools.Ask, "security.autonomy", "Tool requires approval"},
		"supervised asks for the call that does": {at(tools.Supervised), config, tools.Call{Arguments: json.RawMessage(`{"action":"set"}`)}, tools.Ask, "security.autonomy", "Tool requires approval"},
		"supervised runs the call that does not": {at(tools.Supervised), config, tools.Call{Arguments: json.RawMessage(`{"action":"get"}`)}, tools.Allow, "default", "no rule is against it"},
		"a tool without changes may ask":         {at(tools.Supervised), careful, tools.Call{}, tools.Ask, "security.autonomy", "Tool requires approval"},
		"supervised does not ask for files":      {at(tools.Supervised), writes, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"full does not ask":                      {at(tools.Full), shell, tools.Call{}, tools.Allow, "default", "no rule is against it"},
		"full asks when the policy names it":     {tools.Policy{Autonomy: tools.Full, Everyone: tools.Limits{Ask: []string{"shell"}}}, shell, tools.Call{}, tools.Ask, "tools.policy", "Tool is in ask list"},
		"denied is not asked":                    {only(tools.Limits{Deny: []string{"shell"}, Ask: []string{"shell"}}), shell, tools.Call{}, tools.Deny, "tools.policy", "Tool is in deny list"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.policy.For(c.call.Chat, c.call.Origin).Decide(c.spec, c.call.Arguments)
			if want := (tools.Decision{Verdict: c.want, Layer: c.layer, Reason: c.reason}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestChangesWhenThatBreaksCountsAsAChange(t *testing.T) {
	s := tools.Spec{Name: "x", Changes: true, ChangesWhen: func(json.RawMessage) bool { panic("boom") }}
	if !s.Alters(json.RawMessage(`{}`)) {
		t.Error("a call of which nobody knows what it does counts as harmless")
	}
}

// pick is a random subset.
func pick[T any](r *rand.Rand, all ...T) []T {
	var some []T
	for _, x := range all {
		if r.IntN(3) == 0 {
			some = append(some, x)
		}
	}
	return some
}

func randomLimits(r *rand.Rand) tools.Limits {
	names := []string{"file_read", "read_file", "file_write", "shell", "config", "peek"}
	groups := []tools.Group{"fs", "runtime", "system", "net"}
	return tools.Limits{Allow: pick(r, names...), Deny: pick(r, names...), AllowGroups: pick(r, groups...), DenyGroups: pick(r, groups...), Ask: pick(r, names...)}
}

func randomPolicy(t *testing.T, r *rand.Rand) tools.Policy {
	t.Helper()
	p := tools.Policy{
		Autonomy: []tools.Autonomy{"", tools.ReadOnly, tools.Supervised, tools.Full}[r.IntN(4)],
		Everyone: randomLimits(r), Scheduled: randomLimits(r), Chats: map[string]tools.Limits{"telegram_5": randomLimits(r)},
	}
	if r.IntN(2) == 0 {
		one, err := rule.New("r", pick(r, "shell", "file_read"), nil, []string{"rm", ".env"})
		if err != nil {
			t.Fatal(err)
		}
		p.Rules = []rule.Rule{one}
	}
	return p
}

var order3 = map[tools.Verdict]int{tools.Allow: 0, tools.Ask: 1, tools.Deny: 2}

// TestChildScopeIsNeverWider tries random policies: what a run may do together with
// the one that caused it is at most what either may.
func TestChildScopeIsNeverWider(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	arguments := []string{`{}`, `{"action":"get"}`, `{"command":"rm x"}`, `{"path":"a/.env"}`}
	chats, origins := []string{"", "telegram_5"}, []tools.Origin{tools.OriginPerson, tools.OriginSchedule, tools.OriginSubagent}
	for range 3000 {
		parent := randomPolicy(t, r).For(chats[r.IntN(2)], origins[r.IntN(3)])
		own := randomPolicy(t, r).For(chats[r.IntN(2)], origins[r.IntN(3)])
		child := own.And(parent)
		for _, spec := range []tools.Spec{reads, writes, shell, config, careful} {
			for _, a := range arguments {
				got := order3[child.Decide(spec, json.RawMessage(a)).Verdict]
				want := max(order3[own.Decide(spec, json.RawMessage(a)).Verdict], order3[parent.Decide(spec, json.RawMessage(a)).Verdict])
				if got != want {
					t.Fatalf("%s %s: the child has %d, its strictest side %d", spec.Name, a, got, want)
				}
			}
			if child.Shows(spec) != (own.Shows(spec) && parent.Shows(spec)) {
				t.Fatalf("%s is shown to the child alone, or hidden from it alone", spec.Name)
			}
		}
	}
}

func TestLayersOnlyNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		p := randomPolicy(t, r)
		for _, spec := range []tools.Spec{reads, writes, shell, config, careful} {
			everyone := order3[p.For("", tools.OriginPerson).Decide(spec, json.RawMessage(`{}`)).Verdict]
			narrowed := order3[p.For("telegram_5", tools.OriginSchedule).Decide(spec, json.RawMessage(`{}`)).Verdict]
			if narrowed < everyone {
				t.Fatalf("%s: %d for everyone, %d in a scheduled run of the chat", spec.Name, everyone, narrowed)
			}
		}
	}
}

func TestDeniedToolsAreNotOffered(t *testing.T) {
	policy := tools.Policy{Everyone: tools.Limits{Deny: []string{"order"}}}
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return policy }}, order(), fakeTool("act", okTool))
	names := func() (all []string) {
		for _, tool := range e.Offered(tools.Call{}) {
			all = append(all, tool.Spec().Name)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"act"}) {
		t.Errorf("offered %q", got)
	}
	policy = tools.Policy{Autonomy: tools.ReadOnly}
	if got := names(); !slices.Equal(got, []string{"act"}) {
		t.Errorf("offered in readonly %q", got)
	}
	policy = tools.Policy{}
	if got := names(); !slices.Equal(got, []string{"act", "order"}) {
		t.Errorf("offered without a policy %q", got)
	}
}

func okTool(context.Context, tools.Call) tools.Result { return tools.OK("done") }

func TestPolicyRefusesInWords(t *testing.T) {
	policy := tools.Policy{Everyone: tools.Limits{Deny: []string{"act"}}}
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return policy }}, fakeTool("act", func(context.Context, tools.Call) tools.Result {
		t.Error("it ran")
		return tools.OK("")
	}))
	r := call(t, e, "act", `{}`)
	if r.ErrorKind != tools.PolicyDenied || r.Output != `Error: Tool "act" blocked by policy: Tool is in deny list` {
		t.Errorf("got %+v", r)
	}
	if d := e.Check(tools.Call{Name: "act"}); d.Verdict != tools.Deny || d.Layer != "tools.policy" || d.Reason != "Tool is in deny list" {
		t.Errorf("checked: %+v", d)
	}
}

func TestCheckOfInvalidCalls(t *testing.T) {
	picky := fakeTool("act", okTool)
	picky.spec.PreValidate = func(c tools.Call, a tools.Autonomy) *tools.Result {
		r := tools.Fail(tools.Security, fmt.Sprintf("not today (%s)", a))
		return &r
	}
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return tools.Policy{Autonomy: tools.ReadOnly} }}, order(), picky)
	for name, want := range map[string]tools.Decision{
		"ordr":  {Verdict: tools.Deny, Layer: "find", Reason: "unknown tool 'ordr'; did you mean order?"},
		"order": {Verdict: tools.Deny, Layer: "validate", Reason: "Missing required parameter: dish"},
		"act":   {Verdict: tools.Deny, Layer: "pre-check", Reason: "not today (readonly)"},
	} {
		if got := e.Check(tools.Call{Name: name}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("rm -rf /", "re:^x", `{"command":"rm -rf /"}`, "file_write", "fs")
	f.Add("secrets/keys", "a | b", `{"path":"../secrets/./keys"}`, "", "")
	f.Add("", "re:(", `[1]`, "shell", "runtime")
	f.Fuzz(func(t *testing.T, one, two, arguments, name, group string) {
		p := tools.Policy{Everyone: tools.Limits{Deny: []string{name}, AllowGroups: []tools.Group{tools.Group(group)}}}
		if one, err := rule.New("fuzz", nil, nil, []string{one, two}); err == nil {
			p.Rules = []rule.Rule{one}
		}
		for _, spec := range []tools.Spec{reads, writes, shell} {
			d := p.For("", tools.OriginPerson).Decide(spec, json.RawMessage(arguments))
			if again := p.For("", tools.OriginPerson).Decide(spec, json.RawMessage(arguments)); again != d {
				t.Fatalf("the same call got %+v and %+v", d, again)
			}
			if _, known := order3[d.Verdict]; !known || d.Reason == "" || d.Layer == "" {
				t.Fatalf("decision %+v", d)
			}
		}
	})
}
