package memory_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// slow is a bag that takes its time until it is let go.
type slow struct {
	bag
	free chan struct{}
}

func (s slow) Query(ctx context.Context, text string) ([]float32, error) {
	<-s.free
	return s.bag.Query(ctx, text)
}

func TestAQuestionWithPatienceGoesByWordsWhileItsVectorIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		save(t, s, store.Memory{Key: "k", Content: "the boiler is broken"})
		free := make(chan struct{})
		m := newMemory(s, slow{bag{"test"}, free})
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		cosine := func(text string) float64 {
			hits, err := m.Search(t.Context(), memory.Query{Text: text, Patience: time.Second})
			if err != nil || len(hits) != 1 {
				t.Fatalf("%q finds %d, %v", text, len(hits), err)
			}
			return hits[0].Cosine
		}
		began := time.Now()
		if got := cosine("boiler"); got != 0 || time.Since(began) != time.Second {
			t.Errorf("cosine %v after %v, want words alone after a second", got, time.Since(began))
		}
		if got := cosine("boiler"); got != 0 || time.Since(began) != time.Second {
			t.Errorf("cosine %v after %v: the next one waits for the vector of another", got, time.Since(began))
		}
		close(free)
		synctest.Wait()
		if got := cosine("boiler"); got == 0 {
			t.Error("words alone decide although the model is quick")
		}
	})
}

// loading is a bag that calls loaded when it is loaded.
type loading struct {
	bag
	loaded func()
}

func (l loading) Dimensions(ctx context.Context) (int, error) {
	l.loaded()
	return l.bag.Dimensions(ctx)
}

func TestTheModelIsLoadedForTheIndexWhenTurnsLetIt(t *testing.T) {
	s := openStore(t)
	save(t, s, store.Memory{Key: "k", Content: "the boiler is broken"})
	var order []string
	m := memory.New(memory.Config{
		Store: s, Embedder: loading{bag{"test"}, func() { order = append(order, "load") }},
		Rest: func(context.Context) { order = append(order, "rest") }, Log: slog.New(slog.DiscardHandler),
	})
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"rest", "load", "rest"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}
