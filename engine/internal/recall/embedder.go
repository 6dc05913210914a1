package recall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/memory"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
)

// lookAgain is how often missing files of a model are looked for.
const lookAgain = 15 * time.Second

// embedder is the sentence model that the settings name. It follows them, and
// loads a model only when it is used.
type embedder struct {
	settings func() settings.Embedding
	assets   []string
	http     *http.Client
	secrets  *redact.Set

	// foreign says that most stored texts are not English, see settings.Embedding.
	foreign atomic.Bool

	mu     sync.Mutex
	now    settings.Embedding // guarded by mu
	model  memory.Embedder    // guarded by mu; nil when there is none
	why    error              // guarded by mu; why there is none
	looked time.Time          // guarded by mu; when it was looked for last
	opened bool               // guarded by mu; that it was looked for
	// missing is the model that the fallback replaces, "" for none. Guarded by mu.
	missing string
	last    queried // guarded by mu
}

// queried is the vector of the last query: a message is looked for among tools and
// memories.
type queried struct {
	model  memory.Embedder
	text   string
	vector []float32
}

var _ memory.Embedder = (*embedder)(nil)

// current is the model. The error is a memory.NoEmbedderError.
func (e *embedder) current() (memory.Embedder, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	wanted := fitting(e.settings(), e.foreign.Load())
	again := false
	if time.Since(e.looked) > lookAgain {
		again = e.why != nil || e.missing != "" && e.arrived(wanted)
		e.looked = time.Now()
	}
	if !e.opened || wanted != e.now || again {
		_ = e.release() // a model that is not wanted any more has nothing to say
		e.model, e.why = e.open(wanted)
		e.now, e.opened = wanted, true
	}
	return e.model, e.why
}

// misses is the model that the fallback replaces, "" for none.
func (e *embedder) misses() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.missing
}

// open makes a model of the settings; it does not load it.
func (e *embedder) open(s settings.Embedding) (memory.Embedder, error) {
	switch s.Type {
	case "onnx":
		return e.openHere(s)
	case "openai":
		remote := embed.NewRemote(embed.RemoteConfig{HTTP: e.http, BaseURL: s.BaseURL, APIKey: s.APIKey, Model: s.Model})
		return discreetEmbedder{remote, e.secrets}, nil
	}
	return nil, &memory.NoEmbedderError{Why: errEmbeddingsOff}
}

// errEmbeddingsOff: the owner wants none.
var errEmbeddingsOff = errors.New("embeddings are off (memory.embedding.type)")

// openHere makes the model of the settings, or their fallback while its files are
// missing.
func (e *embedder) openHere(s settings.Embedding) (memory.Embedder, error) {
	e.missing = ""
	m, err := e.openModel(s, s.Model)
	if s.Fallback == "" || !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	other, none := e.openModel(s, s.Fallback)
	if none != nil {
		return nil, err
	}
	e.missing = s.Model
	return other, nil
}

// arrived reports whether the files of the missing model are there now.
func (e *embedder) arrived(s settings.Embedding) bool {
	_, _, err := embed.Places{Runtime: s.Runtime, Model: s.Path, Dirs: e.assets}.Find(e.missing)
	return err == nil
}

func (e *embedder) openModel(s settings.Embedding, name string) (memory.Embedder, error) {
	places := embed.Places{Runtime: s.Runtime, Model: s.Path, Dirs: e.assets}
	if strings.ContainsAny(name, `/\`) {
		places.Model, name = name, filepath.Base(name)
	}
	library, dir, err := places.Find(name)
	if err != nil {
		return nil, &memory.NoEmbedderError{Why: err}
	}
	recipe, err := embed.ReadRecipe(name, dir)
	if err != nil {
		return nil, &memory.NoEmbedderError{Why: fmt.Errorf("the embedding model %s: %w", name, err)}
	}
	return named{embed.New(embed.Config{Runtime: library, Dir: dir, Recipe: recipe}), name}, nil
}

// named is a model of this machine under its name.
type named struct {
	*embed.Model
	name string
}

// Name is the name of the model.
func (n named) Name() string { return n.name }

// Name is the model's name, empty when there is none.
func (e *embedder) Name() string {
	m, err := e.current()
	if err != nil {
		return ""
	}
	return m.Name()
}

// Dimensions is the length of the model's vectors.
func (e *embedder) Dimensions(ctx context.Context) (int, error) {
	m, err := e.current()
	if err != nil {
		return 0, err
	}
	return m.Dimensions(ctx)
}

// Query is the vector of what is looked for, nil for what the model cannot read.
func (e *embedder) Query(ctx context.Context, text string) ([]float32, error) {
	m, err := e.current()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	last, known := e.last, e.last.text == text && e.last.model == m
	e.mu.Unlock()
	if known {
		return last.vector, nil
	}
	v, err := m.Query(ctx, text)
	if errors.Is(err, embed.ErrUnread) {
		return nil, nil
	}
	if err == nil {
		e.mu.Lock()
		e.last = queried{m, text, v}
		e.mu.Unlock()
	}
	return v, err
}

// Passages are the vectors of what is to be found.
func (e *embedder) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	m, err := e.current()
	if err != nil {
		return nil, err
	}
	return m.Passages(ctx, texts)
}

// nearing is a model that knows what its cosines say.
type nearing interface {
	Centred(ctx context.Context, query []float32) ([]float32, error)
	Nearness(cosine float64) float64
}

// Centred is the vector of a query without what the model gives all queries, of a
// model that does not know the vector itself.
func (e *embedder) Centred(ctx context.Context, query []float32) ([]float32, error) {
	m, err := e.current()
	if err != nil {
		return nil, err
	}
	if n, ok := m.(nearing); ok {
		return n.Centred(ctx, query)
	}
	return query, nil
}

// Nearness is what the cosine with a centred query says, of other models the cosine
// itself.
func (e *embedder) Nearness(cosine float64) float64 {
	m, err := e.current()
	if n, ok := m.(nearing); err == nil && ok {
		return n.Nearness(cosine)
	}
	return cosine
}

// Close releases the model.
func (e *embedder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.release()
}

// release gives the model's memory back. The caller holds mu.
func (e *embedder) release() error {
	if c, ok := e.model.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// discreetEmbedder is the sentence model of a server, which is told none of the
// known secrets.
type discreetEmbedder struct {
	memory.Embedder
	secrets *redact.Set
}

// Query is the vector of a text without the known secrets.
func (e discreetEmbedder) Query(ctx context.Context, text string) ([]float32, error) {
	return e.Embedder.Query(ctx, e.secrets.Known(text))
}

// Passages are the vectors of texts without the known secrets.
func (e discreetEmbedder) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	clean := make([]string, len(texts))
	for i, text := range texts {
		clean[i] = e.secrets.Known(text)
	}
	return e.Embedder.Passages(ctx, clean)
}
