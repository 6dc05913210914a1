package health

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/settings"
)

// memoryFinding proves that the memory stores, finds and forgets. That there is no
// embedding model is no fault.
func memoryFinding(ctx context.Context, r *recall.Memory, db *store.Store, embedding settings.Embedding) Finding {
	started := time.Now()
	meaning, err := r.In(db).Probe(ctx)
	took := time.Since(started).Round(time.Millisecond)
	switch {
	case errors.Is(err, memory.ErrEmbed) && embedding.Type == "openai":
		return Ill("memory", "see memory.embedding in config.yaml; until then search goes by words", err)
	case errors.Is(err, memory.ErrEmbed):
		return Ill("memory", "klawbot assets status, then klawbot assets pull; until then search goes by words", err)
	case err != nil:
		return Ill("memory", "klawbot reindex", err)
	}
	facts, err := r.CoreFile().Facts()
	if err != nil {
		return Ill("memory", "mend that file; until then no answer knows the core memory", err)
	}
	if left := facts.LeftOut(); len(left) > 0 {
		return Ill("memory", "klawbot memory edit: write it in other words, or delete it",
			fmt.Errorf("no prompt gets %s of the core memory: it looks like an injection", some(left)))
	}
	text := fmt.Sprintf("stored, found and forgot a memory in %s", took)
	if others := facts.Others(); len(others) > 0 {
		text = fmt.Sprintf("nobody reads %q of the core memory, only user, agent, chats and people; %s", others, text)
	}
	if left := r.FilesLeftOut(); len(left) > 0 {
		text = fmt.Sprintf("no search finds %s (larger than 1 MiB, or no ordinary file); %s", some(left), text)
	}
	model, why := r.Model()
	switch {
	case why != nil:
		return Well("memory", "%s; %s", text, r.Text())
	case !meaning:
		return Well("memory", "%s by its words; %s has read nothing yet", text, model)
	}
	return Well("memory", "%s, by its words and by its meaning (%s)", text, model)
}

// some names a few of many.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// memoryFindings are those of a data folder beside a running bot, or without one.
func memoryFindings(ctx context.Context, c toolset.Config) []Finding {
	st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)})
	if errors.Is(err, store.ErrNotFound) {
		return []Finding{Well("memory", "new; %s", EmbeddingText(c))}
	}
	if err != nil {
		return nil // the database's own finding says it
	}
	defer func() { _ = st.Close() }() // the canary is gone already
	r := toolset.Memory(c, func() (*store.Store, error) { return st, nil })
	defer func() { _ = r.Close() }() // it was only tried
	return []Finding{memoryFinding(ctx, r, st, c.Settings().Memory.Embedding)}
}

// EmbeddingText says how the memory of a configuration searches. It looks for the
// files of the model and loads nothing.
func EmbeddingText(c toolset.Config) string { return toolset.Memory(c, nil).Text() }
