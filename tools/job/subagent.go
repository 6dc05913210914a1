package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"klawbot/tools"
)

// Subagents keeps the subagents. Its errors are for the model, as those of Schedules.
type Subagents interface {
	// Spawn starts one. It does not wait for it.
	Spawn(ctx context.Context, c tools.Call, t Task) (Subagent, error)
	// Spawned returns those that the caller may see, the latest first: all that
	// have not ended, and the last of the others.
	Spawned(ctx context.Context, c tools.Call) ([]Subagent, error)
	// Subagent returns one by its id.
	Subagent(ctx context.Context, c tools.Call, id int64) (Subagent, error)
	// Cancel stops one.
	Cancel(ctx context.Context, c tools.Call, id int64) (Subagent, error)
}

// Task is the task of a subagent.
type Task struct {
	Name, Message, Model string
	// InjectInto is the chat that gets the result; empty: it is only logged.
	InjectInto string
}

// Subagent is the run of a task. Its JSON form is stable.
type Subagent struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Model   string `json:"model,omitempty"`
	// InjectInto is the chat to get the result, Delivered the one that got it, Delivery how.
	InjectInto   string    `json:"inject_into,omitempty"`
	State        string    `json:"state"`
	SpawnedAt    time.Time `json:"spawned_at"`
	StartedAt    time.Time `json:"started_at,omitzero"`
	EndedAt      time.Time `json:"ended_at,omitzero"`
	InputTokens  int       `json:"input_tokens"`
	OutputTokens int       `json:"output_tokens"`
	CostUSD      float64   `json:"cost_usd"`
	Delivered    string    `json:"delivered,omitempty"`
	Delivery     string    `json:"delivery,omitempty"`
	Result       string    `json:"result,omitempty"`
	Note         string    `json:"note,omitempty"`
}

// notInside keeps a subagent from starting another one.
func notInside(c tools.Call, _ tools.Autonomy) *tools.Result {
	if c.Origin != tools.OriginSubagent {
		return nil
	}
	return tools.Refused(tools.PolicyDenied, "a subagent cannot start another one; do the work here")
}

type subagents struct {
	Subagents
	clock func(time.Time) string
}

type spawnArgs struct {
	Name       string `json:"name"`
	Message    string `json:"message"`
	Model      string `json:"model,omitempty"`
	InjectInto string `json:"injectInto,omitempty"`
}

func (s subagents) spawn(ctx context.Context, c tools.Call, a spawnArgs) tools.Result {
	one, err := s.Spawn(ctx, c, Task(a))
	if err != nil {
		return tools.Failed(err)
	}
	text := fmt.Sprintf("OK: subagent '%s' started (run %d)", one.Name, one.ID)
	if one.InjectInto == "" {
		text += "\nResult: only in the log (no injectInto)"
	} else {
		text += "\nResult: goes to " + one.InjectInto + " by itself; do not wait for it"
	}
	return tools.OK(text).With(one)
}

type subagentArgs struct {
	Action string `json:"action" enum:"list,status,cancel"`
	ID     int64  `json:"id,omitempty"`
}

func (s subagents) manage(ctx context.Context, c tools.Call, a subagentArgs) tools.Result {
	if a.Action == "list" {
		return s.list(ctx, c)
	}
	if a.ID <= 0 {
		return tools.Fail(tools.Validation, "Missing required parameter: id; list shows the ids")
	}
	do, text := s.Subagent, func(one Subagent) string { return one.status(s.clock) }
	if a.Action == "cancel" {
		do, text = s.Cancel, func(one Subagent) string {
			return fmt.Sprintf("OK: subagent '%s' (run %d) is cancelled", one.Name, one.ID)
		}
	}
	one, err := do(ctx, c, a.ID)
	if err != nil {
		return tools.Failed(err)
	}
	r := tools.OK(text(one)).With(one)
	r.Others = true // like the report of a subagent
	return r
}

func (s subagents) list(ctx context.Context, c tools.Call) tools.Result {
	all, err := s.Spawned(ctx, c)
	switch {
	case err != nil:
		return tools.Failed(err)
	case len(all) == 0:
		return tools.OK("No subagents.")
	}
	lines := make([]string, len(all))
	for i, one := range all {
		lines[i] = one.line(s.clock)
	}
	r := tools.OK(strings.Join(lines, "\n")).With(all)
	r.Others = true
	return r
}

// cancels reports whether a call of subagent_manage modifies data.
func cancels(arguments json.RawMessage) bool {
	var a subagentArgs
	return json.Unmarshal(arguments, &a) != nil || a.Action == "cancel"
}

// line is the subagent in the list.
func (s Subagent) line(clock func(time.Time) string) string {
	text := fmt.Sprintf("%d  %s  %s", s.ID, s.Name, s.State)
	if s.EndedAt.IsZero() {
		return text + " since " + clock(cmp.Or(s.StartedAt, s.SpawnedAt))
	}
	return text + ", " + clock(s.EndedAt)
}

// status is the subagent with all its fields.
func (s Subagent) status(clock func(time.Time) string) string {
	var b strings.Builder
	b.WriteString(s.line(clock))
	line := func(name, value string) {
		if value != "" {
			b.WriteString("\n  " + name + ": " + value)
		}
	}
	line("Message", shortened(s.Message))
	line("Model", s.Model)
	line("InjectInto", s.InjectInto)
	if n := s.InputTokens + s.OutputTokens; n > 0 {
		line("Tokens", fmt.Sprint(n))
	}
	if s.CostUSD > 0 {
		line("Cost", fmt.Sprintf("$%.4f", s.CostUSD))
	}
	if s.Delivered != "" {
		line("Delivered", s.Delivered+" ("+cmp.Or(s.Delivery, "kept no more")+")")
	}
	line("Note", s.Note)
	line("Result", shortened(s.Result))
	return b.String()
}
