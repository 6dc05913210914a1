package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"klawbot/tools/sandbox"
)

// TestOffDiesWithTheBot: a bot that is killed takes all its commands along, and leaves
// those of another one alone.
func TestOffDiesWithTheBot(t *testing.T) {
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
	within(t, time.Minute, func() bool { return running(left) == 0 })
	if running(mine) != 1 {
		t.Error("what a living bot runs was ended")
	}
	p.Kill()
	if out := p.Outcome(); !out.Stopped || running(mine) != 0 {
		t.Errorf("%+v", out)
	}
}

// TestCommandCannotEscapeItsGuards: outside a sandbox a command may signal the
// guards above it, of which one is left to end everything.
func TestCommandCannotEscapeItsGuards(t *testing.T) {
	const daemon = "env -i setsid -f sleep M; "
	const above = "outer=$(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat); grep -q klawbot-guard /proc/$outer/cmdline || exit 0; " // else it is the bot
	for name, script := range map[string]string{
		"kills the one":      daemon + "kill -9 $PPID; sleep M",
		"ends the one":       daemon + "kill $PPID; sleep M",
		"stops the one":      daemon + "kill -STOP $PPID; sleep M",
		"stops it and exits": daemon + "kill -STOP $PPID",
		"kills the other":    daemon + above + "kill -9 $outer; sleep M",
		"ends the other":     daemon + above + "kill $outer; sleep M",
		"stops the other":    daemon + above + "kill -STOP $outer; sleep M",
		"stops both":         daemon + above + "kill -STOP $PPID $outer; sleep M",
		"hangs up on both":   daemon + above + "kill -HUP $PPID $outer; sleep M",
		"kills its group":    daemon + "kill -9 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := marker()
			c := command(t, "sh", "-c", strings.ReplaceAll(script, "M", m))
			c.Timeout = 2 * time.Second
			if out := mustRun(t, sandbox.Off(), c); out.ExitCode == 0 {
				t.Errorf("it succeeded: %+v %s", out, out.Stderr.String())
			}
			within(t, 10*time.Second, func() bool { return running(m) == 0 })
		})
	}
}
