// Package embed turns texts into vectors with a sentence model, on this
// machine: the tokenizer of the model, its network through ONNX Runtime, the
// mean (or the first) of what comes out, brought to length 1. The cosine of two
// vectors is then their dot product.
//
// A Model is loaded with the first text and released after a while without one,
// because its network takes about 80 MB. A folder of a model holds model.onnx
// and tokenizer.json, and may hold the files of the Sentence-Transformers
// layout that say how to pool and which prefixes to use.
package embed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Config says what a Model is made of.
type Config struct {
	// Runtime is the file of the ONNX Runtime library.
	Runtime string
	// Dir is the folder of the model.
	Dir string
	// Recipe says how its texts are made ready.
	Recipe Recipe
	// Threads bounds the threads of one computation; 0 means all processors, at
	// most 4.
	Threads int
	// Idle is how long an unused model stays loaded; 0 means 10 minutes.
	Idle time.Duration
}

// Model turns texts into vectors. It may be used from several goroutines; it
// computes for one at a time.
type Model struct {
	config Config

	mu      sync.Mutex // held while loading, computing and releasing
	tokens  tokenizer
	network *network
	release *time.Timer
	closed  bool
}

// New returns a Model. It looks at nothing yet: what is wrong with its files is
// the error of the first use.
func New(c Config) *Model {
	if c.Threads == 0 {
		c.Threads = min(runtime.NumCPU(), 4)
	}
	if c.Idle == 0 {
		c.Idle = 10 * time.Minute
	}
	return &Model{config: c}
}

// errClosed is what a Model says after Close.
var errClosed = errors.New("embed: the model is closed")

// Query returns the vector of a text that is looked for.
func (m *Model) Query(ctx context.Context, text string) ([]float32, error) {
	all, err := m.vectors(ctx, []string{m.config.Recipe.QueryPrefix + text})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Passages returns the vectors of texts that are to be found, in their order.
// When ctx ends it returns soon, with its error.
func (m *Model) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	ready := make([]string, len(texts))
	for i, t := range texts {
		ready[i] = m.config.Recipe.PassagePrefix + t
	}
	return m.vectors(ctx, ready)
}

// Dimensions is the length of the vectors. It loads the model.
func (m *Model) Dimensions(ctx context.Context) (int, error) {
	v, err := m.Query(ctx, "")
	return len(v), err
}

// Close releases the model for good.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.unload()
}

func (m *Model) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	m.release.Reset(m.config.Idle)
	encoded := make([][]int64, len(texts))
	for i, t := range texts {
		encoded[i] = m.tokens.encode(t, m.config.Recipe.MaxTokens)
	}
	all := make([][]float32, len(texts))
	for batch := range batches(encoded) {
		if err := m.network.run(ctx, encoded, batch, m.config.Recipe.Pooling, all); err != nil {
			return nil, fmt.Errorf("embed with %s: %w", filepath.Base(m.config.Dir), err)
		}
	}
	return all, nil
}

// load makes the model ready. The caller holds mu.
func (m *Model) load(ctx context.Context) error {
	switch {
	case m.closed:
		return errClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case m.network != nil:
		return nil
	}
	var err error
	if m.tokens, err = readTokenizer(m.config.Dir); err != nil {
		return fmt.Errorf("load the embedding model: %w", err)
	}
	if m.network, err = openNetwork(m.config.Runtime, filepath.Join(m.config.Dir, "model.onnx"), m.config.Threads); err != nil {
		m.tokens = nil
		return fmt.Errorf("load the embedding model: %w", err)
	}
	m.release = time.AfterFunc(m.config.Idle, m.idle)
	return nil
}

// idle releases a model that nobody used for a while.
func (m *Model) idle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.unload() // there is nobody to tell, and the next use loads it anew
}

// unload gives the memory back. The caller holds mu.
func (m *Model) unload() error {
	if m.network == nil {
		return nil
	}
	m.release.Stop()
	err := m.network.close()
	m.network, m.tokens = nil, nil
	giveBack()
	return err
}
