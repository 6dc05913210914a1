package store_test

import (
	"fmt"
	"sync"
	"testing"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
)

// remember writes chunks that the full-text index finds.
func remember(from, n int) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		for i := range n {
			c, err := tx.Index().AddChunk(store.Chunk{Kind: store.KindMemory, Source: "a", Content: "x"})
			if err != nil {
				return err
			}
			if err := tx.Index().SetTerms(c.ID, fmt.Sprintf("word%d and other text %d", (from+i)%97, from+i)); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestCheckFindsNoDamageWhereNoneIs searches on all connections for reading, writes
// on, and checks: what a connection remembers of the full-text index is old then.
func TestCheckFindsNoDamageWhereNoneIs(t *testing.T) {
	s := open(t, t.TempDir())
	for round := range 40 {
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				read(t, s, func(tx *store.Tx) error {
					_, err := tx.Index().MatchTerms([]string{"word1", "word2"}, store.Scope{}, 10, 1000)
					return err
				})
			})
		}
		readers.Wait()
		if err := s.Check(t.Context()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for i := range 8 {
			write(t, s, remember(round*100+i*10, 10))
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatalf("round %d, after the writes: %v", round, err)
		}
	}
	if c := s.Condition(); c.State != condition.OK {
		t.Errorf("the condition is %+v", c)
	}
}
