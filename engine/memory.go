package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/internal/wait"
	"klawbot/tools/guide"
	"klawbot/tools/recall"
	"klawbot/tools/screen"
)

// RecallConfig is what New needs.
type RecallConfig struct {
	// Dir is the data folder, Workspace the one of the memory files.
	Dir, Workspace string
	Settings       func() settings.Settings
	// Open returns the database, or why there is none.
	Open func() (*store.Store, error)
	// Others reports whether a message of a private chat, 0 for a local one, holds
	// words of somebody else than its person.
	Others func(m store.Message, chat int64) bool
	// Manual holds the pages that are found, nil for none.
	Manual fs.FS
	// Assets are the folders of the embedding models, HTTP asks those of a server,
	// which gets none of the secrets in Redact.
	Assets []string
	HTTP   *http.Client
	Redact *redact.Set
	Log    *slog.Logger
}

// remembering lends the memory to the tools, the chats and the command line.
type remembering struct {
	// Idle knows whether turns run. Vectors are made between them.
	Idle wait.Idle

	config   RecallConfig
	embedder *embedder
	core     *corememory.Core
	screen   *corememory.Screen
	files    *memory.Files
	sections func() ([]memory.Section, error) // of the manual
	// messages wakes the goroutine that indexes what was said, waiting the one
	// that embeds.
	messages, waiting chan struct{}
	// docs wakes the one that indexes the manual.
	docs chan struct{}

	mu    sync.Mutex
	built *memory.Memory // guarded by mu
	of    *store.Store   // guarded by mu; the database of built
}

var _ recall.Memory = (*remembering)(nil)

// newRemembering makes the memory of a data folder. It opens nothing.
func newRemembering(c RecallConfig) *remembering {
	r := &remembering{
		config: c, core: corememory.NewCore(c.Dir), screen: corememory.NewScreen(c.Log),
		embedder: &embedder{settings: func() settings.Embedding { return c.Settings().Memory.Embedding }, assets: c.Assets, http: c.HTTP, secrets: c.Redact},
		messages: make(chan struct{}, 1), waiting: make(chan struct{}, 1), docs: make(chan struct{}, 1),
		sections: sync.OnceValues(func() ([]memory.Section, error) { return sectionsOf(c.Manual) }),
	}
	r.files = &memory.Files{Workspace: c.Workspace, Size: r.chunkSize}
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

// chunkSize says how texts are cut, as the settings are now.
func (r *remembering) chunkSize() memory.ChunkSize {
	s := r.config.Settings().Memory
	if s.ChunkSize == 0 {
		return memory.ChunkSize{Size: 400, Overlap: 80}
	}
	return memory.ChunkSize{Size: s.ChunkSize, Overlap: s.ChunkOverlap}
}

// memory is the memory in a database.
func (r *remembering) memory(db *store.Store) *memory.Memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of != db {
		fusion := func() memory.Fusion { return memory.Fusion(r.config.Settings().Memory.Fusion) }
		rest := func(ctx context.Context) { r.Idle.Wait(ctx, embedAfter, embedAtLast) }
		r.built, r.of = memory.New(memory.Config{Store: db, Embedder: r.embedder, Rest: rest, Fusion: fusion, Log: r.config.Log}), db
	}
	return r.built
}

// said says that messages were stored; their vectors are still to be made.
func (r *remembering) said() { wait.Signal(r.messages) }

// kept says that there is something to embed.
func (r *remembering) kept() { wait.Signal(r.waiting) }

// The pace of what the memory does by itself.
const (
	// refreshEvery is how often the memory files are looked at.
	refreshEvery = 10 * time.Second
	// docsAfter is when the manual is indexed that nobody has searched.
	docsAfter = time.Minute
	// indexAfter is the time between two looks for messages that were stored without
	// their index.
	indexAfter = 500 * time.Millisecond
	// Vectors are made when no turn has run for embedAfter; a bot that is never
	// quiet makes a batch of them every embedAtLast.
	embedAfter  = 3 * time.Second
	embedAtLast = time.Minute
	// embedAgain is the time after a failure.
	embedAgain = time.Minute
)

// run brings what is new into the index until ctx ends: messages, memory files, the
// manual, and the vectors of all of it.
func (r *remembering) run(ctx context.Context, db *store.Store) {
	r.announce()
	var working sync.WaitGroup
	working.Go(func() { r.embed(ctx, db) })
	working.Go(func() { r.indexDocs(ctx, db) })
	working.Go(func() { r.indexMessages(ctx, db) })
	for {
		changed, err := r.files.Refresh(ctx, db)
		if err != nil && ctx.Err() == nil {
			r.config.Log.Warn("memory files not read", "err", err)
		}
		if changed {
			r.kept()
		}
		if !wait.For(ctx, refreshEvery) {
			break
		}
	}
	working.Wait()
}

// importUser takes the facts of USER.md over into the core memory, once.
func (r *remembering) importUser() {
	text, err := r.File("USER.md", "")
	if err != nil {
		return // there is none
	}
	if v := screen.Text(text); v.Level == screen.Block {
		r.config.Log.Warn("USER.md not taken over into the core memory: it looks like an injection", "found", strings.Join(v.Rules(), ", "))
		return
	}
	taken, err := r.core.ImportUser(text)
	switch {
	case err != nil:
		r.config.Log.Warn("USER.md not taken over into the core memory", "err", err)
	case taken > 0:
		r.config.Log.Info("USER.md taken over into the core memory", "facts", taken)
	}
}

// index makes findable the messages that a transaction has stored, in it: the
// words are there when the message is. A message is worth more than its index, so
// that a fault of this one keeps nothing from being stored; indexMessages tries
// again and says what is wrong.
func (r *remembering) index(tx *store.Tx) error {
	_, err := tx.Try(func() error { return memory.Index(tx, findable, r.chunkSize()) })
	return err
}

// indexMessages makes findable what was stored without its index: by commands and
// older versions, or because the index could not be written.
func (r *remembering) indexMessages(ctx context.Context, db *store.Store) {
	for {
		r.catchUp(ctx, db)
		select {
		case <-ctx.Done():
			return
		case <-r.messages:
		}
		if !wait.For(ctx, indexAfter) {
			return
		}
	}
}

// catchUp makes findable what was said and is not yet.
func (r *remembering) catchUp(ctx context.Context, db *store.Store) {
	err := r.memory(db).CatchUp(ctx, findable, r.chunkSize())
	if err != nil && ctx.Err() == nil {
		r.config.Log.Error("messages not indexed", "err", err)
	}
	r.kept()
}

// findable reports whether the messages of a session are for history_search: those
// of jobs are no chats.
func findable(a gateway.Address) bool { return a.Chat.Channel != store.JobChannel }

// embed gives what is new its vectors.
func (r *remembering) embed(ctx context.Context, db *store.Store) {
	failed := ""
	for {
		err := r.memory(db).Embed(ctx, nil)
		if err != nil && ctx.Err() == nil {
			if err.Error() != failed { // said once
				r.config.Log.Warn("no vectors made, search goes by words", "err", err)
				failed = err.Error()
			}
			if !wait.For(ctx, embedAgain) {
				return
			}
			continue
		}
		failed = ""
		select {
		case <-ctx.Done():
			return
		case <-r.waiting:
		}
	}
}

// indexDocs brings the manual into the index, once for each version.
func (r *remembering) indexDocs(ctx context.Context, db *store.Store) {
	select {
	case <-ctx.Done():
		return
	case <-r.docs:
	case <-time.After(docsAfter):
	}
	sections, err := r.sections()
	if err == nil && len(sections) > 0 {
		err = r.memory(db).IndexDocs(ctx, sections, r.chunkSize())
	}
	if err != nil && ctx.Err() == nil {
		r.config.Log.Error("manual not indexed", "err", err)
	}
	r.kept()
}

// SearchDocs finds sections of the manual; ready is false while they are not in
// the index.
func (r *remembering) SearchDocs(ctx context.Context, query string, topK int) (found []guide.Section, ready bool, err error) {
	db, err := r.config.Open()
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	sections, err := r.sections()
	if err != nil {
		return nil, false, err
	}
	m := r.memory(db)
	if ready, err = m.DocsIndexed(ctx, sections); err != nil || !ready {
		wait.Signal(r.docs)
		return nil, false, err
	}
	hits, err := m.Search(ctx, memory.Query{Text: query, TopK: topK, Scope: store.Scope{Kinds: []store.Kind{store.KindDoc}, Shared: true}})
	for _, h := range hits {
		found = append(found, guide.Section(memory.DocSection(h.Chunk)))
	}
	return found, true, err
}

// stats say what the memory holds.
func (r *remembering) stats(ctx context.Context) (string, error) {
	db, err := r.config.Open()
	if errors.Is(err, store.ErrNotFound) {
		return r.text(), nil
	}
	if err != nil {
		return "", err
	}
	var n store.MemoryCount
	err = db.Read(ctx, func(tx *store.Tx) error {
		n, err = tx.Memories().CountMemory()
		return err
	})
	return fmt.Sprintf("%d memories, %d pieces of texts to be found, %d of them with a vector; %s", n.Memories, n.Chunks, n.Vectors, r.text()), err
}

// model is the name of the model that searches by meaning, or why there is none.
func (r *remembering) model() (string, error) {
	m, err := r.embedder.current()
	if err != nil {
		return "", err
	}
	return m.Name(), nil
}

// text says how the memory searches. Without a model it names what brings one to an
// owner who wants it.
func (r *remembering) text() string {
	model, err := r.model()
	switch {
	case errors.Is(err, errEmbeddingsOff):
		return fmt.Sprintf("searches by words alone (%v)", err)
	case err != nil:
		return fmt.Sprintf("searches by words alone (%v): klawbot assets pull", err)
	}
	return "searches by words and by meaning, with " + model
}

// coreFile is the core memory as its owner has it.
func (r *remembering) coreFile() *corememory.Core { return r.core }

// filesLeftOut are the memory files that no search finds.
func (r *remembering) filesLeftOut() []string { return r.files.LeftOut() }

// close releases the embedding model.
func (r *remembering) close() error { return r.embedder.Close() }

// announce says once how the memory searches.
func (r *remembering) announce() {
	model, err := r.model()
	if err != nil {
		r.config.Log.Info("memory searches by words alone", "why", err)
		return
	}
	r.config.Log.Info("memory searches by words and by meaning", "model", model)
}
