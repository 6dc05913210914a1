package recall

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/memory"
)

const (
	// nearWithin is how long a message waits for its own vector.
	nearWithin = 150 * time.Millisecond
	// passagesAtOnce is how many vectors are made in one step. A question waits for one
	// step at most.
	passagesAtOnce = 8
	// passagesKept bounds the vectors that are kept.
	passagesKept = 1000
)

// passages are the vectors of texts that are compared again and again, such as what tools
// do. They are made when they are needed first.
type passages struct {
	mu     sync.Mutex
	model  memory.Embedder      // guarded by mu; whose they are
	known  map[string][]float32 // guarded by mu
	making atomic.Bool
}

// Nearness is how near each of some texts is to a question, about 0 for what has nothing
// to do with it. It is nil without an embedding model that knows the language, and until
// the texts have their vectors.
func (r *Memory) Nearness(ctx context.Context, question string, texts []string) []float64 {
	model, err := r.embedder.current()
	if err != nil || !knows(model.Name(), question) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nearWithin)
	defer cancel()
	vectors := r.vectorsOf(model, texts)
	if vectors == nil {
		return nil
	}
	query, err := r.embedder.Query(ctx, question)
	if err != nil || query == nil {
		return nil
	}
	if query, err = r.embedder.Centred(ctx, query); err != nil {
		return nil
	}
	near := make([]float64, len(texts))
	for i, v := range vectors {
		if len(v) != len(query) && len(v) > 0 {
			return nil // the model has changed in between
		}
		for k := range v {
			near[i] += float64(v[k]) * float64(query[k])
		}
	}
	return near
}

// knows reports whether a model knows the language of a text: those that are made for
// English know no other letters.
func knows(model, text string) bool {
	if model != embed.DefaultModel && model != "all-minilm-l6-v2" {
		return true
	}
	latin, other := 0, 0
	for _, c := range text {
		switch {
		case unicode.Is(unicode.Latin, c):
			latin++
		case unicode.IsLetter(c):
			other++
		}
	}
	return latin > other
}

// vectorsOf are the vectors of texts, nil as long as some are missing. These are made
// beside the turn: on a small machine they take longer than a person would wait.
func (r *Memory) vectorsOf(model memory.Embedder, texts []string) [][]float32 {
	p := &r.passages
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.model != model || len(p.known) > max(passagesKept, 2*len(texts)) {
		p.model, p.known = model, map[string][]float32{}
	}
	all, missing := make([][]float32, len(texts)), []string(nil)
	for i, text := range texts {
		if all[i] = p.known[text]; all[i] == nil {
			missing = append(missing, strings.Clone(text))
		}
	}
	if len(missing) == 0 {
		return all
	}
	if p.making.CompareAndSwap(false, true) {
		r.work.Go(func() { r.makeVectors(model, missing) })
	}
	return nil
}

// makeVectors makes the vectors of texts, until Close.
func (r *Memory) makeVectors(model memory.Embedder, texts []string) {
	p := &r.passages
	defer p.making.Store(false)
	ctx, cancel := context.WithTimeout(r.life, 2*time.Minute) // a server may not answer
	defer cancel()
	for batch := range slices.Chunk(texts, passagesAtOnce) {
		made, err := memory.Passages(ctx, model, batch, r.config.Log)
		if err == nil && len(made) > 0 {
			_, err = r.embedder.Centred(ctx, made[0]) // the first one takes as long as many texts
		}
		p.mu.Lock()
		if err != nil || len(made) != len(batch) || p.model != model {
			p.mu.Unlock()
			return // the next question tries again
		}
		for i, text := range batch {
			p.known[text] = append([]float32{}, made[i]...) // empty for one that was refused
		}
		p.mu.Unlock()
	}
}
