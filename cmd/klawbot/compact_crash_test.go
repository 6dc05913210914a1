//go:build crash

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestKilledWhileSummingUp kills the bot before and after a summary is stored. The
// next one answers with early messages, from the messages or the summary.
func TestKilledWhileSummingUp(t *testing.T) {
	for _, point := range []string{"summary.made", "summary.stored"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			const chat = 11
			r := newRig(t, "off", chat)
			r.edit("  retries: 1\n", "  retries: 1\ncontext: {compactAt: 0.3, window: 4}\nmemory: {embedding: {type: off}}\n")
			r.model.Respond(func(q modeltest.Request) modeltest.Reply {
				if strings.Contains(q.System(), "You keep the notes") {
					return modeltest.Text("## Facts\n" + strings.Join(regexp.MustCompile(`FACT [^\n]*`).FindAllString(q.Last().Text(), -1), "\n"))
				}
				return modeltest.Text("done " + strings.Fields(q.LastUser())[1])
			})
			b := r.start("", "KLAWBOT_CRASH="+point)
			say := func(b *process, n int, text string) {
				r.telegram.User(chat).Send(fmt.Sprintf("task %d %s", n, text))
				r.wait(b, "an answer", func(v telegramtest.State) bool { return answered(v, chat, n) })
			}
			say(b, 0, "FACT the code is 4711-Q")
			n := 1
			dead, end := context.WithTimeout(t.Context(), 5*time.Minute)
			defer end()
			go func() { <-b.exited; end() }()
			for ; dead.Err() == nil; n++ {
				r.telegram.User(chat).Send(fmt.Sprintf("task %d %s", n, strings.Repeat("and so on ", 400)))
				_ = r.telegram.WaitFor(dead, func(v telegramtest.State) bool { return answered(v, chat, n) }) // or the bot is dead
			}
			<-b.exited
			if code := b.cmd.ProcessState.ExitCode(); code != -1 {
				t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
			}
			b = r.again(b)
			r.wait(b, "all is answered", func(v telegramtest.State) bool { return answered(v, chat, n-1) && v.Pending() == 0 })
			for range 3 {
				say(b, n, strings.Repeat("and so on ", 400))
				n++
			}
			say(b, n, "which code was it, the FACT?")
			asks := r.model.Completions()
			if last := asks[len(asks)-1]; !strings.Contains(string(last.Body), "4711-Q") && !anyHolds(asks[len(asks)-3:], "4711-Q") {
				t.Errorf("the fact is lost: %s", tailOf(conversation(last)))
			}
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			r.count(chat, n+1).check(t)
		})
	}
}

func anyHolds(asks []modeltest.Request, text string) bool {
	for _, a := range asks {
		if strings.Contains(string(a.Body), text) {
			return true
		}
	}
	return false
}

// TestKilledWhileReindexing kills the command at each of its moments. The database
// is whole afterwards, and the command can be run again.
func TestKilledWhileReindexing(t *testing.T) {
	klawbot := func(home, env string, args ...string) (string, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Args = append([]string{"klawbot"}, args...)
		cmd.Env = append(os.Environ(), "KLAWBOT_HOME="+home, env)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const messages = 600 // two transactions
	var lines strings.Builder
	for i := range messages {
		fmt.Fprintf(&lines, `{"id":"u%d","ts":"2026-03-01T10:%02d:%02dZ","role":"user","content":"message %d","meta":{"chat_id":"console_default"}}`+"\n", i, i/60, i%60, i)
	}
	full := t.TempDir()
	export := full + "/lines.jsonl"
	if err := os.WriteFile(export, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := klawbot(full, "", "import", export); err != nil {
		t.Fatal(out)
	}
	before, err := klawbot(full, "", "export", "-", "--format", "json")
	if err != nil {
		t.Fatal(before)
	}
	for _, point := range []string{"reindex.read", "reindex.read:2", "reindex.ready", "reindex.done"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if err := os.CopyFS(home, os.DirFS(full)); err != nil {
				t.Fatal(err)
			}
			klawbot := func(env string, args ...string) (string, error) { return klawbot(home, env, args...) }
			exported := func() string {
				t.Helper()
				out, err := klawbot("", "export", "-", "--format", "json")
				if err != nil {
					t.Fatal(out)
				}
				return out
			}
			if out, err := klawbot("KLAWBOT_CRASH="+point, "reindex"); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("the command ended with %v\n%s", err, out)
			}
			if after := exported(); after != before || strings.Count(after, "\n") != messages {
				t.Errorf("%d lines after the kill, %d before", strings.Count(after, "\n"), strings.Count(before, "\n"))
			}
			if out, err := klawbot("", "reindex"); err != nil || !strings.Contains(out, "600 messages in 1 conversation") {
				t.Fatalf("again: %v\n%s", err, out)
			}
			if exported() != before {
				t.Error("the messages are others now")
			}
			if out, err := klawbot("", "tools", "call", "history_search", `{"query": "message 577", "topK": 1}`); err != nil || !strings.Contains(out, "message 577") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
