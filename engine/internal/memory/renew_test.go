package memory_test

import (
	"fmt"
	"testing"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// TestIndexOfAnOlderVersionIsRenewed: its words are made again, with those of
// neighbours, and no vector is.
func TestIndexOfAnOlderVersionIsRenewed(t *testing.T) {
	s := openStore(t)
	for i := range 130 {
		save(t, s, store.Memory{Content: fmt.Sprintf("🔴 note %d", i), Source: fmt.Sprint("source ", i%3)})
	}
	m := newMemory(s, bag{"a"})
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	query := memory.Query{Text: "🔴", Mode: memory.Keyword, TopK: 200}
	fresh := contents(t, m, query)
	for _, state := range []string{"", "1", "1 99"} { // before there was one, another one
		write(t, s, func(tx *store.Tx) error {
			for id := range store.ChunkID(130) {
				if err := tx.Index().SetTerms(id+1, "note"); err != nil {
					return err
				}
			}
			return tx.Index().SetIndexed("terms", "", state)
		})
		if got := contents(t, m, query); len(got) != 0 {
			t.Fatalf("an old index finds %d", len(got))
		}
		for range 2 {
			if err := m.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := contents(t, m, query); len(fresh) != 130 || fmt.Sprint(got) != fmt.Sprint(fresh) {
			t.Errorf("state %q: finds %d, %d before", state, len(got), len(fresh))
		}
	}
	if err := s.Read(t.Context(), func(tx *store.Tx) error {
		sets, err := tx.Vectors().VectorSets()
		if err != nil {
			return err
		}
		waiting, err := tx.Vectors().WithoutVector(sets[0].ID, 0, 1)
		if len(waiting) > 0 {
			t.Error("vectors are gone")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
