package media

import (
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"klawbot/engine/internal/confined"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// TestSentenceNamesTheProgramAsItWasStarted: after make chat no klawbot is in PATH.
func TestSentenceNamesTheProgramAsItWasStarted(t *testing.T) {
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
	m := &Media{Config: Config{Log: slog.New(slog.DiscardHandler), Settings: func() settings.Settings { return settings.Settings{} }}}
	f := &file{}
	f.Kind, f.Name = gateway.AttachDocument, "lease.pdf"
	got := m.sentence(f, &confined.Fault{Kind: confined.NoReader, Detail: "klawbot assets pull --documents"})
	if want := "I can't read lease.pdf here. To fix that: ./bin/klawbot assets pull --documents"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
