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
		// More than a batch is read before the pipe blocks, and it is never closed.
		for i := range 1000*round + 1700 {
			if _, err := fmt.Fprintf(in, `{"content": "row %d of round %d, about gardens", "source": "s%d"}`+"\n", i, round, i/20); err != nil {
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
		if out := string(report); !strings.Contains(out, "✓ memory") || !strings.Contains(out, "✓ database") {
			t.Fatalf("the doctor says %s", out)
		}
	}
	if out := says("memory", "search", "row 0 of round 0 about gardens"); !strings.Contains(out, "row 0 of round 0") {
		t.Errorf("the first batch is not found: %s", out)
	}
}
