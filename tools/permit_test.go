package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/tools"
)

// worded is an executor with a tool that has a word of its own, and the
// decisions that its runs saw.
func worded(t *testing.T, policy tools.Policy, own func(tools.Call, tools.Autonomy) tools.Decision) (*tools.Executor, *[]tools.Decision) {
	t.Helper()
	var ran []tools.Decision
	tool := fakeTool("act", func(_ context.Context, c tools.Call) tools.Result {
		ran = append(ran, c.Decided)
		return tools.OK("done")
	})
	tool.spec.Changes, tool.spec.Permit = true, own
	return executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return policy }}, tool), &ran
}

func TestStrictestOfToolAndPolicyWins(t *testing.T) {
	own := func(v tools.Verdict) func(tools.Call, tools.Autonomy) tools.Decision {
		return func(_ tools.Call, a tools.Autonomy) tools.Decision {
			return tools.Decision{Verdict: v, Layer: "tools.act", Reason: "at " + string(a)}
		}
	}
	asks := tools.Limits{Ask: []string{"act"}}
	for name, c := range map[string]struct {
		policy tools.Policy
		own    tools.Verdict
		want   tools.Verdict
		layer  string
		reason string
	}{
		"both allow":            {tools.Policy{Autonomy: tools.Full}, tools.Allow, tools.Allow, "tools.act", "at full"},
		"the tool asks":         {tools.Policy{}, tools.Ask, tools.Ask, "tools.act", "at "},
		"the tool denies":       {tools.Policy{Everyone: asks}, tools.Deny, tools.Deny, "tools.act", "at "},
		"the policy asks":       {tools.Policy{Everyone: asks}, tools.Allow, tools.Ask, "tools.policy", "Tool is in ask list"},
		"the policy denies":     {tools.Policy{Autonomy: tools.ReadOnly}, tools.Allow, tools.Deny, "security.autonomy", "Read-only mode: act may not change anything"},
		"a word that is none":   {tools.Policy{}, "perhaps", tools.Deny, "tools.act", "at "},
		"a word that is silent": {tools.Policy{}, "", tools.Deny, "tools.act", "at "},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := worded(t, c.policy, own(c.own))
			got := e.Check(tools.Call{Name: "act"})
			if want := (tools.Decision{Verdict: c.want, Layer: c.layer, Reason: c.reason}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestRunSeesWhatWasDecided(t *testing.T) {
	verdict := tools.Allow
	e, ran := worded(t, tools.Policy{}, func(tools.Call, tools.Autonomy) tools.Decision {
		return tools.Decision{Verdict: verdict, Layer: "tools.act", Binds: "v1"}
	})
	forged := tools.Decision{Verdict: tools.Ask, Binds: "forged"}
	if r, err := e.Execute(t.Context(), tools.Call{Name: "act", Decided: forged}, nil); err != nil || !r.Success {
		t.Fatalf("result %+v, error %v", r, err)
	}
	verdict = tools.Ask
	who := &person{answer: tools.Answer{Granted: true}, then: func() { verdict = tools.Allow }}
	if r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil); err != nil || !r.Success {
		t.Fatalf("result %+v, error %v", r, err)
	}
	if got := *ran; len(got) != 2 || got[0].Verdict != tools.Allow || got[0].Binds != "v1" || got[1].Verdict != tools.Ask {
		t.Errorf("the runs saw %+v", got)
	}
	if len(who.asked) != 1 || who.asked[0].Binds != "v1" {
		t.Errorf("asked %+v", who.asked)
	}
}

func TestApprovalCoversWhatTheCallDependsOn(t *testing.T) {
	content := "echo hello"
	e, ran := worded(t, tools.Policy{}, func(tools.Call, tools.Autonomy) tools.Decision {
		return tools.Decision{Verdict: tools.Ask, Binds: content}
	})
	who := &person{answer: tools.Answer{Granted: true}, then: func() { content = "rm -rf ." }}
	r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil)
	if err != nil || r.ErrorKind != tools.ApprovalDenied || !strings.Contains(r.Error, "has changed since the question") || len(*ran) != 0 {
		t.Errorf("result %+v, error %v, ran %d times", r, err, len(*ran))
	}
}

// TestOnlyOwnersApproveUnconfinedCalls: the word is that of now, also when the
// sandbox goes while the question stands.
func TestOnlyOwnersApproveUnconfinedCalls(t *testing.T) {
	unconfined, anyone := false, false
	var ran int
	tool := fakeTool("act", func(context.Context, tools.Call) tools.Result { ran++; return tools.OK("done") })
	tool.spec.RequiresApproval, tool.spec.Changes = true, true
	tool.spec.Unconfined = func() bool { return unconfined }
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return tools.Policy{AnyoneApproves: anyone} }}, tool)
	for _, c := range []struct{ unconfined, anyone, want bool }{{true, false, true}, {true, true, false}, {false, false, false}} {
		unconfined, anyone = c.unconfined, c.anyone
		if d := e.Check(tools.Call{Name: "act"}); d.Verdict != tools.Ask || d.OwnerOnly != c.want {
			t.Errorf("unconfined %v, anyone %v: %+v", c.unconfined, c.anyone, d)
		}
	}
	who := &person{answer: tools.Answer{Granted: true}, then: func() { unconfined = true }}
	r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil)
	if err != nil || r.ErrorKind != tools.ApprovalDenied || ran != 0 {
		t.Errorf("result %+v, error %v, ran %d times", r, err, ran)
	}
	if r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil); err != nil || !r.Success {
		t.Errorf("result %+v, error %v", r, err)
	}
}

func TestUnknownVerdictDenies(t *testing.T) {
	for _, v := range []tools.Verdict{"", "perhaps"} {
		e, ran := worded(t, tools.Policy{Autonomy: tools.Full}, func(tools.Call, tools.Autonomy) tools.Decision { return tools.Decision{Verdict: v} })
		if r := call(t, e, "act", "{}"); r.ErrorKind != tools.PolicyDenied || len(*ran) != 0 {
			t.Errorf("%q: %+v, ran %d times", v, r, len(*ran))
		}
	}
	e, ran := worded(t, tools.Policy{}, func(tools.Call, tools.Autonomy) tools.Decision { panic("boom") })
	if r := call(t, e, "act", "{}"); r.ErrorKind != tools.PolicyDenied || len(*ran) != 0 {
		t.Errorf("a word that broke: %+v, ran %d times", r, len(*ran))
	}
}

func TestDeadlineOfOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		asked, want time.Duration
	}{"its own": {45 * time.Second, 45 * time.Second}, "none": {0, 7 * time.Second}, "too long": {time.Hour, tools.MaxTimeout}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool := fakeTool("act", func(ctx context.Context, _ tools.Call) tools.Result {
					<-ctx.Done()
					return tools.Fail(tools.Timeout, "so far: 3 lines")
				})
				tool.spec.Timeout, tool.spec.TimeoutOf = 7*time.Second, func(json.RawMessage) time.Duration { return c.asked }
				begun := time.Now()
				r := call(t, executor(t, tools.ExecutorConfig{}, tool), "act", "{}")
				if took := time.Since(begun); took != c.want || r.Error != "so far: 3 lines" {
					t.Errorf("took %s, want %s: %+v", took, c.want, r)
				}
			})
		})
	}
}

// TestWatchRunsForApprovalsOnly: what takes long to check is checked when a person
// is asked and right before the call runs, and what changed in between runs not.
func TestWatchRunsForApprovalsOnly(t *testing.T) {
	looks, ran, state, tooMany := 0, 0, "a", false
	tool := fakeTool("act", func(context.Context, tools.Call) tools.Result { ran++; return tools.OK("done") })
	tool.spec.RequiresApproval, tool.spec.Changes = true, true
	tool.spec.Watch = func(tools.Call) (string, bool) { looks++; return state, tooMany }
	autonomy := tools.Full
	e := executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return tools.Policy{Autonomy: autonomy} }}, tool)
	act := func(who *person) tools.Result {
		looks, ran = 0, 0
		e.Concurrent(tools.Call{Name: "act"})
		e.Check(tools.Call{Name: "act"})
		r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := act(nil); !r.Success || looks != 0 {
		t.Errorf("unasked: %+v, looked %d times", r, looks)
	}
	autonomy = tools.Supervised
	who := &person{answer: tools.Answer{Granted: true}}
	if r := act(who); !r.Success || looks != 2 || who.asked[0].Binds != "a" {
		t.Errorf("asked: %+v, looked %d times, %+v", r, looks, who.asked)
	}
	who = &person{answer: tools.Answer{Granted: true}, then: func() { state = "b" }}
	if r := act(who); r.ErrorKind != tools.ApprovalDenied || !strings.Contains(r.Error, "has changed since the question") || ran != 0 {
		t.Errorf("changed: %+v, ran %d times", r, ran)
	}
	who, tooMany, state = &person{answer: tools.Answer{Granted: true}}, true, ""
	if r := act(who); !r.Success || who.asked[0].OnceOnly != tools.TooManyFiles {
		t.Errorf("too many: %+v, %+v", r, who.asked)
	}
}
