package setup

import (
	"strings"
	"testing"

	"klawbot/engine/settings"

	"github.com/google/go-cmp/cmp"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

func TestNewConfigurationReadsBack(t *testing.T) {
	m := newModel(settings.Model{Provider: "my: server", Type: "openai", BaseURL: "http://127.0.0.1:1/v1", APIKey: `k"e'y#${1}`, Name: "qwen3:8b"})
	m.Tools, m.Vision = "auto", "auto" // the defaults, which are not written down
	a := &Answers{chosen: &m, Token: "1:abc", APIURL: "http://127.0.0.1:2", Timezone: "UTC", allowed: []int64{-5, 6}, owners: []int64{6}}
	environ := []string{"TELEGRAM_BOT_TOKEN=1:abc"}
	text := a.yaml("", environ)
	if !strings.Contains(text, `token: "${TELEGRAM_BOT_TOKEN}"`) {
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
	if none := parsed(t, (&Answers{}).yaml("", nil)); none.EngineModels().Default != "" {
		t.Error("no model became one")
	}
}

// parsed is a configuration as if it stood in config.yaml.
func parsed(t *testing.T, text string, environ ...string) *config.Loaded {
	t.Helper()
	l, err := config.Source{File: "config.yaml", Environ: environ, Redact: &redact.Set{}}.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}
