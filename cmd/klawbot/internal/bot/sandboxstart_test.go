//go:build linux && sandbox

package bot

import (
	"testing"
	"time"

	"klawbot/tools/sandbox"
)

// maxStart is how much longer a command may take to start in a sandbox than
// outside.
const maxStart = 50 * time.Millisecond

// TestSandboxStartsQuickly measures an interpreter that does nothing, started by
// this program with all that it has. Other work on the machine makes a start
// slower, never quicker, so the quickest of many counts.
func TestSandboxStartsQuickly(t *testing.T) {
	off := testBox(t, "")
	direct := quickest(t, sandbox.Off(), off.folders.Workspace, 0)
	t.Logf("off: %s", direct)
	for _, kind := range []string{sandbox.TypeBwrap, sandbox.TypeLandlock} {
		b := testBox(t, "tools: {sandbox: {type: "+kind+"}}\n")
		s, err := b.get()
		if err != nil {
			t.Fatal(err)
		}
		took := quickest(t, s, b.folders.Workspace, direct+maxStart/2)
		t.Logf("%s: %s, %s more", kind, took, took-direct)
		if took-direct > maxStart {
			t.Errorf("%s starts %s later than outside, more than %s", kind, took-direct, maxStart)
		}
	}
}

// quickest is the time of the quickest run. It stops early when one is below
// enough.
func quickest(t *testing.T, r sandbox.Runner, dir string, enough time.Duration) time.Duration {
	t.Helper()
	best := time.Hour
	for i := 0; i < 30 || i < 100 && best > enough && enough > 0; i++ {
		begun := time.Now()
		out, err := r.Run(t.Context(), sandbox.Command{Argv: []string{"/usr/bin/python3", "-c", "pass"}, Dir: dir})
		if err != nil || out.ExitCode != 0 {
			t.Fatalf("%v, %+v %s", err, out, out.Stderr.String())
		}
		best = min(best, time.Since(begun))
	}
	return best
}
