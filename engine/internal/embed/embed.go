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

	// open loads the model.
	open func() (tokenizer, computer, error)

	// turn is held while loading, computing a batch and releasing. It is no mutex,
	// so that waiting for it ends with a context.
	turn    chan struct{}
	tokens  tokenizer   // guarded by turn, like all that follows
	network computer    // nil when it is not loaded
	release *time.Timer // of a loaded model
	used    time.Time   // for the last time
	means   [][]float32 // of ordinary queries, nil before they were asked for
	closed  bool
}

// computer turns batches of token ids into vectors.
type computer interface {
	run(ctx context.Context, texts [][]int64, batch []int, pooling Pooling, all [][]float32) error
	close() error
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
	m := &Model{config: c, turn: make(chan struct{}, 1)}
	m.open = m.openFiles
	return m
}

// errClosed is what a Model says after Close.
var errClosed = errors.New("embed: the model is closed")

// ErrUnread is the error of Query for a text that the model cannot read: its
// vocabulary lacks at least half of it, as that of an English model does of Chinese.
// The vector would say nothing.
var ErrUnread = errors.New("the embedding model cannot read the text")

// Query returns the vector of a text that is looked for, or ErrUnread.
func (m *Model) Query(ctx context.Context, text string) ([]float32, error) {
	prefix := m.config.Recipe.QueryPrefix
	encoded, unread, err := m.encode(ctx, []string{prefix, prefix + text})
	if err != nil {
		return nil, err
	}
	if own := len(encoded[1]) - len(encoded[0]); own > 0 && 2*(unread[1]-unread[0]) >= own {
		return nil, ErrUnread
	}
	all, err := m.vectors(ctx, encoded[1:])
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
	encoded, _, err := m.encode(ctx, ready)
	if err != nil {
		return nil, err
	}
	return m.vectors(ctx, encoded)
}

// Dimensions is the length of the vectors. It loads the model.
func (m *Model) Dimensions(ctx context.Context) (int, error) {
	v, err := m.Query(ctx, "")
	return len(v), err
}

// Nearness is what the cosine of a centred query and a passage says, see Recipe.
func (m *Model) Nearness(cosine float64) float64 { return m.config.Recipe.Nearness(cosine) }

// Close releases the model for good.
func (m *Model) Close() error {
	m.turn <- struct{}{}
	defer m.leave()
	m.closed = true
	return m.unload()
}

// vectors computes batch by batch, and lets others in between: a question does
// not wait for all that is to be found.
func (m *Model) vectors(ctx context.Context, encoded [][]int64) ([][]float32, error) {
	all := make([][]float32, len(encoded))
	for batch := range batches(encoded) {
		if err := m.compute(ctx, encoded, batch, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// take waits for the turn.
func (m *Model) take(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Model) leave() { <-m.turn }

// encode returns the ids of each text, and how many of them stand for what the
// vocabulary lacks.
func (m *Model) encode(ctx context.Context, texts []string) (encoded [][]int64, unread []int, err error) {
	if err := m.take(ctx); err != nil {
		return nil, nil, err
	}
	defer m.leave()
	if err := m.load(ctx); err != nil {
		return nil, nil, err
	}
	encoded, unread = make([][]int64, len(texts)), make([]int, len(texts))
	for i, t := range texts {
		encoded[i] = m.tokens.encode(t, m.config.Recipe.MaxTokens)
		for _, id := range encoded[i] {
			if id == m.tokens.unread() {
				unread[i]++
			}
		}
	}
	return encoded, unread, nil
}

func (m *Model) compute(ctx context.Context, encoded [][]int64, batch []int, all [][]float32) error {
	if err := m.take(ctx); err != nil {
		return err
	}
	defer m.leave()
	if err := m.load(ctx); err != nil {
		return err
	}
	defer func() { m.used = time.Now() }()
	if err := m.network.run(ctx, encoded, batch, m.config.Recipe.Pooling, all); err != nil {
		return fmt.Errorf("embed with %s: %w", filepath.Base(m.config.Dir), err)
	}
	return nil
}

// load makes the model ready. The caller has the turn.
func (m *Model) load(ctx context.Context) error {
	switch {
	case m.closed:
		return errClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case m.network != nil:
		return nil
	}
	tokens, network, err := m.open()
	if err != nil {
		return fmt.Errorf("load the embedding model (klawbot assets status tells whether its files are whole): %w", err)
	}
	m.tokens, m.network, m.used = tokens, network, time.Now()
	m.release = time.AfterFunc(m.config.Idle, m.idle)
	return nil
}

// openFiles loads the model from its folder.
func (m *Model) openFiles() (tokenizer, computer, error) {
	tokens, err := readTokenizer(m.config.Dir)
	if err != nil {
		return nil, nil, err
	}
	n, err := openNetwork(m.config.Runtime, filepath.Join(m.config.Dir, "model.onnx"), m.config.Threads)
	if err != nil {
		return nil, nil, err
	}
	return tokens, n, nil
}

// idle releases a model that was not used for a while.
func (m *Model) idle() {
	m.turn <- struct{}{}
	defer m.leave()
	if m.network == nil {
		return
	}
	if left := m.config.Idle - time.Since(m.used); left > 0 {
		m.release.Reset(left)
		return
	}
	_ = m.unload() // the next use loads it again
}

// unload gives the memory back. The caller has the turn.
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
