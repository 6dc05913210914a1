package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
)

// Neighbours are of the same place and the same hour, the nearest first. Behind
// those of another hour the search stops: going on would read the whole place.
func TestNeighbours(t *testing.T) {
	s := open(t, t.TempDir())
	at := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	write(t, s, func(tx *store.Tx) error {
		for i, source := range []string{"a", "a", "b", "a", "a", "a", "a", "late", "a", "a"} { // 1 to 10
			c := store.Chunk{Kind: store.KindMemory, Source: source, Content: "x", CreatedAt: at}
			if i == 6 || i == 8 {
				c.CreatedAt = at.Add(2 * time.Hour)
			}
			if _, err := tx.Index().AddChunk(c); err != nil {
				return err
			}
		}
		return nil
	})
	read(t, s, func(tx *store.Tx) error {
		got, err := tx.Index().NeighbourIDs([]store.ChunkID{4, 6, 8}, 2)
		want := map[store.ChunkID][]store.Beside{
			4: {{ID: 2, Steps: 1}, {ID: 1, Steps: 2}, {ID: 5, Steps: 1}, {ID: 6, Steps: 2}},
			6: {{ID: 5, Steps: 1}, {ID: 4, Steps: 2}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		return err
	})
}
