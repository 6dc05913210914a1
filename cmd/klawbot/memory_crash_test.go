//go:build crash

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

var remembered = regexp.MustCompile(`(\d+) memories, (\d+) pieces`)

// TestKilledWhileRemembering kills an import in the middle, several times: each
// memory that is there can be found, none is there by half, and what was saved
// before is still there.
func TestKilledWhileRemembering(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Args = append([]string{"klawbot"}, args...)
		cmd.Env = append(os.Environ(), "KLAWBOT_HOME="+home)
		return cmd
	}
	says := func(args ...string) string {
		t.Helper()
		out, err := command(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("klawbot %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	says("memory", "save", "The first memory is about submarines")
	for round := range 3 {
		cmd := command("memory", "import", "-")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The pipe and the reader hold 128 KB of the 240; what has been read beyond
		// the first batch proves that this is stored. The pipe is never closed.
		for i := range 1000*round + 4000 {
			if _, err := fmt.Fprintf(in, `{"content": "garden r%dn%d in row %[2]d of round %[1]d", "source": "s%[3]d"}`+"\n", round, i, i/20); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		_, _ = io.WriteString(in, "\n")

		out := says("tools", "call", "self_info", `{"query": "stats"}`)
		n := remembered.FindStringSubmatch(out)
		if n == nil || n[1] != n[2] || n[1] == "0" {
			t.Fatalf("round %d: %q in\n%s", round, n, out)
		}
		if out := says("memory", "search", "submarines"); !strings.Contains(out, "The first memory") {
			t.Fatalf("what was saved is gone: %s", out)
		}
		report, _ := command("doctor").CombinedOutput() // it also says that there is no model
		if out := string(report); !strings.Contains(out, "stored, found and forgot a memory") || !strings.Contains(out, "✓ database") {
			t.Fatalf("the doctor says %s", out)
		}
	}
	if out := says("memory", "search", "garden r0n0"); !strings.Contains(out, "row 0 of round 0") {
		t.Errorf("the first batch is not found: %s", out)
	}
}

// TestKilledWhileATurnRemembers kills the bot at each moment of a turn that saves.
// The next one tells the model what is not known; when it checks before it saves
// again, as it is told to, the memory is there once.
func TestKilledWhileATurnRemembers(t *testing.T) {
	for _, point := range []string{"call.started", "memory.saving", "memory.saved", "call.done", "call.finished"} {
		t.Run(point, func(t *testing.T) {
			const chat = 11
			r := newRig(t, "off", chat)
			r.edit("  retries: 1\n", "  retries: 1\nmemory: {embedding: {type: off}}\n")
			r.model.Respond(func(q modeltest.Request) modeltest.Reply {
				switch last := q.Last().Text(); {
				case callsBehind(q) == 0, strings.Contains(last, "No relevant memories"):
					return modeltest.CallTool("memory_save", map[string]any{"content": "The locker code is 4711-Q"})
				case strings.Contains(last, "check before you retry"):
					return modeltest.CallTool("memory_search", map[string]any{"query": "locker code"})
				}
				return modeltest.Text("done " + lastTask(q))
			})
			b := r.start("", "KLAWBOT_CRASH="+point)
			r.telegram.User(chat).Send("task 0")
			<-b.exited
			if code := b.cmd.ProcessState.ExitCode(); code != -1 {
				t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
			}
			b = r.again(b)
			r.wait(b, "the task is answered", func(v telegramtest.State) bool { return answered(v, chat, 0) && v.Pending() == 0 })
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			cmd := exec.Command(os.Args[0])
			cmd.Args = []string{"klawbot", "--config", r.config, "memory", "search", "--json", "locker code"}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if n := strings.Count(string(out), `"content": "The locker code`); n != 1 {
				t.Errorf("the memory is there %d times: %s", n, out)
			}
		})
	}
}
