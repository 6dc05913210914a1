package configedit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
)

// TestAddModel keeps everything else of the file, whatever it has.
func TestAddModel(t *testing.T) {
	for name, text := range map[string]string{
		"empty":            "",
		"no models":        "channels: {telegram: {allowedChatIds: [5]}}  # mine\n",
		"in braces":        "models: {default: '', entries: {}, providers: {}}\n",
		"commands only":    "models:\n  default: \"\"   # no model\n",
		"others":           "models:\n  default: main\n  providers:\n    home:\n      type: ollama # here\n  entries:\n    main:\n      provider: home\n      model: a\n",
		"one of its name":  "models: {entries: {main: {provider: openai, model: y}, qwen3-8b: {provider: openai, model: x}}}\n",
		"a provider of it": "models: {providers: {here: {apiKey: other-key}}, entries: {main: {provider: here, model: x}}}\n",
		"the same":         "models: {providers: {here: {type: openai, baseURL: 'http://127.0.0.1:1/v1', apiKey: 'k${1}'}}, entries: {main: {provider: here, model: x}}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := config.Open(config.Source{File: file, Redact: &redact.Set{}})
			if err != nil {
				t.Fatal(err)
			}
			m := settings.Model{Provider: "here", Type: "openai", BaseURL: "http://127.0.0.1:1/v1", APIKey: "k${1}", Name: "Qwen3:8b", MaxTokens: 100, ContextBudget: 4000}
			entry, err := AddModel(l, m)
			after, bad := os.ReadFile(file)
			if err != nil || bad != nil {
				t.Fatalf("%v, %v", err, bad)
			}
			if !strings.Contains(string(after), entry) || strings.Contains(text, "# ") && !strings.Contains(string(after), "# ") {
				t.Errorf("entry %s in\n%s", entry, after)
			}
		})
	}
}
