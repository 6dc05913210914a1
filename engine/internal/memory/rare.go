package memory

import (
	"cmp"
	"math"
	"slices"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
)

// BM25 looks at every chunk that has a word of the query. Words that thousands
// have say little and cost much, so where there are rarer ones they are left out.
const (
	// maxMatches bounds the chunks that the words of a query may have together,
	// where the query says nothing else.
	maxMatches = 2500
	// maxCommon bounds how many common words are remembered.
	maxCommon = 10_000
)

// wanted are the words that a search goes by.
type wanted struct {
	terms []string
	// full is about what BM25 gives a text that has each of them once.
	full float64
}

// counted is a term and how many chunks have it.
type counted struct {
	term string
	n    int
}

// rareTerms are the terms that a search goes by, the rarest first. matches is that of
// the query.
func (m *Memory) rareTerms(tx *store.Tx, words []terms.Sought, matches int) (w wanted, err error) {
	most := cmp.Or(matches, maxMatches)
	var all, also []counted
	total := 0
	for _, s := range words {
		known, err := m.known(tx, s.Terms, most+1)
		if err != nil {
			return w, err
		}
		if len(known) == 0 && !s.Extra {
			if known, err = m.known(tx, s.Parts, most+1); err != nil {
				return w, err
			}
			all = append(all, known...)
			if len(known) == 0 {
				all = append(all, counted{s.Terms[0], 0})
			}
		} else if s.Extra {
			also = append(also, known...)
		} else { // a text has one of them as a rule
			all, also = append(all, known[0]), append(also, known[1:]...)
		}
		for _, c := range known {
			total += c.n
		}
	}
	if total > most {
		all, also = rarest(all, most, matches > 0), nil
	}
	chunks, err := m.chunks(tx)
	if err != nil {
		return w, err
	}
	for _, c := range all {
		w.terms = append(w.terms, c.term)
		w.full += weightOf(c.n, chunks)
	}
	for _, c := range also {
		w.terms = append(w.terms, c.term)
	}
	slices.Sort(w.terms)
	w.terms = slices.Compact(w.terms)
	return w, nil
}

// known are the terms that any chunk has, and how many have each; limit is count's.
func (m *Memory) known(tx *store.Tx, some []string, limit int) (known []counted, err error) {
	for _, t := range some {
		n, err := m.count(tx, t, limit)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			known = append(known, counted{t, n})
		}
	}
	return known, nil
}

// chunks is about how many chunks there are. To count them takes as long as the rest of
// a search, so that is done again when a tenth as many were added. Their ids alone tell
// nothing: a file that changes often gets new ones each time.
func (m *Memory) chunks(tx *store.Tx) (int, error) {
	last, err := tx.Index().LastChunk()
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	n, at := m.counted.chunks, m.counted.last
	m.mu.Unlock()
	if last >= at && last <= at+store.ChunkID(n/10) && n > 0 {
		return n, nil
	}
	if n, err = tx.Index().CountChunks(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counted.chunks, m.counted.last = n, last
	return n, nil
}

// unsaid is how much a word counts that no text has: another word may say it, or
// nothing does. Measured, see doc/tools/memory.md.
const unsaid = 0.5

// weightOf is what BM25 gives a text of average length that has a term once, which
// n of some chunks have.
func weightOf(n, chunks int) float64 {
	weight := math.Log((float64(chunks-n) + 0.5) / (float64(n) + 0.5))
	if n == 0 {
		weight *= unsaid
	}
	return max(0, weight)
}

// rarest are the terms that few chunks have, the rarest first, as many as have
// most chunks together. Unless it is strict, one of them stays in any case.
func rarest(all []counted, most int, strict bool) []counted {
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(a.n, b.n) })
	var rare []counted
	total, there := 0, false
	for _, c := range all {
		if total += c.n; total > most && (there || strict) {
			break
		}
		rare, there = append(rare, c), there || c.n > 0
	}
	return rare
}

// count is how many chunks have a term, limit for all that have as many or more.
// Those are remembered: what is common stays so.
func (m *Memory) count(tx *store.Tx, term string, limit int) (int, error) {
	m.mu.Lock()
	known := m.common[term]
	m.mu.Unlock()
	if known >= limit {
		return limit, nil
	}
	n, err := tx.Index().CountTerm(term, limit)
	if err != nil || n < limit {
		return n, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.common) >= maxCommon {
		clear(m.common)
	}
	m.common[term] = limit
	return n, nil
}
