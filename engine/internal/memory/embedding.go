package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"klawbot/engine/internal/store"
)

// embedBatch is how many chunks get their vectors in one transaction.
const embedBatch = 64

// Embed gives every chunk that has none its vector, and calls progress, if it is
// not nil, with how many it did so far. When the model is another one than
// before, the old vectors stay until the new ones are complete. It returns nil
// when all is done, and at once when there is no embedder or nothing to do: then
// no model is loaded.
func (m *Memory) Embed(ctx context.Context, progress func(done int)) error {
	if m.embedder == nil {
		return nil
	}
	m.embedding.Lock()
	defer m.embedding.Unlock()
	if idle, err := m.nothingToEmbed(ctx); err != nil || idle {
		return err
	}
	m.rest(ctx) // a new set loads the model
	set, err := m.ensureSet(ctx)
	if noEmbedder(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.cursor.set != set.ID {
		m.cursor.set, m.cursor.next = set.ID, 0
	}
	renewed := false
	for done := 0; ; m.rest(ctx) {
		var waiting []store.Chunk
		err := m.store.Read(ctx, func(tx *store.Tx) error {
			waiting, err = tx.Vectors().WithoutVector(set.ID, m.cursor.next, embedBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("embed: %w", err)
		}
		if len(waiting) == 0 {
			return m.complete(ctx, set)
		}
		err = m.embed(ctx, set, waiting)
		if width, other := errors.AsType[*widthError](err); other && !renewed {
			if set, err = m.renew(ctx, set, width.dimensions); err != nil {
				return err
			}
			renewed, m.cursor.set, m.cursor.next = true, set.ID, 0
			continue
		}
		if err != nil {
			return err
		}
		m.cursor.next = waiting[len(waiting)-1].ID
		if done += len(waiting); progress != nil {
			progress(done)
		}
	}
}

// nothingToEmbed reports whether every chunk has its vector, and there are no others.
func (m *Memory) nothingToEmbed(ctx context.Context) (idle bool, err error) {
	name := m.embedder.Name()
	if name == "" {
		return true, nil
	}
	err = m.store.Read(ctx, func(tx *store.Tx) error {
		set, found, err := m.vectorSet(tx)
		if err != nil {
			return err
		}
		after := store.ChunkID(0)
		if found && m.cursor.set == set.ID {
			after = m.cursor.next
		}
		waiting, err := tx.Vectors().WithoutVector(set.ID, after, 1)
		if err != nil || len(waiting) > 0 {
			return err
		}
		sets, err := tx.Vectors().VectorSets()
		idle = !found || set.State == store.SetUsed && len(sets) == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("embed: %w", err)
	}
	return idle, nil
}

// ensureSet finds the set of the model, or makes one.
func (m *Memory) ensureSet(ctx context.Context) (set store.VectorSet, err error) {
	var found bool
	err = m.store.Read(ctx, func(tx *store.Tx) error {
		set, found, err = m.vectorSet(tx)
		return err
	})
	if err != nil || found {
		return set, err
	}
	set = store.VectorSet{Model: m.embedder.Name(), State: store.SetBuilding}
	if set.Dimensions, err = m.embedder.Dimensions(ctx); err != nil {
		return set, err
	}
	err = m.store.Write(ctx, func(tx *store.Tx) error {
		other, found, err := m.vectorSet(tx)
		if err != nil {
			return err
		}
		if found {
			set = other
			return nil
		}
		set.ID, err = tx.Vectors().AddVectorSet(set)
		return err
	})
	return set, err
}

// widthError is the error of vectors that are not as long as those of their set: a
// server has another model behind the same name.
type widthError struct{ dimensions, before int }

func (e *widthError) Error() string {
	return fmt.Sprintf("the embedding model makes vectors of %d numbers, and of %d before", e.dimensions, e.before)
}

// renew replaces a set by an empty one for vectors of another length.
func (m *Memory) renew(ctx context.Context, old store.VectorSet, dimensions int) (store.VectorSet, error) {
	set := store.VectorSet{Model: old.Model, Dimensions: dimensions, State: store.SetBuilding}
	err := m.store.Write(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Vectors().DropVectorSet(old.ID); err != nil {
			return err
		}
		set.ID, err = tx.Vectors().AddVectorSet(set)
		return err
	})
	return set, err
}

// embed gives chunks their vectors. The embedder says itself what it was doing.
func (m *Memory) embed(ctx context.Context, set store.VectorSet, chunks []store.Chunk) error {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Content
	}
	vectors, err := Passages(ctx, m.embedder, texts, m.log)
	if err != nil {
		return err
	}
	for _, v := range vectors {
		if v != nil && len(v) != set.Dimensions {
			return &widthError{len(v), set.Dimensions}
		}
	}
	return m.store.Write(ctx, func(tx *store.Tx) error {
		// Another process may have embedded or deleted some since.
		waiting, err := tx.Vectors().WithoutVector(set.ID, chunks[0].ID-1, len(chunks))
		if err != nil {
			return err
		}
		left := make(map[store.ChunkID]bool, len(waiting))
		for _, c := range waiting {
			left[c.ID] = true
		}
		for i, c := range chunks {
			if !left[c.ID] || vectors[i] == nil {
				continue
			}
			if err := tx.Vectors().SetVector(set.ID, c.Kind, c.ID, vectors[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// refusing is an error of an embedder that may be about one text alone.
type refusing interface {
	error
	Refusal() bool
}

func refused(err error) bool {
	r, ok := errors.AsType[refusing](err)
	return ok && r.Refusal()
}

// aWord is a text that no embedder refuses but one that refuses everything.
const aWord = "word"

// Passages are the vectors of texts. A server may refuse one that is too long for it;
// the others get theirs all the same, and that one has none.
func Passages(ctx context.Context, e Embedder, texts []string, log *slog.Logger) ([][]float32, error) {
	vectors, err := e.Passages(ctx, texts)
	if !refused(err) {
		return vectors, err
	}
	if _, err := e.Passages(ctx, []string{aWord}); err != nil {
		return nil, err
	}
	vectors = make([][]float32, len(texts))
	without := 0
	for i, text := range texts {
		one, why := e.Passages(ctx, []string{text})
		switch {
		case why == nil:
			vectors[i] = one[0]
		case refused(why):
			without++
		default:
			return nil, why
		}
	}
	log.Warn("texts without a vector, keyword search finds them", "texts", without, "err", err)
	return vectors, nil
}

// complete puts a set to use that has all its vectors. The others go: that of the
// model before, or of one that the owner has thought better of.
func (m *Memory) complete(ctx context.Context, set store.VectorSet) error {
	err := m.store.Write(ctx, func(tx *store.Tx) error {
		sets, err := tx.Vectors().VectorSets()
		if err != nil || len(sets) == 1 && sets[0].State == store.SetUsed {
			return err
		}
		return tx.Vectors().UseVectorSet(set.ID)
	})
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	return nil
}
