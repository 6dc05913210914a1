package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"klawbot/tools"
	"klawbot/tools/budget"
)

// soon fails the test when the check takes longer than a check may.
func soon(t *testing.T, check func()) {
	t.Helper()
	begun := time.Now()
	check()
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("the check took %s", took)
	}
}

// nested is a list in a list in a list …
func nested(depth int, inner string) string {
	return strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
}

// pairs is a list of a word and a list of a word and a list …
func pairs(depth int, inner string) string {
	return strings.Repeat(`["w",`, depth) + "[" + inner + "]" + strings.Repeat("]", depth)
}

// TestListsInListsAreNoTrap: what rules and the screen look at grows with the
// arguments. Each list in a list used to double it.
func TestListsInListsAreNoTrap(t *testing.T) {
	rule, err := tools.NewRule("r", nil, nil, []string{"rm -rf /", "re:^drop table$"})
	if err != nil {
		t.Fatal(err)
	}
	free := fakeTool("free", nil)
	free.spec.Keeps = []string{"args"}
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return tools.Policy{Rules: []tools.Rule{rule}} }}, free)
	check := func(arguments string) (d tools.Decision) {
		soon(t, func() {
			d = e.Check(tools.Call{Name: "free", Origin: tools.OriginSchedule, Arguments: json.RawMessage(arguments)})
		})
		return d
	}
	for depth, want := range map[int]tools.Verdict{1: tools.Allow, 30: tools.Allow, 300: tools.Allow, 9000: tools.Ask} {
		if d := check(`{"args":` + pairs(depth, `"ls"`) + `}`); d.Verdict != want {
			t.Errorf("depth %d: %+v", depth, d)
		}
		if d := check(`{"args":` + nested(depth, `"ls"`) + `}`); d.Verdict != tools.Allow {
			t.Errorf("depth %d, one in each: %+v", depth, d)
		}
	}
	for _, depth := range []int{1, 30, 300} {
		if d := check(`{"args":` + nested(depth, `"rm","-rf","/"`) + `}`); d.Verdict != tools.Deny {
			t.Errorf("what is forbidden, %d deep: %+v", depth, d)
		}
	}
	if d := check(`{"args":["'",["drop","table"],"rm"]}`); d.Verdict != tools.Deny {
		t.Errorf("a list in a list is a command of its own: %+v", d)
	}
	d := check(`{"args":` + pairs(5000, `"`+strings.Repeat("x ", 50_000)+`"`) + `}`)
	if d.Verdict != tools.Ask || !strings.Contains(d.Reason, budget.ErrTooComplex.Error()) || d.OnceOnly == "" {
		t.Errorf("a long text in many lists: %+v", d)
	}
}

// TestWhatIsKeptHasABudget: what a schedule wants to keep is screened to its end,
// or a person looks at it.
func TestWhatIsKeptHasABudget(t *testing.T) {
	keeps := fakeTool("keep", nil)
	keeps.spec.Keeps = []string{"text"}
	e := executor(t, tools.ExecutorConfig{}, keeps)
	for depth, want := range map[int]tools.Verdict{0: tools.Allow, 10: tools.Allow, 5000: tools.Ask} {
		arguments := `{"text":` + pairs(depth, `"`+strings.Repeat("a harmless text ", 1000)+`"`) + `}`
		soon(t, func() {
			d := e.Check(tools.Call{Name: "keep", Origin: tools.OriginSchedule, Arguments: json.RawMessage(arguments)})
			if d.Verdict != want || (d.OnceOnly != "") != (want == tools.Ask) {
				t.Errorf("depth %d: %+v", depth, d)
			}
		})
	}
}

// TestStopIsSeenBeforeAPersonIsAsked: a turn that was stopped while a call was
// checked asks nobody.
func TestStopIsSeenBeforeAPersonIsAsked(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	slow := fakeTool("slow", nil)
	slow.spec.Permit = func(tools.Call, tools.Autonomy) tools.Decision {
		stop()
		return tools.Decision{Verdict: tools.Ask, Layer: "test", Reason: "it says so"}
	}
	e := executor(t, tools.ExecutorConfig{}, slow)
	asked := &witness{}
	_, err := e.Execute(ctx, tools.Call{ID: "c1", Name: "slow", Arguments: json.RawMessage(`{}`), Approver: asked}, nil)
	if !errors.Is(err, context.Canceled) || asked.times > 0 {
		t.Errorf("asked %d times: %v", asked.times, err)
	}
}

// witness is an Approver that agrees and counts.
type witness struct{ times int }

func (w *witness) Approve(context.Context, tools.Question) (tools.Answer, error) {
	w.times++
	return tools.Answer{Granted: true}, nil
}

// TestRulesWithLargePatternsHaveABudget: a pattern that is small enough looks at
// any command; with one that is not, the rule is refused.
func TestRulesWithLargePatternsHaveABudget(t *testing.T) {
	for _, entry := range []string{"re:(x{1000}){1000}", "re:(x{1000}|y{1000}){2}z{999}", "re:(((x{10}){10}){10}y){10}", "re:" + strings.Repeat("x{1000}", 100)} {
		soon(t, func() {
			if _, err := tools.NewRule("r", nil, nil, []string{entry}); err == nil {
				t.Errorf("%.40s is accepted", entry)
			}
		})
	}
	rule, err := tools.NewRule("r", nil, nil, []string{"re:drop.{0,1000}table.{0,200}"})
	if err != nil {
		t.Fatal(err)
	}
	for autonomy, want := range map[tools.Autonomy]tools.Verdict{tools.Full: tools.Ask, tools.Supervised: tools.Ask, tools.ReadOnly: tools.Deny} {
		policy := tools.Policy{Autonomy: autonomy, Rules: []tools.Rule{rule}}
		changes := fakeTool("free", nil)
		changes.spec.Changes = true
		e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return policy }}, changes)
		check := func(text string) (d tools.Decision) {
			soon(t, func() {
				d = e.Check(tools.Call{Name: "free", Arguments: json.RawMessage(`{"command":"` + text + `"}`)})
			})
			return d
		}
		if d := check(strings.Repeat("drop ", 800)); autonomy != tools.ReadOnly && d.Verdict != tools.Allow {
			t.Errorf("%s, a command: %+v", autonomy, d)
		}
		if d := check("drop the table"); d.Verdict != tools.Deny {
			t.Errorf("%s, what is forbidden: %+v", autonomy, d)
		}
		if d := check(strings.Repeat("drop ", 400_000)); d.Verdict != want {
			t.Errorf("%s, two megabytes: %+v", autonomy, d)
		}
	}
}

// withSchema is an Executor with a tool of such a schema.
func withSchema(t *testing.T, schema string) *tools.Executor {
	t.Helper()
	tool := fakeTool("odd", nil)
	tool.spec.Texts = map[string]tools.Text{"en": {Description: "odd", Parameters: json.RawMessage(schema)}}
	var e *tools.Executor
	soon(t, func() { e = executor(t, tools.ExecutorConfig{}, tool) })
	return e
}

// TestValidationHasABudget: schemas of others and what a model sends them.
func TestValidationHasABudget(t *testing.T) {
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	words := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"w%d"`, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	properties := func(n int) string { return strings.ReplaceAll(strings.Trim(words(n), "[]"), `",`, `":1,`) + ":1" }
	branches := func(n int) string { return list(n, `{"type":"object","required":["z"]}`) }
	const tooComplex, fine = "too complex to check", ""
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"an enum":               {`{"a":{"enum":` + words(5000) + `}}`, `{"a":"w4999"}`, fine},
		"an enum, not in it":    {`{"a":{"enum":` + words(5000) + `}}`, `{"a":"x"}`, "must be one of w0, w1"},
		"an enum of each item":  {`{"a":{"items":{"enum":` + words(5000) + `}}}`, `{"a":` + list(20_000, `"w4999"`) + `}`, tooComplex},
		"what differs":          {`{"a":{"uniqueItems":true}}`, `{"a":` + words(20_000) + `}`, fine},
		"what does not":         {`{"a":{"uniqueItems":true}}`, `{"a":` + list(20_000, `"w"`) + `}`, "equal"},
		"a long list":           {`{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}}}}}`, `{"a":` + list(20_000, `{"b":1}`) + `}`, fine},
		"branches":              {`{"a":{"items":{"anyOf":` + branches(500) + `}}}`, `{"a":` + list(20_000, `{}`) + `}`, tooComplex},
		"branches of branches":  {`{"a":{"allOf":[` + strings.Repeat(`{"anyOf":[`, 40) + `{}` + strings.Repeat(`]}`, 40) + `]}}`, `{"a":1}`, fine},
		"a pattern":             {`{"a":{"type":"string","pattern":"^[a-z0-9 ]{1,200}$|^x"}}`, `{"a":"` + strings.Repeat("x", 100_000) + `"}`, fine},
		"a large pattern":       {`{"a":{"type":"string","pattern":"(a.{0,500}){2}b"}}`, `{"a":"` + strings.Repeat("a", 300_000) + `"}`, tooComplex},
		"patterns for names":    {`{"a":{"patternProperties":{"(a.{0,500}){2}b":{}}}}`, `{"a":{` + properties(20_000) + `}}`, tooComplex},
		"unknown names":         {`{}`, `{` + properties(20_000) + `}`, "unknown parameter 'w0'"},
		"numbers out of range":  {`{"a":{}}`, `{"a":` + list(100_000, `1e999`) + `}`, "out of range"},
		"numbers":               {`{"a":{"items":{"type":"integer","minimum":0}}}`, `{"a":` + list(20_000, `"1e300"`) + `}`, "must be of type integer"},
		"many faults":           {`{"a":{"items":{"type":"integer"}}}`, `{"a":` + list(20_000, `"x"`) + `}`, "parameter 'a.0' must be of type integer"},
		"arguments of no depth": {`{"a":{"items":{"items":{"items":{}}}}}`, `{"a":` + nested(9000, "1") + `}`, fine},
	} {
		t.Run(name, func(t *testing.T) {
			e := withSchema(t, `{"type":"object","additionalProperties":false,"properties":`+c.schema+`}`)
			var d tools.Decision
			soon(t, func() { d = e.Check(tools.Call{Name: "odd", Arguments: json.RawMessage(c.arguments)}) })
			if d.Verdict == tools.Allow != (c.want == fine) || c.want != fine && !strings.Contains(d.Reason, c.want) {
				t.Errorf("%s %.200s, want %q", d.Verdict, d.Reason, c.want)
			}
			if len(d.Reason) > 10_000 {
				t.Errorf("the reason has %d bytes", len(d.Reason))
			}
		})
	}
}

// TestSchemasThatAreRefused: what is short to write and endless to validate.
func TestSchemasThatAreRefused(t *testing.T) {
	var twice strings.Builder
	for i := range 40 {
		fmt.Fprintf(&twice, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	for name, schema := range map[string]string{
		"each twice":      `{"type":"object","$ref":"#/$defs/d0","$defs":{` + twice.String() + `"d40":{}}}`,
		"to itself":       `{"type":"object","properties":{"a":{"$ref":"#"}}}`,
		"in disguise":     `{"type":"object","properties":{"a":{"\u0024ref":"#"}}}`,
		"a dynamic one":   `{"type":"object","properties":{"a":{"$dynamicRef":"#"}}}`,
		"a large pattern": `{"type":"object","properties":{"a":{"pattern":"(x{1000}|y{1000}){1}z{999}"}}}`,
		"a deep one":      `{"type":"object","not":` + strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 201),
		"many patterns":   `{"type":"object","properties":{` + manyPatterns(2000) + `}}`,
	} {
		soon(t, func() {
			if err := tools.CheckSchema([]byte(schema)); err == nil {
				t.Errorf("%s is accepted", name)
			}
		})
	}
	if err := tools.CheckSchema([]byte(`{"type":"object","properties":{"$ref":{"type":"string"}}}`)); err != nil {
		t.Errorf("a parameter of that name: %v", err)
	}
}

func manyPatterns(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"p%d":{"pattern":"x{900}y{900}|%d"}`, i, i)
	}
	return strings.Join(all, ",")
}
