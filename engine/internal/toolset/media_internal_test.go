package toolset

import (
	"os"
	"os/exec"
	"testing"

	"klawbot/engine/internal/confined"
)

// TestRefusalNamesTheProgramAsItWasStarted: after make chat no klawbot is in PATH.
func TestRefusalNamesTheProgramAsItWasStarted(t *testing.T) {
	const called = "./bin/klawbot"
	if os.Args[0] != called {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		child := &exec.Cmd{Path: program, Args: []string{called, "-test.run=^" + t.Name() + "$"}}
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	err := refusal("lease.pdf", &confined.Fault{Kind: confined.NoReader, Detail: "klawbot assets pull --documents"})
	if want := "lease.pdf can't be read here. To fix that: ./bin/klawbot assets pull --documents"; err.Error() != want {
		t.Errorf("%q, not %q", err, want)
	}
}
