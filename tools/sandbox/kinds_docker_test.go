//go:build linux && sandbox

package sandbox_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"klawbot/tools/sandbox"
)

// tested are the sandboxes that every test of them runs in. scripts/sandbox-tests
// starts the daemon of docker and makes its image; the user nobody may not use it.
var tested = kindsOf(os.Getuid())

func kindsOf(user int) []string {
	if user == nobody {
		return []string{sandbox.TypeLandlock, sandbox.TypeBwrap}
	}
	return []string{sandbox.TypeLandlock, sandbox.TypeBwrap, sandbox.TypeDocker}
}

// maxStart is how much longer a command may take to start in a sandbox than
// outside.
const maxStart = 50 * time.Millisecond

// TestSandboxStartsQuickly measures an interpreter that does nothing.
func TestSandboxStartsQuickly(t *testing.T) {
	argv := []string{"/usr/bin/python3", "-c", "pass"}
	// Other work on the machine makes a start slower, never quicker.
	quickest := func(r sandbox.Runner, dir string) time.Duration {
		var all []time.Duration
		for range 21 {
			begun := time.Now()
			if out := mustRun(t, r, sandbox.Command{Argv: argv, Dir: dir}); out.ExitCode != 0 {
				t.Fatalf("outcome %+v %s", out, out.Stderr.String())
			}
			all = append(all, time.Since(begun))
		}
		slices.Sort(all)
		t.Logf("%s: fastest %s, half of them within %s", r.Name(), all[0], all[len(all)/2])
		return all[0]
	}
	direct := quickest(sandbox.Off(), t.TempDir())
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		took := quickest(b, b.workspace)
		if kind != sandbox.TypeDocker && took-direct > maxStart {
			t.Errorf("it starts %s later than outside, more than %s", took-direct, maxStart)
		}
	})
}
