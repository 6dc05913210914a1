package memory

import (
	"cmp"
	"context"
	"slices"

	"klawbot/engine/internal/store"
)

// Nearest returns the contents of the chunks whose vectors are nearest, without
// the neighbours that Search takes into account.
func (m *Memory) Nearest(ctx context.Context, vector []float32, n int) (contents []string, err error) {
	err = m.store.Read(ctx, func(tx *store.Tx) error {
		set, _, err := m.vectorSet(tx)
		if err != nil {
			return err
		}
		found := map[store.ChunkID]*candidate{}
		if err := m.vectors(tx, set, Query{}, vector, found); err != nil {
			return err
		}
		var all []*candidate
		for _, c := range found {
			all = append(all, c)
		}
		slices.SortFunc(all, func(a, b *candidate) int { return cmp.Compare(b.cosine, a.cosine) })
		for _, c := range all[:min(n, len(all))] {
			chunks, err := tx.Index().Chunks([]store.ChunkID{c.id})
			if err != nil {
				return err
			}
			contents = append(contents, chunks[0].Content)
		}
		return nil
	})
	return contents, err
}
