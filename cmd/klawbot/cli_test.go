package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsAreOneLine(t *testing.T) {
	err := errors.Join(errors.New("say it:  disk full"), errors.Join(errors.New("close store: disk full\n"), errors.New("config:\n  line 1")))
	if got, want := inOneLine(err.Error()), "say it: disk full; close store: disk full; config: line 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFolderInPlaceOfConfigFails(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "config.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	a := newApp([]string{"KLAWBOT_HOME=" + home}, strings.NewReader(""), io.Discard, &errs)
	if code := a.execute(t.Context(), []string{"allowed"}); code != 2 || !strings.Contains(errs.String(), "config.yaml isn't a file") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// TestAdviceNamesTheProgramAsItWasStarted: after make chat no klawbot is in PATH.
func TestAdviceNamesTheProgramAsItWasStarted(t *testing.T) {
	for called, want := range map[string]string{
		"./bin/klawbot":        "run ./bin/klawbot init, or ./bin/klawbot allow ID; klawbot runs as user klawbot",
		"/opt/klawbot/klawbot": "run /opt/klawbot/klawbot init, or /opt/klawbot/klawbot allow ID; klawbot runs as user klawbot",
		"klawbot":              "run klawbot init, or klawbot allow ID; klawbot runs as user klawbot",
		"/tmp/klawbot.test":    "run klawbot init, or klawbot allow ID; klawbot runs as user klawbot",
		"":                     "run klawbot init, or klawbot allow ID; klawbot runs as user klawbot",
	} {
		a := &app{called: called}
		if got := a.advice("run klawbot init, or klawbot allow ID; klawbot runs as user klawbot"); got != want {
			t.Errorf("%q: %s", called, got)
		}
	}
}
