package recall

import (
	"context"
	"fmt"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
	"klawbot/engine/settings"
)

const (
	// judgedTexts are the newest ones, by whose language a model is chosen.
	judgedTexts = 500
	// kindLanguage is the kind of the state that says that most texts are not English.
	kindLanguage store.Kind = "language"
	notEnglish   string     = "not English"
)

// mostlyForeign reports whether most stored texts are not English, by what was stored
// and by the newest texts.
func mostlyForeign(ctx context.Context, db *store.Store) (before, now bool, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		state, err := tx.Index().Indexed(kindLanguage, "")
		if err != nil {
			return err
		}
		texts, err := tx.Index().NewestTexts(judgedTexts)
		before = state == notEnglish
		now = terms.MostlyForeign(texts, before)
		return err
	})
	return before, now, err
}

// Wanted are the settings of the model that fits the texts in a database.
func Wanted(ctx context.Context, db *store.Store, e settings.Embedding) (settings.Embedding, error) {
	if e.Foreign == "" {
		return e, nil
	}
	_, now, err := mostlyForeign(ctx, db)
	return fitting(e, now), err
}

// fitting are the settings for texts that are not English, or are.
func fitting(e settings.Embedding, foreign bool) settings.Embedding {
	if foreign && e.Foreign != "" {
		e.Model, e.Fallback = e.Foreign, e.Model
	}
	e.Foreign = ""
	return e
}

// Choose finds out which model the automatic choice means, for a command. A running bot
// has chosen when it started.
func (r *Memory) Choose(ctx context.Context, db *store.Store) {
	if r.running.Load() || r.config.Settings().Memory.Embedding.Foreign == "" {
		return
	}
	if _, now, err := mostlyForeign(ctx, db); err == nil {
		r.embedder.foreign.Store(now)
	}
}

// choose is Choose for the running bot. It stores the choice, so that it does not change
// with every few messages, and says when it changes.
func (r *Memory) choose(ctx context.Context, db *store.Store) error {
	before, now, err := mostlyForeign(ctx, db)
	if err == nil && now != before {
		state := ""
		if now {
			state = notEnglish
		}
		err = db.Write(ctx, func(tx *store.Tx) error { return tx.Index().SetIndexed(kindLanguage, "", state) })
	}
	if err != nil {
		return fmt.Errorf("choose the embedding model: %w", err)
	}
	if was := r.embedder.foreign.Swap(now); was != now || now != before {
		r.config.Log.Info("language of the stored texts", "english", !now)
	}
	return nil
}

// Advice says what a user can do whose texts the chosen model does not read, "" for
// nothing.
func (r *Memory) Advice(ctx context.Context, db *store.Store) string {
	model, err := r.Model()
	if err != nil || !embed.ForEnglish(model) || r.embedder.misses() != "" {
		return ""
	}
	if _, now, err := mostlyForeign(ctx, db); err != nil || !now {
		return ""
	}
	if r.config.Settings().Memory.Embedding.Foreign != "" { // since the last choice
		return fmt.Sprintf("most of your texts are not English now: klawbot uses %s from the next start, after klawbot assets pull", embed.Multilingual)
	}
	return fmt.Sprintf("most of your texts are not English, and %s is for English: set memory.embedding.model: auto, then run klawbot assets pull", model)
}
