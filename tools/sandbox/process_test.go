package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/tools/sandbox"
)

func command(t *testing.T, argv ...string) sandbox.Command {
	t.Helper()
	return sandbox.Command{Argv: argv, Dir: t.TempDir(), Timeout: 20 * time.Second}
}

func mustRun(t *testing.T, r sandbox.Runner, c sandbox.Command) sandbox.Outcome {
	t.Helper()
	out, err := r.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOffRunsAProgramAndKeepsItsStreamsApart(t *testing.T) {
	out := mustRun(t, sandbox.Off(), command(t, "sh", "-c", "echo out; echo err >&2; exit 3"))
	if out.Stdout.String() != "out\n" || out.Stderr.String() != "err\n" || out.ExitCode != 3 || out.TimedOut || out.Stopped {
		t.Errorf("outcome %+v", out)
	}
}

// TestArgumentsStayWhole: what a check has seen as one word must not reach a program as
// two.
func TestArgumentsStayWhole(t *testing.T) {
	if out, err := sandbox.Off().Run(t.Context(), command(t, "printf", "<%s>", "a\x00b")); err == nil {
		t.Errorf("outcome %+v", out)
	}
}

func TestOffJoinsAPipeline(t *testing.T) {
	c := command(t, "cat")
	c.Stdin = strings.NewReader("b\na\nb\n")
	c.Pipe = [][]string{{"sort", "-u"}, {"wc", "-l"}}
	if out := mustRun(t, sandbox.Off(), c); strings.TrimSpace(out.Stdout.String()) != "2" {
		t.Errorf("output %q", out.Stdout.String())
	}
}

func TestOffPassesOnlyTheListedVariables(t *testing.T) {
	t.Setenv("KLAWBOT_TELEGRAM_TOKEN", "canary")
	t.Setenv("LD_PRELOAD", "")
	c := command(t, "env")
	c.Env = []string{"EXTRA=1"}
	out := mustRun(t, sandbox.Off(), c).Stdout.String()
	known := map[string]bool{"PATH": true, "HOME": true, "LANG": true, "TERM": true, "TZ": true, "EXTRA": true, "PWD": true}
	for line := range strings.Lines(out) {
		if name, _, _ := strings.Cut(line, "="); !known[name] {
			t.Errorf("the command sees %q", line)
		}
	}
	if !strings.Contains(out, "EXTRA=1\n") || !strings.Contains(out, "PATH=") {
		t.Errorf("environment %q", out)
	}
}

func TestOffLeavesNoProcessBehindAtTheDeadline(t *testing.T) {
	for name, script := range map[string]string{
		"child":        "sleep 1000 & echo $! >pid; wait",
		"other group":  "setsid sleep 1000 & echo $! >pid; wait; sleep 1000",
		"orphan":       "(setsid sh -c 'echo $$ >pid; exec sleep 1000' &) ; sleep 1000",
		"deaf":         "trap '' TERM INT HUP; echo $$ >pid; while :; do sleep 1; done",
		"left behind":  "(setsid sh -c 'echo $$ >pid; exec sleep 1000' &) ; while ! [ -s pid ]; do sleep 0.05; done",
		"holds stdout": "sleep 1000 & echo $! >pid",
		"no name":      "env -i setsid -f sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1; while ! [ -s pid ]; do sleep 0.05; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := command(t, "sh", "-c", script)
			c.Timeout = 2 * time.Second
			quits := name == "left behind" || name == "holds stdout" || name == "no name"
			if quits {
				c.Timeout = time.Minute // it ends by itself
			}
			begun := time.Now()
			out := mustRun(t, sandbox.Off(), c)
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if out.TimedOut == quits {
				t.Errorf("outcome %+v", out)
			}
			mustBeGone(t, filepath.Join(c.Dir, "pid"))
		})
	}
}

// mustBeGone fails when the process whose id the file holds still runs.
func mustBeGone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && !strings.Contains(string(status), ") Z ") && syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d runs on: %s", pid, status)
	}
}

func TestOffKillsWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := sandbox.Off().Start(ctx, command(t, "sleep", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if out := p.Outcome(); !out.Stopped || out.TimedOut || out.ExitCode != 128+9 {
		t.Errorf("outcome %+v", out)
	}
}

// TestStopAsksFirst: a command may put its things in order before it ends, but not for ever.
func TestStopAsksFirst(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		grace  time.Duration
		want   string
		code   int
	}{
		"it ends":        {`trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.1; done`, time.Minute, "ready\nbye\n", 0},
		"it does not":    {`trap '' TERM; echo ready; while :; do sleep 0.1; done`, 300 * time.Millisecond, "ready\n", 128 + int(syscall.SIGKILL)},
		"it starts more": {`trap 'echo bye; exit 0' TERM; (trap '' TERM; setsid sleep 60) & echo ready; while :; do sleep 0.1; done`, time.Minute, "ready\nbye\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := sandbox.Off().Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", c.script}, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for out, _ := p.Output(); out.Total == 0; out, _ = p.Output() {
				<-tick.C
			}
			p.Stop(c.grace)
			out := p.Outcome()
			if out.Stdout.String() != c.want || out.ExitCode != c.code || !out.Stopped {
				t.Errorf("outcome %+v, said %q", out, out.Stdout.String())
			}
		})
	}
}

func TestOffTalksWithAProcess(t *testing.T) {
	c := command(t, "sh", "-c", "while read -r line; do echo got $line; done; echo bye >&2")
	c.Piped = true
	p, err := sandbox.Off().Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(p.Stdout)
	for _, word := range []string{"one", "two"} {
		fmt.Fprintln(p.Stdin, word)
		if !lines.Scan() || lines.Text() != "got "+word {
			t.Fatalf("answer %q", lines.Text())
		}
	}
	p.Stdin.Close()
	if out := p.Outcome(); out.ExitCode != 0 || out.Stderr.String() != "bye\n" {
		t.Errorf("outcome %+v", out)
	}
	p.Stdout.Close()
}

func TestOffShowsTheOutputSoFar(t *testing.T) {
	c := command(t, "sh", "-c", "echo begun; cat fifo; sleep 1000")
	fifo := filepath.Join(c.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := sandbox.Off().Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for cat, which comes after echo
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	for stdout, _ := p.Output(); stdout.Total == 0; stdout, _ = p.Output() {
		runtime.Gosched()
	}
	if stdout, _ := p.Output(); stdout.String() != "begun\n" {
		t.Errorf("output %q", stdout.String())
	}
	p.Kill()
	if out := p.Outcome(); !out.Stopped {
		t.Errorf("outcome %+v", out)
	}
}

func TestOffReportsFailedStart(t *testing.T) {
	for name, c := range map[string]sandbox.Command{
		"no program": {Argv: []string{"no-such-program-of-klawbot"}, Dir: "/"},
		"no folder":  {Argv: []string{"true"}, Dir: "/no/such/folder"},
		"no argv":    {Dir: "/"},
		"empty pipe": {Argv: []string{"true"}, Pipe: [][]string{nil}, Dir: "/"},
		"bad pipe":   {Argv: []string{"sleep", "1000"}, Pipe: [][]string{{"no-such-program-of-klawbot"}}, Dir: "/"},
		"relative":   {Argv: []string{"true"}, Dir: "."},
		"piped":      {Argv: []string{"true"}, Dir: "/", Piped: true},
	} {
		if out, err := sandbox.Off().Run(t.Context(), c); err == nil {
			t.Errorf("%s: outcome %+v", name, out)
		}
	}
}

func TestOutputOf200MegabytesCostsLittle(t *testing.T) {
	c := command(t, "head", "-c", "200000000", "/dev/zero")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := mustRun(t, sandbox.Off(), c)
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 32<<20 {
		t.Errorf("%d bytes were allocated", cost)
	}
	if out.Stdout.Total != 200_000_000 || len(out.Stdout.Head)+len(out.Stdout.Tail) != 1<<20 {
		t.Errorf("total %d, kept %d and %d", out.Stdout.Total, len(out.Stdout.Head), len(out.Stdout.Tail))
	}
}

func TestOutputKeepsBeginAndEnd(t *testing.T) {
	c := command(t, "seq", "100000")
	c.MaxOutput = 100
	out := mustRun(t, sandbox.Off(), c).Stdout
	if !strings.HasPrefix(string(out.Head), "1\n2\n3\n") || !strings.HasSuffix(string(out.Tail), "99999\n100000\n") || out.Omitted() != out.Total-100 {
		t.Errorf("output %q, left out %d", out.String(), out.Omitted())
	}
	c.HeadOnly = true
	if out = mustRun(t, sandbox.Off(), c).Stdout; len(out.Head) != 100 || len(out.Tail) != 0 {
		t.Errorf("output %q", out.String())
	}
}
