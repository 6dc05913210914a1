package memory

import (
	"cmp"
	"slices"

	"klawbot/engine/internal/store"
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

// rareTerms are the terms that a search goes by, the rarest first. matches is that
// of the query.
func (m *Memory) rareTerms(tx *store.Tx, terms []string, matches int) ([]string, error) {
	most := cmp.Or(matches, maxMatches)
	type counted struct {
		term string
		n    int
	}
	all := make([]counted, len(terms))
	total := 0
	for i, t := range terms {
		n, err := m.count(tx, t, most+1)
		if err != nil {
			return nil, err
		}
		all[i] = counted{t, n}
		total += n
	}
	if total <= most {
		return terms, nil
	}
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(a.n, b.n) })
	var rare []string
	total = 0
	for _, c := range all {
		if total += c.n; total > most && (len(rare) > 0 || matches > 0) {
			break
		}
		if c.n > 0 {
			rare = append(rare, c.term)
		}
	}
	return rare, nil
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
	n, err := tx.CountTerm(term, limit)
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
