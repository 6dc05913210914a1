package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
)

const (
	// kindTerms is the kind of the state that says which terms.Version the index has, and
	// behind a space the last chunk that is renewed while others wait.
	kindTerms store.Kind = "terms"
	// renewBatch is how many chunks get new terms in one transaction. Turns write
	// between two of them.
	renewBatch = 50
)

// Renew gives every chunk its terms again when those of the index are of another
// version. Vectors stay. It resumes where an earlier call ended.
func (m *Memory) Renew(ctx context.Context) error {
	for {
		done := false
		err := m.store.Read(ctx, func(tx *store.Tx) error {
			state, err := tx.Index().Indexed(kindTerms, "")
			done = state == terms.Version
			return err
		})
		if err != nil || done {
			return err
		}
		if err := m.store.Write(ctx, renewSome); err != nil {
			return fmt.Errorf("renew the index: %w", err)
		}
	}
}

// renewSome gives the next chunks their terms.
func renewSome(tx *store.Tx) error {
	state, err := tx.Index().Indexed(kindTerms, "")
	if err != nil {
		return err
	}
	after := int64(0)
	if at, ok := strings.CutPrefix(state, terms.Version+" "); ok {
		if after, err = strconv.ParseInt(at, 10, 64); err != nil {
			return err
		}
	}
	some, err := tx.Index().ChunksFrom(store.ChunkID(after), renewBatch)
	if err != nil {
		return err
	}
	state = terms.Version
	if len(some) == renewBatch {
		state += " " + strconv.FormatInt(int64(some[len(some)-1].ID), 10)
	}
	for len(some) > 0 {
		row := slices.DeleteFunc(slices.Clone(some), func(c store.Chunk) bool { return !samePlace(c, some[0]) })
		some = slices.DeleteFunc(some, func(c store.Chunk) bool { return samePlace(c, row[0]) })
		if err := renewRow(tx, row); err != nil {
			return err
		}
	}
	return tx.Index().SetIndexed(kindTerms, "", state)
}

// renewRow gives chunks of one place that follow each other their terms.
func renewRow(tx *store.Tx, row []store.Chunk) error {
	before, err := tx.Index().ChunksBefore(row[0], reach)
	if err != nil {
		return err
	}
	after, err := tx.Index().ChunksAfter(row[len(row)-1], reach)
	if err != nil {
		return err
	}
	return setTerms(tx, slices.Concat(before, row, after), len(before), len(before)+len(row))
}
