package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/tools/sandbox"
)

// TestTheNextBotEndsWhatAKilledOneLeft: without a sandbox, what a program started
// outlives a bot that is killed, until the next one starts. What belongs to a bot
// that lives is not touched.
func TestTheNextBotEndsWhatAKilledOneLeft(t *testing.T) {
	dir, left, mine := t.TempDir(), marker(), marker()
	c := exec.Command(os.Args[0], "sh", "-c", "(setsid sleep "+left+" &); env -i setsid -f sleep "+left+"; sleep "+left)
	c.Dir, c.Stderr = dir, os.Stderr
	c.Env = append(os.Environ(), "KLAWBOT_TEST_BOT=off", "PWD="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, func() bool { return running(left) == 3 })
	p, err := sandbox.Off().Start(t.Context(), sandbox.Command{Argv: []string{"sleep", mine}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	sandbox.EndOrphans() // another test's bot may have done it already
	within(t, time.Minute, func() bool { return running(left) == 0 })
	if running(mine) != 1 {
		t.Error("what a living bot runs was ended")
	}
	p.Kill()
	if out := p.Outcome(); !out.Stopped || running(mine) != 0 {
		t.Errorf("%+v", out)
	}
}

// TestWhatStandsApartIsNotEnded: a browser that the bot starts at the same moment as a
// command may have got the mark of this one. The shell stays a shell: while a program
// is exchanged for another one it has no environment for a moment.
func TestWhatStandsApartIsNotEnded(t *testing.T) {
	c := command(t, "sh", "-c", "env -i "+sandbox.Apart()+` "PATH=$PATH" setsid -f sh -c 'echo $$ >pid; sleep 1000; :' >/dev/null 2>&1; while ! [ -s pid ]; do sleep 0.05; done`)
	mustRun(t, sandbox.Off(), c)
	text, err := os.ReadFile(filepath.Join(c.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(status), ") Z ") {
		t.Errorf("it was ended: %s, %v", status, err)
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // it is there, or the test has failed
}
