package sandbox_test

import (
	"os"
	"os/exec"
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
