package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/tools/job"
)

// runWorker is the model of scheduled runs that are killed. Asked for "task N",
// it appends N to a file and then reports "done N".
func runWorker(delay time.Duration) func(modeltest.Request) modeltest.Reply {
	return func(r modeltest.Request) modeltest.Reply {
		_, n, _ := strings.Cut(due(r), "task ")
		reply := modeltest.Text("done " + n)
		if callsBehind(r) == 0 {
			reply = modeltest.CallTool("file_write", map[string]any{"path": "done.txt", "content": n + "\n", "mode": "append"})
		}
		if delay > 0 {
			reply.Delay = rand.N(delay)
		}
		return reply
	}
}

// command runs a command of klawbot on the rig's data directory and returns what it
// printed.
func (r *rig) command(args ...string) string {
	r.t.Helper()
	var out, errs bytes.Buffer
	a := newApp(nil, strings.NewReader(""), &out, &errs)
	if code := a.execute(context.Background(), append([]string{"--config", r.config}, args...)); code != exitOK {
		r.t.Fatalf("klawbot %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// schedule plans a task whose name is its text, for the chat 11.
func (r *rig) schedule(task string, when ...string) {
	r.t.Helper()
	args := append([]string{"schedule", "add", strings.ReplaceAll(task, " ", "-")}, when...)
	r.command(append(args, "--inject-into", "telegram_11", task)...)
}

// runs are the runs of a schedule, the latest first.
func (r *rig) runs(name string) (runs []job.Run) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.command("schedule", "logs", name, "--json")), &runs); err != nil {
		r.t.Fatal(err)
	}
	return runs
}
