package recall

import (
	"cmp"
	"context"
	"sync"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

// The pace of what the memory does by itself.
const (
	// refreshEvery is how often the memory files are looked at.
	refreshEvery = 10 * time.Second
	// chooseEvery is how often the embedding model is chosen again.
	chooseEvery = 24 * time.Hour
	// docsAfter is when the manual is indexed if no search needs it earlier.
	docsAfter = time.Minute
	// indexAfter is how long messages are gathered before they are indexed.
	indexAfter = 500 * time.Millisecond
	// Vectors are made when no turn has run for embedAfter; a bot that is never
	// idle makes a batch of them every embedAtLast.
	embedAfter  = 3 * time.Second
	embedAtLast = time.Minute
	// embedAgain is the time after a failure.
	embedAgain = time.Minute
)

// Said says that messages were stored; they are still to be indexed.
func (r *Memory) Said() { wait.Signal(r.messages) }

// kept says that there is something to embed.
func (r *Memory) kept() { wait.Signal(r.waiting) }

// Run brings what is new into the index until ctx ends: messages, memory files, the
// manual, and the vectors of all of it.
func (r *Memory) Run(ctx context.Context, db *store.Store) {
	r.running.Store(true)
	defer r.running.Store(false)
	var working sync.WaitGroup
	working.Go(func() { r.indexDocs(ctx, db) })
	working.Go(func() { r.indexMessages(ctx, db) })
	working.Go(func() { r.renew(ctx, db) })
	for first := true; ; first = false {
		changed, err := r.files.Refresh(ctx, db)
		if err != nil && ctx.Err() == nil {
			r.config.Log.Warn("memory files not read", "err", err)
		}
		if changed {
			r.kept()
		}
		r.chooseDaily(ctx, db)
		if first { // with the model that fits the memory files, too
			r.announce()
			working.Go(func() { r.embed(ctx, db) })
		}
		if !wait.For(ctx, cmp.Or(r.config.LookEvery, refreshEvery)) {
			break
		}
	}
	working.Wait()
}

// renew brings the keyword index of an older version up to date.
func (r *Memory) renew(ctx context.Context, db *store.Store) {
	if err := r.In(db).Renew(ctx); err != nil && ctx.Err() == nil {
		r.config.Log.Error("search index not brought up to date", "err", err)
	}
}

// chooseDaily chooses the embedding model at the start and once a day.
func (r *Memory) chooseDaily(ctx context.Context, db *store.Store) {
	if time.Since(r.chosen) < chooseEvery || r.config.Settings().Memory.Embedding.Foreign == "" {
		return
	}
	r.chosen = time.Now()
	if err := r.choose(ctx, db); err != nil && ctx.Err() == nil {
		r.config.Log.Warn("embedding model not chosen", "err", err)
	}
	r.kept() // another model makes its own vectors of everything
}

// ready makes everything findable that a tool or a command looks for. A running bot does
// most of it by itself.
func (r *Memory) ready(ctx context.Context, db *store.Store) {
	if !r.running.Load() {
		r.Choose(ctx, db)
		r.renew(ctx, db)
	}
	r.catchUp(ctx, db)
}

// indexMessages indexes messages soon after they are stored, several at once. Turns don't
// wait for it.
func (r *Memory) indexMessages(ctx context.Context, db *store.Store) {
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

// catchUp indexes the messages that are not indexed yet.
func (r *Memory) catchUp(ctx context.Context, db *store.Store) {
	err := r.In(db).CatchUp(ctx, Findable, r.ChunkSize())
	if err != nil && ctx.Err() == nil {
		r.config.Log.Error("messages not indexed", "err", err)
	}
	r.kept()
}

// Findable reports whether the messages of a session are for history_search: those
// of jobs are no chats.
func Findable(a gateway.Address) bool { return a.Chat.Channel != store.JobChannel }

// embed gives what is new its vectors.
func (r *Memory) embed(ctx context.Context, db *store.Store) {
	failed := ""
	for {
		err := r.In(db).Embed(ctx, nil)
		if err != nil && ctx.Err() == nil {
			if err.Error() != failed { // said once
				r.config.Log.Warn("no vectors made, keyword search", "err", err)
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
func (r *Memory) indexDocs(ctx context.Context, db *store.Store) {
	select {
	case <-ctx.Done():
		return
	case <-r.docs:
	case <-time.After(docsAfter):
	}
	sections, err := r.sections()
	if err == nil && len(sections) > 0 {
		err = r.In(db).IndexDocs(ctx, sections, r.ChunkSize())
	}
	if err != nil && ctx.Err() == nil {
		r.config.Log.Error("manual not indexed", "err", err)
	}
	r.kept()
}
