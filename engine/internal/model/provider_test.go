package model

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
)

func newProviders() *providers {
	return &providers{
		http: httpclient.New(httpclient.Options{}), log: slog.New(slog.DiscardHandler),
		idle: func() time.Duration { return time.Minute }, kept: map[string]built{},
	}
}

func TestProvidersAreKeptWhileTheirConfigurationIs(t *testing.T) {
	p := newProviders()
	m := settings.Model{Provider: "p", Type: "openai", BaseURL: "http://127.0.0.1:1/v1", Name: "m", MaxTokens: 5, Compat: map[string]any{"streamUsage": false}}
	first, err := p.get(m)
	if err != nil {
		t.Fatal(err)
	}
	m.MaxTokens, m.Compat = 9, map[string]any{"streamUsage": false}
	if again, err := p.get(m); err != nil || again != first {
		t.Errorf("the same endpoint was built again: %v", err)
	}
	for name, change := range map[string]func(*settings.Model){
		"key":     func(m *settings.Model) { m.APIKey = "k" },
		"address": func(m *settings.Model) { m.BaseURL = "http://127.0.0.1:2/v1" },
		"compat":  func(m *settings.Model) { m.Compat = nil },
	} {
		changed := m
		change(&changed)
		if other, err := p.get(changed); err != nil || other == first {
			t.Errorf("%s changed, but not the provider: %v", name, err)
		}
	}
}

func TestProvidersSayWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.script")
	if err := os.WriteFile(file, []byte("user\n\tshout x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]settings.Model{
		`type "telepathy"`:      {Type: "telepathy"},
		"an http or https":      {Type: "openai", BaseURL: "nowhere"},
		"compat: ":              {Type: "openai", Compat: map[string]any{"streamUsag": true}},
		"s.script: line 2: ":    {Type: "script", BaseURL: file},
		"no such file":          {Type: "script", BaseURL: file + "x"},
		"unsupported value: +I": {Type: "openai", Compat: map[string]any{"x": inf()}},
	} {
		if _, err := newProviders().get(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", m, err, want)
		}
	}
}

func inf() float64 {
	one, none := 1.0, 0.0
	return one / none
}
