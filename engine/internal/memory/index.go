package memory

import (
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
)

// What stands beside a text tells much about it: a question about a trip is
// answered by "In May, with Anna", said two lines after "How was Lisbon?". So the
// words of reach neighbours on both sides count for a chunk too, its own ones
// twice.
const (
	reach   = 2
	hour    = time.Hour
	ownness = 2
)

// Add stores chunks of one place, one after another, so that they can be found by
// their words when the transaction is committed. Their vectors follow in the
// background.
func Add(tx *store.Tx, chunks []store.Chunk) error {
	if len(chunks) == 0 {
		return nil
	}
	for i := range chunks {
		var err error
		if chunks[i], err = tx.Index().AddChunk(chunks[i]); err != nil {
			return err
		}
	}
	before, err := tx.Index().ChunksBefore(chunks[0], 2*reach)
	if err != nil {
		return err
	}
	// The new ones change the words of those just before them, too.
	from := max(0, len(before)-reach)
	for from < len(before) && !nearAny(before[from], chunks[:min(reach, len(chunks))]) {
		from++
	}
	if from == len(before) {
		before, from = nil, 0
	}
	all := append(before, chunks...)
	return setTerms(tx, all, from, len(all))
}

// Drop deletes the chunks of a memory or a message. Its words go from its
// neighbours, too: what is forgotten cannot be found by anything.
func Drop(tx *store.Tx, kind store.Kind, owner int64) error {
	gone, err := tx.Index().ChunksOf(kind, owner)
	if err != nil || len(gone) == 0 {
		return err
	}
	before, err := tx.Index().ChunksBefore(gone[0], 2*reach)
	if err != nil {
		return err
	}
	after, err := tx.Index().ChunksAfter(gone[len(gone)-1], 2*reach)
	if err != nil {
		return err
	}
	if err := tx.Index().DropChunks(kind, owner); err != nil {
		return err
	}
	return setTerms(tx, append(before, after...), len(before)-reach, len(before)+reach)
}

// setTerms stores the words of some chunks of a row.
func setTerms(tx *store.Tx, row []store.Chunk, from, to int) error {
	from, to = max(from, 0), min(to, len(row))
	own := make([]string, len(row))
	for i, c := range row {
		own[i] = strings.Join(terms.Of(c.Content), " ")
	}
	for i := from; i < to; i++ {
		var b strings.Builder
		for k := max(0, i-reach); k <= min(i+reach, len(row)-1); k++ {
			times := 1
			if k == i {
				times = ownness
			} else if !near(row[i].CreatedAt, row[k].CreatedAt) {
				continue
			}
			for range times {
				b.WriteString(own[k])
				b.WriteByte(' ')
			}
		}
		if err := tx.Index().SetTerms(row[i].ID, b.String()); err != nil {
			return err
		}
	}
	return nil
}

func nearAny(c store.Chunk, others []store.Chunk) bool {
	return slices.ContainsFunc(others, func(o store.Chunk) bool { return near(c.CreatedAt, o.CreatedAt) })
}

// near reports whether two chunks of a place belong to one occasion.
func near(a, b time.Time) bool { return a.Sub(b).Abs() <= hour }
