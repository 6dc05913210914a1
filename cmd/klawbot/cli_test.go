package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine"
)

func TestNewConfigurationReadsBack(t *testing.T) {
	m := newModel(engine.Model{Provider: "my: server", Type: "openai", BaseURL: "http://127.0.0.1:1/v1", APIKey: `k"e'y #1`, Name: "qwen3:8b"})
	s := &setup{chosen: &m, token: "1:abc", apiURL: "http://127.0.0.1:2", timezone: "UTC", allowed: []int64{-5, 6}, owners: []int64{6}}
	environ := []string{"TELEGRAM_BOT_TOKEN=1:abc"}
	text := s.yaml("", environ)
	if !strings.Contains(text, "token: ${TELEGRAM_BOT_TOKEN}") {
		t.Errorf("the token is no reference:\n%s", text)
	}
	l := parsed(t, text, environ...)
	if got := l.EngineModels().Entries["main"]; cmp.Diff(m, got) != "" {
		t.Error(cmp.Diff(m, got))
	}
	telegram := l.Channels.Telegram
	if telegram.Token != "1:abc" || cmp.Diff([]int64{-5, 6}, telegram.AllowedChatIDs) != "" || cmp.Diff([]int64{6}, telegram.OwnerIDs) != "" {
		t.Errorf("telegram is %+v", telegram)
	}
	if none := parsed(t, (&setup{}).yaml("", nil)); none.EngineModels().Default != "" {
		t.Error("no model became one")
	}
}

func TestTheBannerFitsATerminal(t *testing.T) {
	for _, model := range []string{"", "main"} {
		for line := range strings.Lines(banner(model, "running")) {
			if len(line) > 60 { // a version is longer than dev
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	err := errors.Join(errors.New("say it:  disk full"), errors.Join(errors.New("close store: disk full\n"), errors.New("config:\n  line 1")))
	if got, want := inOneLine(err.Error()), "say it: disk full; close store: disk full; config: line 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFolderInPlaceOfTheFileIsSaid(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "config.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	a := newApp([]string{"KLAWBOT_HOME=" + home}, strings.NewReader(""), io.Discard, &errs)
	if code := a.execute(t.Context(), []string{"allowed"}); code != 2 || !strings.Contains(errs.String(), "config.yaml is no file") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
