package recall

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/wait"
)

// slowModel takes a second for each step of passages, and for what it does first for
// questions.
type slowModel struct{ ready *bool }

func (slowModel) Name() string                                     { return "slow" }
func (slowModel) Dimensions(context.Context) (int, error)          { return 1, nil }
func (slowModel) Query(context.Context, string) ([]float32, error) { return []float32{1}, nil }

func (slowModel) Nearness(cosine float64) float64 { return cosine }

func (m slowModel) Centred(ctx context.Context, query []float32) ([]float32, error) {
	if !*m.ready && !wait.For(ctx, time.Second) {
		return nil, context.Cause(ctx)
	}
	*m.ready = true
	return query, nil
}

func (slowModel) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	if !wait.For(ctx, time.Second) {
		return nil, context.Cause(ctx)
	}
	made := make([][]float32, len(texts))
	for i := range made {
		made[i] = []float32{1}
	}
	return made, nil
}

// TestNearnessKeepsNobodyWaiting: on a machine that needs seconds for the vectors of the
// tools, a message does not wait for them, and a later one has them.
func TestNearnessKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &embedder{settings: func() settings.Embedding { return settings.Embedding{} }, model: slowModel{new(bool)}, opened: true, looked: time.Now()}
		r := New(Config{})
		r.embedder = e
		texts := make([]string, 3*passagesAtOnce)
		for i := range texts {
			texts[i] = strconv.Itoa(i)
		}
		began := time.Now()
		if near := r.Nearness(t.Context(), "hi", texts); near != nil || time.Since(began) != 0 {
			t.Errorf("after %s it is %v", time.Since(began), near)
		}
		<-time.After(5 * time.Second)
		if near := r.Nearness(t.Context(), "hi", texts); len(near) != len(texts) || near[0] != 1 {
			t.Errorf("later it is %v", near)
		}
	})
}

// TestCloseEndsWhatMakesVectors: a bot that is stopped after its first message does not go
// on making vectors.
func TestCloseEndsWhatMakesVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{})
		r.embedder = &embedder{settings: func() settings.Embedding { return settings.Embedding{} }, model: slowModel{new(bool)}, opened: true, looked: time.Now()}
		r.Nearness(t.Context(), "hi", make([]string, 20*passagesAtOnce))
		began := time.Now()
		if err := r.Close(); err != nil || time.Since(began) != 0 || r.passages.making.Load() {
			t.Errorf("closed after %s: %v, still making: %v", time.Since(began), err, r.passages.making.Load())
		}
	})
}

// TestNearnessFollowsTheModel: a model that replaces another one makes its own vectors, and
// more texts than are kept have theirs, too.
func TestNearnessFollowsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{})
		r.embedder = &embedder{settings: func() settings.Embedding { return settings.Embedding{} }, opened: true, looked: time.Now()}
		texts := make([]string, passagesKept+1)
		for i := range texts {
			texts[i] = strconv.Itoa(i)
		}
		for range 2 {
			r.embedder.mu.Lock()
			r.embedder.model = slowModel{new(bool)}
			r.embedder.mu.Unlock()
			if near := r.Nearness(t.Context(), "hi", texts); near != nil {
				t.Error("the vectors of another model are used")
			}
			<-time.After(4 * time.Minute)
			_ = r.Nearness(t.Context(), "hi", texts) // what two minutes did not make
			<-time.After(4 * time.Minute)
			if near := r.Nearness(t.Context(), "hi", texts); len(near) != len(texts) {
				t.Errorf("later there are %d", len(near))
			}
		}
	})
}

// choosyModel refuses a text, and whatever comes with it.
type choosyModel struct {
	slowModel
	not string
}

type refusal struct{}

func (refusal) Error() string { return "the server answers 400" }
func (refusal) Refusal() bool { return true }

func (m choosyModel) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	if slices.Contains(texts, m.not) {
		return nil, refusal{}
	}
	return m.slowModel.Passages(ctx, texts)
}

// TestRefusedToolIsTheOnlyOneWithoutAVector: a server that refuses the description of one
// tool compares all others.
func TestRefusedToolIsTheOnlyOneWithoutAVector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Log: slog.New(slog.DiscardHandler)})
		r.embedder = &embedder{settings: func() settings.Embedding { return settings.Embedding{} }, model: choosyModel{slowModel{new(bool)}, "0"}, opened: true, looked: time.Now()}
		texts := []string{"0", "1", "2"}
		_ = r.Nearness(t.Context(), "hi", texts)
		<-time.After(time.Minute)
		if near := r.Nearness(t.Context(), "hi", texts); !slices.Equal(near, []float64{0, 1, 1}) {
			t.Errorf("they are %v near", near)
		}
	})
}
