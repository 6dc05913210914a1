// Package memory remembers and recalls: it keeps what can be found in chunks, by
// their words and by their vectors, and finds what fits a question best.
//
// The words are SQLite's FTS5 over stems; the vectors are those of a sentence
// model in sqlite-vec, with the signs of their numbers in memory for a quick
// first pass. A chunk can be found by its words as soon as its transaction is
// committed; its vector follows in the background. Messages become chunks in the
// transaction of their turn, see Index. Without an embedding model everything works
// by words alone.
package memory

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"klawbot/engine/internal/store"
)

// Embedder turns texts into vectors of length 1. It may be used from several
// goroutines.
type Embedder interface {
	// Name tells models apart whose vectors do not compare.
	Name() string
	// Dimensions is the length of the vectors.
	Dimensions(ctx context.Context) (int, error)
	// Query returns the vector of what is looked for.
	Query(ctx context.Context, text string) ([]float32, error)
	// Passages returns the vectors of what is to be found.
	Passages(ctx context.Context, texts []string) ([][]float32, error)
}

// NoEmbedderError is what an Embedder says when there is no model at all.
type NoEmbedderError struct{ Why error }

func (e *NoEmbedderError) Error() string { return "no embedding model: " + e.Why.Error() }

// Unwrap is why there is none.
func (e *NoEmbedderError) Unwrap() error { return e.Why }

// noEmbedder reports whether an error says that there is no model.
func noEmbedder(err error) bool {
	_, none := errors.AsType[*NoEmbedderError](err)
	return none
}

// Config is what New needs.
type Config struct {
	// Store is required.
	Store *store.Store
	// Embedder makes the vectors; nil is none.
	Embedder Embedder
	// Rest is called before the model is loaded for the index and before each batch
	// of vectors for it, and may wait while others need the processor; nil does not.
	Rest func(context.Context)
	// Fusion is asked how the sides come together; nil is FuseScores.
	Fusion func() Fusion
	// Log is required.
	Log *slog.Logger
}

// Memory finds what was kept. It may be used from several goroutines.
type Memory struct {
	store    *store.Store
	embedder Embedder
	rest     func(context.Context)
	fusion   func() Fusion
	log      *slog.Logger

	// searching is held for reading by each search, while it has the database open.
	searching sync.RWMutex

	mu    sync.Mutex
	set   store.VectorSetID // whose signs are loaded
	signs map[store.Kind]*signs
	// common are terms that some chunks have, and how many at least; "" is all chunks.
	// Guarded by mu.
	common map[string]tally
	quiet  bool // that the embedder fails was said
	asking bool // a late question is still being embedded. Guarded by mu.

	embedding sync.Mutex // one goroutine embeds
	cursor    struct {
		set  store.VectorSetID
		next store.ChunkID
	}
}

// New returns a Memory.
func New(c Config) *Memory {
	if c.Fusion == nil {
		c.Fusion = func() Fusion { return FuseScores }
	}
	if c.Rest == nil {
		c.Rest = func(context.Context) {}
	}
	return &Memory{store: c.Store, embedder: c.Embedder, rest: c.Rest, fusion: c.Fusion, log: c.Log, common: map[string]tally{}}
}

// Reload forgets what was read of the vectors, after a chat got another id. It waits
// for the searches that began before: they would read it again as it was.
func (m *Memory) Reload() {
	m.searching.Lock()
	defer m.searching.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set, m.signs = 0, nil
}

// vectorSet is the set of vectors that the embedder made, in use or not; found
// is false when it made none.
func (m *Memory) vectorSet(tx *store.Tx) (set store.VectorSet, found bool, err error) {
	sets, err := tx.Vectors().VectorSets()
	for _, s := range sets {
		if m.embedder != nil && s.Model == m.embedder.Name() {
			set, found = s, true
		}
	}
	return set, found, err
}

// nearest are the chunks of a kind whose vectors seem nearest, of the chats of a scope
// and of those that allow lets pass, if it is there: at most times the limit.
func (m *Memory) nearest(tx *store.Tx, set store.VectorSet, kind store.Kind, vector []float32, s store.Scope, times int, allow func(store.ChunkID) bool) (near []sign, limit int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.set != set.ID || m.signs == nil {
		m.set, m.signs = set.ID, map[store.Kind]*signs{}
	}
	known := m.signs[kind]
	if known == nil {
		known = newSigns(set.Dimensions)
		m.signs[kind] = known
	}
	if err := tx.Vectors().EachBits(set.ID, kind, known.last, known.add); err != nil {
		return nil, 0, err
	}
	last, err := tx.Vectors().LastBits()
	if err != nil {
		return nil, 0, err
	}
	open := func(c chat) bool {
		mine := c == chat{s.Channel, s.Chat}
		shared := c.channel == ""
		switch {
		case s.Channel != "":
			return mine || s.Shared && shared
		case s.Shared:
			return shared
		}
		return true
	}
	limit = max(vectorCandidates, len(known.chunks)/manyAlike)
	return known.through(last).nearest(vector, times*limit, open, allow), limit, nil
}

// manyVectors reports whether the signs of many vectors are loaded.
func (m *Memory) manyVectors() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.signs {
		n += len(s.chunks)
	}
	return n > manyVectors
}

// drop forgets the signs of chunks that are gone.
func (m *Memory) drop(kind store.Kind, gone map[store.ChunkID]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.signs[kind]; known != nil {
		known.drop(gone)
	}
}
