package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/wait"
	"klawbot/tools/guide"
	"klawbot/tools/recall"
	"klawbot/tools/screen"
)

// remembering lends the memory to the tools, the chats and the command line.
type remembering struct {
	// open returns the database, or why there is none.
	open     func() (*store.Store, error)
	settings func() settings.Settings
	embedder *embedder
	core     *corememory.Core
	files    *memory.Files
	sections func() ([]memory.Section, error) // of the manual
	quiet    *quiet
	verdicts screenedParts
	log      *slog.Logger
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
func newRemembering(c Config, open func() (*store.Store, error)) *remembering {
	r := &remembering{
		open: open, settings: c.Settings, quiet: new(quiet), log: c.Log, core: corememory.NewCore(c.Dir),
		embedder: &embedder{settings: func() settings.Embedding { return c.Settings().Memory.Embedding }, assets: c.Assets, http: c.HTTP, secrets: c.Redact},
		messages: make(chan struct{}, 1), waiting: make(chan struct{}, 1), docs: make(chan struct{}, 1),
		sections: sync.OnceValues(func() ([]memory.Section, error) { return sectionsOf(c) }),
	}
	r.files = &memory.Files{Workspace: c.Workspace, Size: r.chunkSize}
	return r
}

// sectionsOf are the sections of the manual.
func sectionsOf(c Config) ([]memory.Section, error) {
	if c.Manual == nil {
		return nil, nil
	}
	all, err := guide.Sections(c.Manual)
	sections := make([]memory.Section, len(all))
	for i, s := range all {
		sections[i] = memory.Section(s)
	}
	return sections, err
}

// chunkSize says how texts are cut, as the settings are now.
func (r *remembering) chunkSize() memory.ChunkSize {
	s := r.settings().Memory
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
		fusion := func() memory.Fusion { return memory.Fusion(r.settings().Memory.Fusion) }
		rest := func(ctx context.Context) { r.quiet.wait(ctx, embedAfter, embedAtLast) }
		r.built, r.of = memory.New(memory.Config{Store: db, Embedder: r.embedder, Rest: rest, Fusion: fusion, Log: r.log}), db
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
	var working sync.WaitGroup
	working.Go(func() { r.embed(ctx, db) })
	working.Go(func() { r.indexDocs(ctx, db) })
	working.Go(func() { r.indexMessages(ctx, db) })
	for {
		changed, err := r.files.Refresh(ctx, db)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("memory files not read", "err", err)
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
		r.log.Warn("USER.md not taken over into the core memory: it looks like an injection", "found", strings.Join(v.Rules(), ", "))
		return
	}
	taken, err := r.core.ImportUser(text)
	switch {
	case err != nil:
		r.log.Warn("USER.md not taken over into the core memory", "err", err)
	case taken > 0:
		r.log.Info("USER.md taken over into the core memory", "facts", taken)
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
		r.log.Error("messages not indexed", "err", err)
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
				r.log.Warn("no vectors made, search goes by words", "err", err)
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
		r.log.Error("manual not indexed", "err", err)
	}
	r.kept()
}

// SearchDocs finds sections of the manual; ready is false while they are not in
// the index.
func (r *remembering) SearchDocs(ctx context.Context, query string, topK int) (found []guide.Section, ready bool, err error) {
	db, err := r.open()
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

// announce says once how the memory searches.
func (r *remembering) announce() {
	m, err := r.embedder.current()
	if err != nil {
		r.log.Info("memory searches by words alone", "why", err)
		return
	}
	r.log.Info("memory searches by words and by meaning", "model", m.Name())
}
