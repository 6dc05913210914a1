package health

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

func TestFaults(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	well := Status{
		Uptime:   time.Hour,
		Channels: []gateway.Health{{Channel: "telegram", State: "ok", LastPoll: now.Add(-time.Minute)}, {Channel: "console", State: "ok"}},
		Database: Database{State: "ok"},
	}
	for name, c := range map[string]struct {
		change func(*Status)
		want   []string
	}{
		"well":             {func(*Status) {}, nil},
		"a message waits":  {func(s *Status) { s.Inbox.Oldest = now.Add(-9 * time.Minute) }, nil},
		"a moment offline": {func(s *Status) { s.Channels[0].State = "connecting" }, nil},
		"just started": {func(s *Status) {
			s.Uptime, s.Channels[0] = time.Second, gateway.Health{Channel: "telegram", State: "connecting"}
		}, nil},
		"stale":        {func(s *Status) { s.Channels[0].State = "stale" }, []string{"telegram: stale, no good poll for 1m0s"}},
		"never polled": {func(s *Status) { s.Channels[0] = gateway.Health{Channel: "telegram", State: "connecting"} }, []string{"telegram: connecting, no good poll for 1h0m0s"}},
		"conflict": {func(s *Status) {
			s.Channels[0].State, s.Channels[0].LastPoll = "conflict", now.Add(-151*time.Second)
		}, []string{"telegram: conflict, no good poll for 2m31s"}},
		"stopped":        {func(s *Status) { s.Channels[0].State = "stopped" }, []string{"telegram: stopped"}},
		"full":           {func(s *Status) { s.Database.State = "full" }, []string{"database: full"}},
		"waits too long": {func(s *Status) { s.Inbox.Oldest = now.Add(-11 * time.Minute) }, []string{"inbox: a message has waited for 11m0s"}},
	} {
		s := well
		s.Channels = slices.Clone(well.Channels)
		c.change(&s)
		if got := s.faults(now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestKeywordSearchSuggestsFix: who has switched embeddings off is not told to
// bring their model.
func TestKeywordSearchSuggestsFix(t *testing.T) {
	for kind, want := range map[string]bool{"off": false, "onnx": true} {
		c := toolset.Config{Settings: func() settings.Settings {
			return settings.Settings{Memory: settings.Memory{Embedding: settings.Embedding{Type: kind, Model: "none"}}}
		}}
		text := EmbeddingText(t.Context(), c)
		if !strings.HasPrefix(text, "keyword search only (") || strings.Contains(text, "assets pull") != want {
			t.Errorf("%s: %s", kind, text)
		}
	}
}

// TestSearchFollowsTheTexts: the start table names the model that the stored texts want.
func TestSearchFollowsTheTexts(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(t.Context(), store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(embed.LibraryName() + " model/model.onnx model/tokenizer.json e5-small-v2/model.onnx e5-small-v2/tokenizer.json") {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c := toolset.Config{Dir: dir, Assets: []string{dir}, Settings: func() settings.Settings {
		return settings.Settings{Memory: settings.Memory{Embedding: settings.Embedding{Type: "onnx", Model: "e5-small-v2", Foreign: "model"}}}
	}}
	if text := EmbeddingText(t.Context(), c); text != "hybrid search, with e5-small-v2" {
		t.Errorf("without texts: %s", text)
	}
	err = st.Write(t.Context(), func(tx *store.Tx) error {
		for range 10 {
			if _, _, _, err := memory.Save(tx, store.Memory{Content: "Der Schlüssel ist in der Kiste", Source: "test"}, memory.ChunkSize{Size: 400}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	if text := EmbeddingText(t.Context(), c); text != "hybrid search, with model" {
		t.Errorf("with German texts: %s", text)
	}
}
