package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"

	"github.com/google/go-cmp/cmp"

	"klawbot/doc"
	"klawbot/internal/redact"
)

func TestGuessTimezone(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct{ tz, want string }{
		{"Europe/Berlin", "Europe/Berlin"},
		{":America/New_York", "America/New_York"},
		{"No/Where", "UTC"},
	} {
		if got := GuessTimezone(func(string) string { return c.tz }, "/nonexistent"); got != c.want {
			t.Errorf("TZ=%s: got %s, want %s", c.tz, got, c.want)
		}
	}
	if got := GuessTimezone(none, "/nonexistent"); got != "UTC" {
		t.Errorf("nothing to go by: got %s", got)
	}
}

func TestSettingsLeaveOutModelsThatCannotBeCalled(t *testing.T) {
	l := mustParse(t, "models: {default: main, providers: {home: {baseURL: 'http://127.0.0.1:1/v1'}}, entries: {main: {provider: openai, model: a}, b: {provider: home, model: b}}}")
	got := l.EngineModels()
	want := settings.Models{
		Entries: map[string]settings.Model{
			"b": {Provider: "home", Type: "openai", BaseURL: "http://127.0.0.1:1/v1", Name: "b", MaxTokens: 4096, ContextBudget: 32000, Tools: "auto", Vision: "auto"},
		},
		Timeout: 2 * time.Minute, Retries: 3, MaxShownTools: 40,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	l = mustParse(t, "", "OPENAI_API_KEY=key-of-the-test")
	if got := l.EngineModels(); got.Default != "main" || got.Entries["main"].BaseURL != OpenAI {
		t.Errorf("with a key in the environment: %+v", got)
	}
}

func TestWhitelistStaysClosed(t *testing.T) {
	l := mustParse(t, "")
	if err := l.whitelist.Out("telegram", 5); err == nil {
		t.Error("an empty list lets somebody in")
	}
	if err := l.whitelist.Out("console", 0); err != nil {
		t.Errorf("the console is closed: %v", err)
	}
}

func TestWordForServerWithoutKeyIsNoSecret(t *testing.T) {
	known := &redact.Set{}
	text := "models: {providers: {here: {type: openai, apiKey: ollama}, there: {type: openai, apiKey: k-12345678}}}"
	if _, err := (Source{File: "config.yaml", Redact: known}).Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if got := known.Text("ollama run x with k-12345678"); got != "ollama run x with [redacted]" {
		t.Errorf("masked: %q", got)
	}
}

func TestQuietHours(t *testing.T) {
	for text, want := range map[string]string{
		"22:00-07:00": "00:00 06:59 22:00 23:59", "13:00 - 14:30": "13:00 14:29", "0:00-24:00": "00:00 06:59 07:00 13:00 14:29 14:30 21:59 22:00 23:59", "": "",
	} {
		q, err := parseQuietHours(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		var quiet []string
		for _, at := range []string{"00:00", "06:59", "07:00", "13:00", "14:29", "14:30", "21:59", "22:00", "23:59"} {
			wall, err := time.Parse("15:04", at)
			if err != nil {
				t.Fatal(err)
			}
			if q.Hold(wall) {
				quiet = append(quiet, at)
			}
		}
		if got := strings.Join(quiet, " "); got != want {
			t.Errorf("%q holds at %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"22-7", "25:00-07:00", "22:00", "22:60-07:00", "07:00-07:00", "24:30-07:00", "night"} {
		if q, err := parseQuietHours(text); err == nil {
			t.Errorf("%q is %v", text, q)
		}
	}
	for text, want := range map[string]time.Duration{"": 0, "off": 0, "30m": 30 * time.Minute, "PT1H": time.Hour, "PT1H30M": 90 * time.Minute, "24h": 24 * time.Hour} {
		if got, err := parseInterval(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"1", "10s", "P1D", "1000h", "-1h", "hourly"} {
		if got, err := parseInterval(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestWorkspaceHoldsNoConfiguration: what a tool writes must never be read as
// the owner's word.
func TestWorkspaceHoldsNoConfiguration(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "data", "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(home, "data", "link")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(home, "data")
	for _, c := range []struct{ workspace, config, want string }{
		{"data/workspace", "data/config.yaml", ""},
		{"files", "data/config.yaml", ""},
		{"files", "files-evil/config.yaml", ""},
		{"data", "etc/config.yaml", "holds the data directory"},
		{"", "etc/config.yaml", "holds the data directory"},
		{"data/link", "etc/config.yaml", "holds the data directory"},
		{"files", "files/config.yaml", "holds the configuration"},
		{"files", "files/sub/config.yaml", "holds the configuration"},
	} {
		f := Folders{Data: data, Workspace: filepath.Join(home, c.workspace)}
		err := f.apart(filepath.Join(home, c.config))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestManualListsKeysThatNeedRestart compares the keys that are read at the start
// only with what the manual says of them.
func TestManualListsKeysThatNeedRestart(t *testing.T) {
	var before, after Config
	after.DataDir, after.Agent.Workspace, after.Log.Format = "x", "x", "x"
	after.Health.Listen, after.Metrics.Listen = "x", "x"
	after.Channels.Console.Enabled = true
	telegram := &after.Channels.Telegram
	telegram.Token, telegram.APIURL, telegram.Mode, telegram.Webhook.URL = "x", "x", "x", "x"
	page, err := fs.ReadFile(doc.FS, "config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sentence, _ := strings.Cut(string(page), "These keys need a restart")
	sentence, _, _ = strings.Cut(sentence, "\n")
	for key := range strings.SplitSeq(needRestart(&before, &after), ", ") {
		if !strings.Contains(sentence, "`"+key+"`") {
			t.Errorf("config.md does not say that %s needs a restart", key)
		}
	}
	if n, want := strings.Count(needRestart(&before, &after), ",")+1, 10; n != want {
		t.Errorf("%d keys need a restart, the test changes %d", n, want)
	}
}

func TestManagedModels(t *testing.T) {
	const managedOf = `models:
  default: home
  providers: {local: {type: managed, context: %d}}
  entries: {home: {provider: local, model: qwen3.5-4b}%s}
`
	m := mustParse(t, fmt.Sprintf(managedOf, 0, "")).EngineModels()
	home := m.Entries["home"]
	if m.Default != "home" || home.ContextBudget != localContext || home.MaxTokens > home.ContextBudget/2 || home.Tools != "few" || home.Local.UnloadAfter != 15*time.Minute {
		t.Errorf("got %+v", home)
	}
	if got := mustParse(t, fmt.Sprintf(managedOf, 16000, "")).EngineModels().Entries["home"].ContextBudget; got != 16000 {
		t.Errorf("a window of 16000 is %d", got)
	}
	if _, err := parseText(t, fmt.Sprintf(managedOf, 0, ", other: {provider: local, model: /m.gguf}")); err == nil || !strings.Contains(err.Error(), "local runs one model") {
		t.Errorf("one provider for two models: %v", err)
	}
}
