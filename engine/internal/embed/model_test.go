package embed

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a computer that takes a while for each batch. Its vectors tell how many
// ids a text has.
type slow struct {
	took    time.Duration
	batches [][]int
	closed  atomic.Int32
}

func (s *slow) run(ctx context.Context, texts [][]int64, batch []int, _ Pooling, all [][]float32) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.batches = append(s.batches, slices.Clone(batch))
	time.Sleep(s.took)
	for _, i := range batch {
		all[i] = []float32{float32(len(texts[i]))}
	}
	return nil
}

func (s *slow) close() error { s.closed.Add(1); return nil }

// letters is a tokenizer with an id for each byte.
type letters struct{}

func (letters) encode(text string, limit int) []int64 { return make([]int64, min(len(text), limit)) }
func (letters) unread() int64                         { return -1 }

// slowModel is a model whose batches take a second, and how often it was loaded.
func slowModel(t *testing.T) (m *Model, s *slow, loads *int) {
	t.Helper()
	m, s, loads = New(Config{Dir: "m", Recipe: Recipe{MaxTokens: 512}, Idle: time.Minute}), &slow{took: time.Second}, new(int)
	m.open = func() (tokenizer, computer, error) { *loads++; return letters{}, s, nil }
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, s, loads
}

// odd is a tokenizer that can read all letters but x.
type odd struct{}

func (odd) encode(text string, limit int) []int64 {
	var ids []int64
	for _, r := range text {
		if ids = append(ids, 1); r == 'x' {
			ids[len(ids)-1] = 7
		}
	}
	return ids[:min(len(ids), limit)]
}

func (odd) unread() int64 { return 7 }

func TestModelSaysWhatItCannotRead(t *testing.T) {
	m, _, _ := slowModel(t)
	m.config.Recipe.QueryPrefix, m.open = "query: x", func() (tokenizer, computer, error) { return odd{}, &slow{}, nil }
	for text, want := range map[string]bool{"": true, "abc": true, "abx": true, "ax": false, "xxx": false} {
		if v, err := m.Query(t.Context(), text); errors.Is(err, ErrUnread) == want || (v != nil) != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	if v, err := m.Passages(t.Context(), []string{"xxx"}); err != nil || len(v) != 1 {
		t.Errorf("what is to be found: %v, %v", v, err)
	}
}

func TestModelIsReleasedWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s, loads := slowModel(t)
		ask := func() {
			t.Helper()
			if _, err := m.Query(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // it is used all the time
			ask()
			time.Sleep(50 * time.Second)
		}
		if *loads != 1 || s.closed.Load() != 0 {
			t.Errorf("loaded %d times and released %d times while it was used", *loads, s.closed.Load())
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if s.closed.Load() != 1 {
			t.Errorf("released %d times after a minute", s.closed.Load())
		}
		ask()
		if *loads != 2 {
			t.Errorf("loaded %d times, want once more", *loads)
		}
	})
}

// A computation that is longer than the idle time is no reason to release the
// model as it ends.
func TestModelIsNotReleasedAfterALongComputation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s, _ := slowModel(t)
		s.took = 3 * time.Minute
		if _, err := m.Query(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s.closed.Load() != 0 {
			t.Error("released as soon as it was done")
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if s.closed.Load() != 1 {
			t.Errorf("released %d times after a minute", s.closed.Load())
		}
	})
}

func TestPassagesEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s, _ := slowModel(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := m.Passages(ctx, make([]string, 10*maxBatchTexts))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(began); took != 3*time.Second || len(s.batches) != 3 {
			t.Errorf("it took %s and %d batches, want the end of the one that ran", took, len(s.batches))
		}
	})
}

func TestAQueryDoesNotWaitForAllPassages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, _ := slowModel(t)
		done := make(chan error, 1)
		go func() {
			_, err := m.Passages(t.Context(), make([]string, 10*maxBatchTexts))
			done <- err
		}()
		time.Sleep(500 * time.Millisecond)
		began := time.Now()
		if _, err := m.Query(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the query took %s", took)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
