package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"klawbot/engine/internal/store"
)

// canary is a chat that does not exist.
const canary = "canary"

// ErrEmbed is the kind of error of an embedding model that is there and does not work.
var ErrEmbed = errors.New("the embedding model does not work")

// Probe stores a memory, finds it, forgets it, and looks that it is not found any
// more. meaning says whether a vector found it, too; without an embedding model
// none does. What it stores is in a chat of its own.
func (m *Memory) Probe(ctx context.Context) (meaning bool, err error) {
	word := fmt.Sprintf("canary%d", time.Now().UnixNano())
	text := "The doctor's bird is called " + word + "."
	scope := store.Scope{Channel: canary, Chat: 1}
	vector, err := m.probeVector(ctx, text)
	if err != nil {
		return false, err
	}
	var id store.MemoryID
	err = m.store.Write(ctx, func(tx *store.Tx) error {
		if id, _, _, err = Save(tx, store.Memory{Channel: canary, Chat: 1, Key: canary, Source: "doctor", Content: text}, ChunkSize{Size: 400}); err != nil {
			return err
		}
		set, found, err := m.vectorSet(tx)
		if err != nil || !found || len(vector) != set.Dimensions {
			return err
		}
		chunks, err := tx.Index().ChunksOf(store.KindMemory, int64(id))
		if err != nil {
			return err
		}
		meaning = true
		return tx.Vectors().SetVector(set.ID, store.KindMemory, chunks[0].ID, vector)
	})
	if err != nil {
		return false, fmt.Errorf("store a memory: %w", err)
	}
	modes := []Mode{Keyword}
	if meaning {
		modes = append(modes, Vector)
	}
	for _, mode := range modes {
		err = errors.Join(err, m.seek(ctx, Query{Text: word, Mode: mode, Scope: scope}, true))
	}
	forget := m.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return Forget(tx, id) })
	if err := errors.Join(err, forget); err != nil {
		return meaning, err
	}
	return meaning, m.seek(ctx, Query{Text: word, Scope: scope}, false)
}

// probeVector is the vector of a text, nil without a model.
func (m *Memory) probeVector(ctx context.Context, text string) ([]float32, error) {
	if m.embedder == nil {
		return nil, nil
	}
	all, err := m.embedder.Passages(ctx, []string{text})
	if noEmbedder(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEmbed, err)
	}
	return all[0], nil
}

// seek looks whether a query finds anything, as it should or not.
func (m *Memory) seek(ctx context.Context, q Query, wanted bool) error {
	hits, err := m.Search(ctx, q)
	switch {
	case err != nil:
		return err
	case wanted && len(hits) == 0:
		return fmt.Errorf("what was stored is not found (%s)", q.Mode)
	case !wanted && len(hits) > 0:
		return errors.New("what was forgotten is still found")
	}
	return nil
}
