package recall

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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
	if language == "en" {
		s.Memory.Embedding.Foreign = embed.Multilingual
	}
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

// texts is a database with the means to add memories to it.
func texts(t *testing.T, dir string) (db *store.Store, add func(n int, text string)) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, func(n int, text string) {
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
}

// english and german are texts whose language shows.
const (
	english = "The key is in the box"
	german  = "Der Schlüssel ist in der Kiste und nicht im Haus"
)

// TestModelForTextsInOtherLanguages: the automatic choice follows most of the texts once
// its files are there, and until then the model before works on.
func TestModelForTextsInOtherLanguages(t *testing.T) {
	dir := t.TempDir()
	assets(t, dir, embed.LibraryName(), "e5-small-v2/model.onnx", "e5-small-v2/tokenizer.json")
	db, add := texts(t, dir)
	model := func(r *Memory, want, text string) {
		t.Helper()
		if m, err := r.Model(); err != nil || m != want || r.Text() != text {
			t.Errorf("%s, %v: %s", m, err, r.Text())
		}
	}
	r := speaking("en", dir, func() (*store.Store, error) { return db, nil })
	choose := func() {
		t.Helper()
		if err := r.choose(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	add(15, english)
	add(14, german)
	choose()
	model(r, "e5-small-v2", "hybrid search, with e5-small-v2")
	add(20, "Ключ в коробке")
	if got := r.Advice(t.Context(), db); !strings.Contains(got, "from the next start, after klawbot assets pull") {
		t.Errorf("since the start: %q", got)
	}
	choose()
	waits := "hybrid search, with e5-small-v2, which is for English; for multilingual-e5-small (most of your texts are not English): klawbot assets pull"
	model(r, "e5-small-v2", waits)
	command := speaking("en", dir, func() (*store.Store, error) { return db, nil })
	if text, err := command.Stats(t.Context()); err != nil || !strings.HasSuffix(text, waits) {
		t.Errorf("a command says %s, %v", text, err)
	}
	assets(t, dir, "multilingual-e5-small/model.onnx", "multilingual-e5-small/tokenizer.json")
	r.embedder.looked = time.Time{}
	model(r, "multilingual-e5-small", "hybrid search, with multilingual-e5-small")
	if got := r.Advice(t.Context(), db); got != "" {
		t.Errorf("advice for the model of many languages: %s", got)
	}
	add(60, english) // twice as many as others
	choose()
	model(r, "multilingual-e5-small", "hybrid search, with multilingual-e5-small")
	add(50, english)
	choose()
	model(r, "e5-small-v2", "hybrid search, with e5-small-v2")
}

// TestChoiceIsMadeAtTheStart: a running bot chooses by itself and stores its choice.
func TestChoiceIsMadeAtTheStart(t *testing.T) {
	dir := t.TempDir()
	assets(t, dir, embed.LibraryName(), "e5-small-v2/model.onnx", "e5-small-v2/tokenizer.json", "multilingual-e5-small/model.onnx", "multilingual-e5-small/tokenizer.json")
	db, add := texts(t, dir)
	add(12, german)
	for _, language := range []string{"en", "ru"} {
		r := speaking(language, dir, func() (*store.Store, error) { return db, nil })
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx, db) })
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			if m, _ := r.Model(); m == "multilingual-e5-small" {
				break
			}
			runtime.Gosched()
		}
		if m, err := r.Model(); err != nil || m != "multilingual-e5-small" {
			t.Errorf("%s: %s, %v", language, m, err)
		}
		stop()
		running.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if before, now, err := mostlyForeign(t.Context(), db); err != nil || !before || !now {
		t.Errorf("stored %v, now %v, %v", before, now, err)
	}
}

// TestAdviceForAChosenModel: who named the model for English is told that most texts are
// in other languages.
func TestAdviceForAChosenModel(t *testing.T) {
	dir := t.TempDir()
	assets(t, dir, embed.LibraryName(), "e5-small-v2/model.onnx", "e5-small-v2/tokenizer.json")
	db, add := texts(t, dir)
	add(20, german)
	s := settings.Settings{Memory: settings.Memory{Embedding: settings.Embedding{Type: "onnx", Model: "e5-small-v2"}}}
	r := New(Config{Dir: dir, Assets: []string{dir}, Settings: func() settings.Settings { return s }, Open: func() (*store.Store, error) { return db, nil }, Log: slog.New(slog.DiscardHandler)})
	if text, err := r.Stats(t.Context()); err != nil || !strings.Contains(text, "set memory.embedding.model: auto, then run klawbot assets pull") {
		t.Errorf("stats: %s, %v", text, err)
	}
}
