// Package recall is the memory at work: it brings what was said, kept and written
// into the index while the bot runs, and is what the tools, the prompts and the
// command line find it with. How things are found is the job of package memory.
package recall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
	"klawbot/internal/wait"
	"klawbot/tools/guide"
	"klawbot/tools/injection"
	recalltools "klawbot/tools/recall"
)

// Config is what New needs.
type Config struct {
	// Dir is the data directory, Workspace the one of the memory files.
	Dir, Workspace string
	Settings       func() settings.Settings
	// Open returns the database, or why there is none.
	Open func() (*store.Store, error)
	// Manual holds the pages that are found, nil for none.
	Manual fs.FS
	// Assets are the folders of the embedding models, HTTP asks those of a server,
	// which gets none of the secrets in Redact.
	Assets []string
	HTTP   *http.Client
	Redact *redact.Set
	// LookEvery is how often a running bot looks at the memory files; 0 means 10 seconds.
	LookEvery time.Duration
	Log       *slog.Logger
}

// Memory lends the memory to the tools, the chats and the command line.
type Memory struct {
	// Chats is the core memory.
	*corememory.Chats
	// Idle knows whether turns run. Vectors are made between them.
	Idle wait.Idle

	config   Config
	embedder *embedder
	files    *memory.Files
	sections func() ([]memory.Section, error) // of the manual
	// messages wakes the goroutine that indexes messages, waiting the one
	// that embeds.
	messages, waiting chan struct{}
	// docs wakes the one that indexes the manual.
	docs chan struct{}
	// running says that Run keeps the index up to date.
	running atomic.Bool
	chosen  time.Time // when Run chose the embedding model

	passages passages
	// life ends with stop, and work is what Close waits for.
	life context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu    sync.Mutex
	built *memory.Memory // guarded by mu
	of    *store.Store   // guarded by mu; the database of built
}

var _ recalltools.Memory = (*Memory)(nil)

// New makes the memory of a data directory. It opens nothing.
func New(c Config) *Memory {
	r := &Memory{
		config: c, Chats: corememory.NewChats(c.Dir, c.Log),
		embedder: &embedder{settings: func() settings.Embedding { return c.Settings().Memory.Embedding }, assets: c.Assets, http: c.HTTP, secrets: c.Redact},
		messages: make(chan struct{}, 1), waiting: make(chan struct{}, 1), docs: make(chan struct{}, 1),
		sections: sync.OnceValues(func() ([]memory.Section, error) { return sectionsOf(c.Manual) }),
	}
	r.life, r.stop = context.WithCancel(context.Background())
	r.files = &memory.Files{Workspace: c.Workspace, Size: r.ChunkSize}
	return r
}

// sectionsOf are the sections of the manual.
func sectionsOf(manual fs.FS) ([]memory.Section, error) {
	if manual == nil {
		return nil, nil
	}
	all, err := guide.Sections(manual)
	sections := make([]memory.Section, len(all))
	for i, s := range all {
		sections[i] = memory.Section(s)
	}
	return sections, err
}

// ChunkSize says how texts are cut, as the settings are now.
func (r *Memory) ChunkSize() memory.ChunkSize {
	s := r.config.Settings().Memory
	if s.ChunkSize == 0 {
		return memory.ChunkSize{Size: 400, Overlap: 80}
	}
	return memory.ChunkSize{Size: s.ChunkSize, Overlap: s.ChunkOverlap}
}

// In is the memory in a database.
func (r *Memory) In(db *store.Store) *memory.Memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of != db {
		fusion := func() memory.Fusion { return memory.Fusion(r.config.Settings().Memory.Fusion) }
		rest := func(ctx context.Context) { r.Idle.Wait(ctx, embedAfter, embedAtLast) }
		r.built, r.of = memory.New(memory.Config{Store: db, Embedder: r.embedder, Rest: rest, Fusion: fusion, Log: r.config.Log}), db
	}
	return r.built
}

// ImportUser takes the facts of USER.md over into the core memory, once.
func (r *Memory) ImportUser() {
	text, err := r.File("USER.md", "")
	if err != nil {
		return // there is none
	}
	if v := injection.Text(text); v.Level == injection.Block {
		r.config.Log.Warn("USER.md not taken over into the core memory: it looks like an injection", "found", strings.Join(v.Rules(), ", "))
		return
	}
	taken, err := r.CoreFile().ImportUser(text)
	switch {
	case err != nil:
		r.config.Log.Warn("USER.md not taken over into the core memory", "err", err)
	case taken > 0:
		r.config.Log.Info("USER.md taken over into the core memory", "facts", taken)
	}
}

// Stats say what the memory holds.
func (r *Memory) Stats(ctx context.Context) (string, error) {
	db, err := r.config.Open()
	if errors.Is(err, store.ErrNotFound) {
		return r.Text(), nil
	}
	if err != nil {
		return "", err
	}
	r.Choose(ctx, db)
	var n store.MemoryCount
	err = db.Read(ctx, func(tx *store.Tx) error {
		n, err = tx.Memories().CountMemory()
		return err
	})
	return fmt.Sprintf("%d memories, %d pieces of texts to be found, %d of them with a vector; %s", n.Memories, n.Chunks, n.Vectors, strings.TrimSuffix(r.Text()+"; "+r.Advice(ctx, db), "; ")), err
}

// Model is the name of the model that does semantic search, or why there is none.
func (r *Memory) Model() (string, error) {
	m, err := r.embedder.current()
	if err != nil {
		return "", err
	}
	return m.Name(), nil
}

// Text says how the memory searches. Without a model it names what brings one to an
// owner who wants it.
func (r *Memory) Text() string {
	model, err := r.Model()
	switch {
	case errors.Is(err, errEmbeddingsOff):
		return fmt.Sprintf("keyword search only (%v)", err)
	case err != nil:
		return fmt.Sprintf("keyword search only (%v): klawbot assets pull", err)
	}
	if missing := r.embedder.misses(); missing != "" {
		why := ""
		if r.embedder.foreign.Load() {
			why = " (most of your texts are not English)"
		}
		return fmt.Sprintf("hybrid search, with %s, which is for English; for %s%s: klawbot assets pull", model, missing, why)
	}
	return "hybrid search, with " + model
}

// FilesLeftOut are the memory files that no search finds.
func (r *Memory) FilesLeftOut() []string { return r.files.LeftOut() }

// Close releases the embedding model.
func (r *Memory) Close() error {
	r.stop()
	r.work.Wait()
	return r.embedder.Close()
}

// announce says once how the memory searches.
func (r *Memory) announce() {
	model, err := r.Model()
	if err != nil {
		r.config.Log.Info("memory uses keyword search only", "why", err)
		return
	}
	r.config.Log.Info("memory uses hybrid search", "model", model)
}
