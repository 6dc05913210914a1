package bot

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"klawbot/internal/redact"
)

func TestRecentLinesAreTheNewestWithoutSecrets(t *testing.T) {
	const canary = "sk-canary-0123456789abcdefghij"
	secrets := &redact.Set{}
	secrets.Add(canary)
	var terminal bytes.Buffer
	level := slog.LevelInfo
	r := &recent{level: func() slog.Level { return level }}
	log := slog.New(secrets.Handler(r.handler(slog.NewTextHandler(&terminal, &slog.HandlerOptions{Level: slog.LevelError}))))
	if got := r.all(); len(got) != 0 {
		t.Errorf("at the start there is %v", got)
	}
	log.Debug("not kept")
	log.With("chat", "telegram_1").Warn("key is "+canary, "err", fmt.Errorf("refused %s", canary))
	got := r.all()
	if len(got) != 1 || got[0].Level != "WARN" || !strings.HasPrefix(got[0].Rest, "chat=telegram_1 err=refused") {
		t.Fatalf("kept %+v", got)
	}
	if strings.Contains(got[0].Text+got[0].Rest, canary) {
		t.Errorf("a secret is kept: %+v", got)
	}
	for i := range recentLines + 7 {
		log.Info(fmt.Sprintf("line %d", i))
	}
	got = r.all()
	if len(got) != recentLines || got[0].Text != "line 506" || got[recentLines-1].Text != "line 7" {
		t.Errorf("kept %d lines from %q to %q", len(got), got[0].Text, got[len(got)-1].Text)
	}
	if terminal.Len() != 0 {
		t.Errorf("the terminal got %s", terminal.String())
	}
	level = slog.LevelError
	log.Info("too low")
	if r.all()[0].Text == "too low" {
		t.Error("a record below the level is kept")
	}
}
