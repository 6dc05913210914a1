package recall

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
)

// assets makes the files of a model, whose content does not matter until it is loaded.
func assets(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// speaking is a memory whose settings have the default model of a language.
func speaking(language, dir string, open func() (*store.Store, error)) *Memory {
	s := settings.Settings{}
	s.Memory.Embedding.Type = "onnx"
	s.Memory.Embedding.Model, s.Memory.Embedding.Fallback = embed.ModelFor(language)
	return New(Config{Dir: dir, Assets: []string{dir}, Settings: func() settings.Settings { return s }, Open: open, Log: slog.New(slog.DiscardHandler)})
}

// TestFallbackUntilTheModelOfTheLanguageIsThere: a bot that was set up with the model
// for English keeps its vectors, and says what is better.
func TestFallbackUntilTheModelOfTheLanguageIsThere(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := speaking("ru", dir, nil)
		if _, err := r.Model(); err == nil || !strings.Contains(r.Text(), "multilingual-e5-small") && !strings.Contains(r.Text(), embed.LibraryName()) {
			t.Errorf("without files: %v, %s", err, r.Text())
		}
		assets(t, dir, embed.LibraryName(), "e5-small-v2/model.onnx", "e5-small-v2/tokenizer.json")
		wait := func() { time.Sleep(2 * lookAgain) }
		wait()
		if m, err := r.Model(); err != nil || m != "e5-small-v2" || !strings.Contains(r.Text(), "for multilingual-e5-small: klawbot assets pull") {
			t.Errorf("with the other model: %s, %v, %s", m, err, r.Text())
		}
		assets(t, dir, "multilingual-e5-small/model.onnx", "multilingual-e5-small/tokenizer.json")
		wait()
		if m, err := r.Model(); err != nil || m != "multilingual-e5-small" || r.Text() != "hybrid search, with multilingual-e5-small" {
			t.Errorf("with both: %s, %v, %s", m, err, r.Text())
		}
		if m, err := speaking("en", dir, nil).Model(); err != nil || m != "e5-small-v2" {
			t.Errorf("English: %s, %v", m, err)
		}
	})
}

// TestAdviceForTextsInOtherLanguages: it comes when most texts are, and the model is
// for English.
func TestAdviceForTextsInOtherLanguages(t *testing.T) {
	dir := t.TempDir()
	assets(t, dir, embed.LibraryName(), "e5-small-v2/model.onnx", "e5-small-v2/tokenizer.json", "multilingual-e5-small/model.onnx", "multilingual-e5-small/tokenizer.json")
	db, err := store.Open(t.Context(), store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	open := func() (*store.Store, error) { return db, nil }
	r := speaking("en", dir, open)
	add := func(n int, text string) {
		t.Helper()
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			for range n {
				if _, _, _, err := memory.Save(tx, store.Memory{Content: text, Source: "test"}, memory.ChunkSize{Size: 400}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(30, "The key is in the box")
	add(19, "Der Schlüssel ist in der Kiste und nicht im Haus")
	if got := r.Advice(t.Context(), db); got != "" {
		t.Errorf("advice for English: %s", got)
	}
	add(20, "Ключ в коробке")
	if got := r.Advice(t.Context(), db); !strings.Contains(got, "multilingual-e5-small") {
		t.Errorf("advice is %q", got)
	}
	if text, err := r.Stats(t.Context()); err != nil || !strings.Contains(text, "not English") {
		t.Errorf("stats: %s, %v", text, err)
	}
	if got := speaking("ru", dir, open).Advice(t.Context(), db); got != "" {
		t.Errorf("advice for the model of many languages: %s", got)
	}
}
