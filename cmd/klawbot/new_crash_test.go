//go:build crash

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestKilledInNew kills the bot at each moment of /new. The conversation ends there
// once, for the next request, in the database and in the log, and the chat is told.
func TestKilledInNew(t *testing.T) {
	for _, point := range []string{"inbox.committed:2", "session.starting", "outbox.sending:2", "outbox.delivered:2", "outbox.settled:2"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			const chat = 11
			r := newRig(t, "off", chat)
			r.edit("  retries: 1\n", "  retries: 1\nmemory: {embedding: {type: off}}\n")
			r.model.Respond(func(q modeltest.Request) modeltest.Reply { return modeltest.Text("done " + lastTask(q)) })
			b := r.start("", "KLAWBOT_CRASH="+point)
			r.telegram.User(chat).Send("task 0 is a secret")
			r.wait(b, "the first answer", func(v telegramtest.State) bool { return answered(v, chat, 0) })
			r.telegram.User(chat).Send("/new")
			<-b.exited
			if code := b.cmd.ProcessState.ExitCode(); code != -1 {
				t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
			}
			b = r.again(b)
			r.wait(b, "the answer to /new", func(v telegramtest.State) bool {
				return showsText(v, chat, "New conversation started") && v.Pending() == 0
			})
			r.telegram.User(chat).Send("task 1")
			r.wait(b, "the next answer", func(v telegramtest.State) bool { return answered(v, chat, 1) })
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			r.count(chat, 2).check(t)
			asks := r.model.Completions()
			if last := string(asks[len(asks)-1].Body); strings.Contains(last, "secret") {
				t.Errorf("the new conversation begins with the old one: %s", tailOf(last))
			}
			const end = `"session_break"`
			if out := r.command("export", "-", "--format", "json"); strings.Count(out, end) != 1 {
				t.Errorf("the database has %s", out)
			}
			if log := r.log(); strings.Count(log, end) != 1 || strings.Index(log, end) > strings.Index(log, "task 1") || strings.Index(log, end) < strings.Index(log, "task 0") {
				t.Errorf("the log has %s", log)
			}
		})
	}
}

// log is what the conversation logs hold.
func (r *rig) log() string {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.dir, "data", "conversations", "*", "*.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
