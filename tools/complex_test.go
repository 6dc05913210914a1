package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"klawbot/tools"
	"klawbot/tools/budget"
	"klawbot/tools/rule"
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

// TestNestedListsHaveABudget: what rules and the screen check grows with the
// arguments. Each list in a list used to double it.
func TestNestedListsHaveABudget(t *testing.T) {
	one, err := rule.New("r", nil, nil, []string{"rm -rf /", "re:^drop table$"})
	if err != nil {
		t.Fatal(err)
	}
	free := fakeTool("free", nil)
	free.spec.Keeps = []string{"args"}
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return tools.Policy{Rules: []rule.Rule{one}} }}, free)
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

// TestScreenOfKeptTextHasABudget: what a schedule wants to keep is screened to its end,
// or a person checks it.
func TestScreenOfKeptTextHasABudget(t *testing.T) {
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

// TestStopComesBeforeApproval: a turn that was stopped while a call was
// checked asks nobody.
func TestStopComesBeforeApproval(t *testing.T) {
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

func (w *witness) Approve(context.Context, tools.ApprovalRequest) (tools.Answer, error) {
	w.times++
	return tools.Answer{Granted: true}, nil
}

// TestRulesWithLargePatternsHaveABudget: a pattern that is small enough checks
// any command; with one that is not, the rule is refused.
func TestRulesWithLargePatternsHaveABudget(t *testing.T) {
	for _, entry := range []string{"re:(x{1000}){1000}", "re:(x{1000}|y{1000}){2}z{999}", "re:(((x{10}){10}){10}y){10}", "re:" + strings.Repeat("x{1000}", 100)} {
		soon(t, func() {
			if _, err := rule.New("r", nil, nil, []string{entry}); err == nil {
				t.Errorf("%.40s is accepted", entry)
			}
		})
	}
	one, err := rule.New("r", nil, nil, []string{"re:drop.{0,1000}table.{0,200}"})
	if err != nil {
		t.Fatal(err)
	}
	for autonomy, want := range map[tools.Autonomy]tools.Verdict{tools.Full: tools.Ask, tools.Supervised: tools.Ask, tools.ReadOnly: tools.Deny} {
		policy := tools.Policy{Autonomy: autonomy, Rules: []rule.Rule{one}}
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
