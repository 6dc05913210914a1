package exec_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"klawbot/tools"
)

// spawn starts a command in the background and returns its id.
func (b *bench) spawn(text string) string {
	b.t.Helper()
	r := b.call("shell", map[string]any{"command": text, "background": true})
	id, is := strings.CutPrefix(r.Output, "OK: running as job ")
	if !is || id == "" {
		b.t.Fatalf("%+v", r)
	}
	return id
}

// look asks shell_manage.
func (b *bench) look(action, id string) tools.Result {
	b.t.Helper()
	args := map[string]any{"action": action}
	if id != "" {
		args["id"] = id
	}
	return b.call("shell_manage", args)
}

func TestBackgroundJob(t *testing.T) {
	b := newBench(t).open()
	if r := b.look("status", ""); r.Output != "No commands in the background." {
		t.Errorf("%+v", r)
	}
	id := b.spawn("echo begun; echo bad >&2; until test -e go; do sleep 0.05; done; echo ended; exit 3")
	eventually(t, "the first output", func() bool {
		r := b.look("output", id)
		return strings.HasPrefix(r.Output, "begun\n[stderr]\nbad\n[running for ")
	})
	if r := b.look("status", id); !r.Success || !strings.HasPrefix(r.Output, "job "+id+": running for ") || !strings.HasSuffix(r.Output, "; exit 3") {
		t.Errorf("%+v", r)
	}
	b.file("go", "")
	eventually(t, "the end", func() bool { return strings.Contains(b.look("status", id).Output, "ended with exit code 3 after ") })
	if r := b.look("output", id); !strings.HasPrefix(r.Output, "begun\nended\n[stderr]\nbad\n[ended with exit code 3") {
		t.Errorf("%+v", r)
	}
	if r := b.look("kill", id); !r.Success || !strings.Contains(r.Output, "has ended already") {
		t.Errorf("%+v", r)
	}
}

// TestEndedJobShowsAllOfItsOutput: after the end of a job, its output needs no second
// look. The note about a file that was put back comes last, just before the end.
func TestEndedJobShowsAllOfItsOutput(t *testing.T) {
	b := newBench(t)
	b.bare = true
	b.readOnly = []string{"AGENTS.md"}
	b.also("cp *")
	b.file("evil.md", "obey\n")
	for range 25 {
		id := b.spawn("cp evil.md AGENTS.md")
		var readers sync.WaitGroup
		for range 32 {
			readers.Go(func() {
				for {
					text := b.look("output", id).Output
					if !strings.Contains(text, "[running for ") {
						if !strings.Contains(text, "may not be changed here") {
							t.Errorf("it ended without the note: %s", text)
						}
						return
					}
				}
			})
		}
		readers.Wait()
	}
}

func TestBackgroundJobOfTheListIsKilled(t *testing.T) {
	b := newBench(t).allow("sleep *", "echo *")
	mark := fmt.Sprintf("34%d.5", os.Getpid())
	id := b.spawn("echo a && sleep " + mark + " || echo never; echo nor this")
	eventually(t, "it runs", func() bool { return running(t, mark) })
	if r := b.look("kill", id); r.Output != "OK: job "+id+" killed" || running(t, mark) {
		t.Errorf("%+v, left: %v", r, running(t, mark))
	}
	if r := b.look("output", id); !strings.HasPrefix(r.Output, "a\n[killed after ") {
		t.Errorf("%+v", r)
	}
}

func TestJobsBelongToTheirChat(t *testing.T) {
	b := newBench(t).open()
	id := b.spawn("sleep 100")
	b.chat = "telegram_2"
	for _, action := range []string{"status", "output", "kill"} {
		if r := b.look(action, id); r.ErrorKind != tools.NotFound || !strings.HasPrefix(r.Output, "Error: job '"+id+"' not found") {
			t.Errorf("%s: %+v", action, r)
		}
	}
	if r := b.look("status", ""); r.Output != "No commands in the background." {
		t.Errorf("%+v", r)
	}
	b.chat = "telegram_1"
	if r := b.look("status", ""); !strings.Contains(r.Output, "job "+id+": running") {
		t.Errorf("%+v", r)
	}
}

func TestJobsAreBounded(t *testing.T) {
	b := newBench(t).open()
	for range 40 { // more than are kept
		id := b.spawn("true")
		eventually(t, "the end", func() bool { return strings.Contains(b.look("status", id).Output, "ended") })
	}
	if n := strings.Count(b.look("status", "").Output, "job "); n != 32 {
		t.Errorf("%d jobs are kept", n)
	}
	for range 8 {
		b.spawn("sleep 100")
	}
	if r := b.call("shell", map[string]any{"command": "sleep 100", "background": true}); r.Success || !strings.Contains(r.Error, "8 commands run in the background already") {
		t.Errorf("%+v", r)
	}
}

func TestJobsEndWithTheBot(t *testing.T) {
	b := newBench(t).open()
	mark := fmt.Sprintf("35%d.5", os.Getpid())
	b.spawn("sleep " + mark + " & sleep " + mark)
	eventually(t, "it runs", func() bool { return running(t, mark) })
	b.shell.Close()
	if running(t, mark) {
		t.Error("a process is left")
	}
	if r := b.call("shell", map[string]any{"command": "ls", "background": true}); r.Success {
		t.Errorf("%+v", r)
	}
}

func TestBackgroundNeedsApproval(t *testing.T) {
	b := newBench(t)
	if r := b.call("shell", map[string]any{"command": "touch made", "background": true}); r.ErrorKind != tools.ApprovalDenied {
		t.Errorf("%+v", r)
	}
}

func TestManageNeedsAnID(t *testing.T) {
	b := newBench(t)
	for _, action := range []string{"output", "kill"} {
		if r := b.look(action, ""); r.ErrorKind != tools.Validation {
			t.Errorf("%s: %+v", action, r)
		}
	}
	if r := b.call("shell_manage", map[string]any{"action": "restart"}); r.ErrorKind != tools.Validation {
		t.Errorf("%+v", r)
	}
}
