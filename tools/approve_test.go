package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"klawbot/tools"
)

// person is an Approver who answers as told.
type person struct {
	answer tools.Answer
	err    error
	asked  []tools.ApprovalRequest
	then   func()
}

func (p *person) Approve(_ context.Context, q tools.ApprovalRequest) (tools.Answer, error) {
	p.asked = append(p.asked, q)
	if p.then != nil {
		p.then()
	}
	return p.answer, p.err
}

// asking is an executor with a tool that requires approval, and how often it ran.
func asking(t *testing.T, policy *tools.Policy) (*tools.Executor, *int) {
	t.Helper()
	ran := 0
	tool := fakeTool("act", func(context.Context, tools.Call) tools.Result { ran++; return tools.OK("done") })
	tool.spec.Changes, tool.spec.RequiresApproval, tool.spec.Dangerous = true, true, true
	return executor(t, tools.ExecutorConfig{Policy: func() tools.Policy { return *policy }}, tool), &ran
}

func TestApproval(t *testing.T) {
	fault := errors.New("the store is gone")
	for name, c := range map[string]struct {
		who  *person
		want string
		runs int
		err  error
	}{
		"granted":       {&person{answer: tools.Answer{Granted: true}}, "done", 1, nil},
		"denied":        {&person{answer: tools.Answer{Reason: "denied by the user"}}, `Error: Tool "act" was not approved: denied by the user`, 0, nil},
		"nobody to ask": {nil, `Error: Tool "act" was not approved: no one can approve it here`, 0, nil},
		"an error":      {&person{err: fault}, "", 0, fault},
	} {
		t.Run(name, func(t *testing.T) {
			e, ran := asking(t, &tools.Policy{})
			asked := tools.Call{ID: "c", Name: "act", Arguments: json.RawMessage(` `)}
			if c.who != nil {
				asked.Approver = c.who
			}
			var b book
			r, err := e.Execute(t.Context(), asked, &b)
			if !errors.Is(err, c.err) || r.Output != c.want || *ran != c.runs || len(b.lines) != 2*c.runs {
				t.Errorf("result %+v, error %v, ran %d times, journal %q", r, err, *ran, b.lines)
			}
			if err == nil && !r.Success && r.ErrorKind != tools.ApprovalDenied {
				t.Errorf("kind %s", r.ErrorKind)
			}
			if c.who != nil && (len(c.who.asked) != 1 || string(c.who.asked[0].Call.Arguments) != "{}" || !c.who.asked[0].Dangerous) {
				t.Errorf("asked %+v", c.who.asked)
			}
		})
	}
}

func TestDeniedCallAsksNoOne(t *testing.T) {
	e, ran := asking(t, &tools.Policy{Everyone: tools.Limits{Deny: []string{"act"}}})
	who := &person{answer: tools.Answer{Granted: true}}
	r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil)
	if err != nil || r.ErrorKind != tools.PolicyDenied || *ran != 0 || len(who.asked) != 0 {
		t.Errorf("result %+v, error %v, ran %d times, asked %d times", r, err, *ran, len(who.asked))
	}
}

func TestApprovalChecksPolicyAgain(t *testing.T) {
	policy := tools.Policy{}
	e, ran := asking(t, &policy)
	who := &person{answer: tools.Answer{Granted: true}, then: func() { policy.Autonomy = tools.ReadOnly }}
	r, err := e.Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil)
	if err != nil || r.ErrorKind != tools.PolicyDenied || *ran != 0 {
		t.Errorf("result %+v, error %v, ran %d times", r, err, *ran)
	}
}

func TestCallWithinAnotherRun(t *testing.T) {
	e, ran := asking(t, &tools.Policy{Autonomy: tools.Full})
	parent := tools.Policy{Everyone: tools.Limits{Deny: []string{"act"}}}.For("", tools.OriginPerson)
	r, err := e.Execute(t.Context(), tools.Call{Name: "act", Within: &parent}, nil)
	if err != nil || r.ErrorKind != tools.PolicyDenied || *ran != 0 {
		t.Errorf("result %+v, error %v, ran %d times", r, err, *ran)
	}
}

func TestPreValidateRefusesBeforeApproval(t *testing.T) {
	tool := fakeTool("act", okTool)
	tool.spec.RequiresApproval = true
	tool.spec.PreValidate = func(tools.Call, tools.Autonomy) *tools.Result {
		r := tools.Fail(tools.Security, "only http or https")
		return &r
	}
	who := &person{}
	r, err := executor(t, tools.ExecutorConfig{}, tool).Execute(t.Context(), tools.Call{Name: "act", Approver: who}, nil)
	if err != nil || r.Output != "Error: only http or https" || len(who.asked) != 0 {
		t.Errorf("result %+v, error %v, asked %d times", r, err, len(who.asked))
	}
}

func TestPreValidateThatPanicsIsAResult(t *testing.T) {
	tool := fakeTool("act", okTool)
	tool.spec.PreValidate = func(tools.Call, tools.Autonomy) *tools.Result { panic("boom") }
	if r := call(t, executor(t, tools.ExecutorConfig{}, tool), "act", "{}"); r.ErrorKind != tools.Execution {
		t.Errorf("got %+v", r)
	}
}

func TestConcurrentCalls(t *testing.T) {
	asks := fakeTool("asks", okTool)
	asks.spec.RequiresApproval = true
	changes := fakeTool("changes", okTool)
	changes.spec.Changes = true
	sometimes := fakeTool("sometimes", okTool)
	sometimes.spec.Changes, sometimes.spec.ChangesWhen = true, func(a json.RawMessage) bool { return string(a) != "{}" }
	e := executor(t, tools.ExecutorConfig{}, fakeTool("reads", okTool), asks, changes, sometimes)
	for name, want := range map[string]bool{"reads": true, "asks": false, "changes": false, "sometimes": true, "unknown": true} {
		if got := e.Concurrent(tools.Call{Name: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
