package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/job"
)

// nursery notes what it is asked for.
type nursery struct{ keeper }

func (n *nursery) one(id int64) job.Subagent {
	return job.Subagent{
		ID: id, Name: "research", Message: "find\nout", InjectInto: "telegram_11", State: "done", SpawnedAt: nine, StartedAt: nine,
		EndedAt: nine.Add(time.Minute), InputTokens: 90, OutputTokens: 10, CostUSD: 0.0123, Delivered: "telegram_11", Delivery: "sent", Result: "42",
	}
}

func (n *nursery) Spawn(_ context.Context, _ tools.Call, t job.Task) (job.Subagent, error) {
	one := job.Subagent{ID: 7, Name: t.Name, InjectInto: t.InjectInto, State: "waiting"}
	return one, n.note("spawn %+v", t)
}

func (n *nursery) Spawned(_ context.Context, c tools.Call) ([]job.Subagent, error) {
	if n.empty {
		return nil, nil
	}
	running := n.one(8)
	running.State, running.EndedAt = "running", time.Time{}
	return []job.Subagent{running, n.one(7)}, n.note("list for %s", c.Chat)
}

func (n *nursery) Subagent(_ context.Context, _ tools.Call, id int64) (job.Subagent, error) {
	return n.one(id), n.note("status %d", id)
}

func (n *nursery) Cancel(_ context.Context, _ tools.Call, id int64) (job.Subagent, error) {
	return n.one(id), n.note("cancel %d", id)
}

func nurse(t testing.TB, n *nursery) *tools.Executor {
	t.Helper()
	registry, err := tools.NewRegistry(job.Tools(job.Config{Schedules: n, Subagents: n, Location: tokyo})...)
	if err != nil {
		t.Fatal(err)
	}
	return tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Redact: &redact.Set{}, Log: slog.New(slog.DiscardHandler)})
}

func TestSubagentCalls(t *testing.T) {
	const status = "7  research  done, 2026-12-05 17:01:00\n  Message: find out\n  InjectInto: telegram_11\n  Tokens: 100\n  Cost: $0.0123\n  Delivered: telegram_11 (sent)\n  Result: 42"
	for _, c := range []struct{ tool, arguments, asked, want string }{
		{"subagent_spawn", `{"name":"n","message":"m","model":"small","injectInto":"telegram_11"}`, "spawn {Name:n Message:m Model:small InjectInto:telegram_11}",
			"OK: subagent 'n' started (run 7)\nResult: goes to telegram_11 by itself; do not wait for it"},
		{"subagent_spawn", `{"name":"n","message":"m"}`, "spawn {Name:n Message:m Model: InjectInto:}", "OK: subagent 'n' started (run 7)\nResult: only in the log (no injectInto)"},
		{"delegate_task", `{"name":"n","task":"m"}`, "spawn {Name:n Message:m Model: InjectInto:}", "OK: subagent 'n' started (run 7)\nResult: only in the log (no injectInto)"},
		{"subagent_manage", `{"action":"list"}`, "list for telegram_11", "8  research  running since 2026-12-05 17:00:00\n7  research  done, 2026-12-05 17:01:00"},
		{"subagent_manage", `{"action":"status","id":7}`, "status 7", status},
		{"subagent_manage", `{"action":"status","id":"7"}`, "status 7", status},
		{"subagent_manage", `{"action":"cancel","id":7}`, "cancel 7", "OK: subagent 'research' (run 7) is cancelled"},
	} {
		n := &nursery{}
		r := call(t, nurse(t, n), tools.Call{ID: "c", Name: c.tool, Arguments: json.RawMessage(c.arguments), Chat: "telegram_11"})
		if asked := strings.Join(n.asked, "|"); asked != c.asked || r.Output != c.want || !r.Success || !json.Valid(r.Data) {
			t.Errorf("%s %s\nasked %s\nsays  %s\ndata  %s", c.tool, c.arguments, asked, r.Output, r.Data)
		}
	}
	if r := call(t, nurse(t, &nursery{keeper: keeper{empty: true}}), tools.Call{Name: "subagent_manage", Arguments: json.RawMessage(`{"action":"list"}`)}); r.Output != "No subagents." {
		t.Error(r.Output)
	}
}

func TestSubagentRefusals(t *testing.T) {
	n := &nursery{}
	for _, c := range []struct {
		tool, arguments string
		origin          tools.Origin
		kind            tools.ErrorKind
		want            string
	}{
		{"subagent_spawn", `{"message":"m"}`, tools.OriginPerson, tools.Validation, "Missing required parameter: name"},
		{"subagent_manage", `{"action":"status"}`, tools.OriginPerson, tools.Validation, "Missing required parameter: id"},
		{"subagent_manage", `{"action":"cancel","id":-1}`, tools.OriginPerson, tools.Validation, "Missing required parameter: id"},
		{"subagent_manage", `{"action":"kill","id":1}`, tools.OriginPerson, tools.Validation, "action"},
		{"subagent_spawn", `{"name":"n","message":"m"}`, tools.OriginSubagent, tools.PolicyDenied, "a subagent cannot start another one"},
		{"delegate_task", `{"name":"n","message":"m"}`, tools.OriginSubagent, tools.PolicyDenied, "a subagent cannot start another one"},
	} {
		r := call(t, nurse(t, n), tools.Call{Name: c.tool, Arguments: json.RawMessage(c.arguments), Origin: c.origin})
		if r.ErrorKind != c.kind || !strings.Contains(r.Output, c.want) {
			t.Errorf("%s %s: %+v", c.tool, c.arguments, r)
		}
	}
	if len(n.asked) > 0 {
		t.Errorf("asked %q", n.asked)
	}
	for err, kind := range map[error]tools.ErrorKind{
		&tools.Refusal{Kind: tools.NotFound, Text: "subagent 7 not found"}: tools.NotFound, errors.New("the store is closed"): tools.Execution,
	} {
		for tool, arguments := range map[string]string{
			"subagent_spawn": `{"name":"n","message":"m"}`, "subagent_manage": `{"action":"cancel","id":7}`,
		} {
			r := call(t, nurse(t, &nursery{keeper: keeper{err: err}}), tools.Call{Name: tool, Arguments: json.RawMessage(arguments)})
			if r.Success || r.ErrorKind != kind || r.Output != "Error: "+err.Error() {
				t.Errorf("%s: %+v", tool, r)
			}
		}
	}
	e := nurse(t, n)
	for arguments, alone := range map[string]bool{`{"action":"list"}`: false, `{"action":"status","id":1}`: false, `{"action":"cancel","id":1}`: true} {
		if got := !e.Concurrent(tools.Call{Name: "subagent_manage", Arguments: json.RawMessage(arguments)}); got != alone {
			t.Errorf("%s runs alone: %v", arguments, got)
		}
	}
}
