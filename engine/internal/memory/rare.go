package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
)

// BM25 looks at every chunk that has a word of the query. Words that thousands
// have say little and cost much, so where there are rarer ones they are left out.
const (
	// maxMatches bounds the chunks that the words of a query may have together,
	// where the query says nothing else.
	maxMatches = 2500
	// fewest is how many chunks a word must have to be remembered; maxCommon bounds how
	// many words are.
	fewest    = 10
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

// rareTerms are the terms that a search goes by, the rarest first.
func (m *Memory) rareTerms(tx *store.Tx, words []terms.Sought, q Query) (w wanted, err error) {
	most := cmp.Or(q.Matches, maxMatches)
	last, err := tx.Index().LastChunk()
	if err != nil {
		return w, err
	}
	counts := counting{m, tx, most + 1, last}
	var all, also []counted
	var each [][]counted
	total := 0
	for _, s := range words {
		known, err := counts.known(s.Terms)
		if err != nil {
			return w, err
		}
		if len(known) == 0 && !s.Extra {
			if known, err = counts.known(s.Parts); err != nil {
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
		total += sum(known)
		if !s.Extra {
			each = append(each, known)
		}
	}
	// The parts of a compound say it as well as its terms; beginnings of words do not.
	said := func(part string) bool { return !strings.HasSuffix(part, store.AnyEnd) }
	compound := func(s terms.Sought) bool { return !s.Extra && slices.ContainsFunc(s.Parts, said) }
	if few, ok := enough(each, q); ok && !slices.ContainsFunc(words, compound) {
		all, also = few, nil
	} else if total > most {
		all, also = rarest(all, most, q.Matches > 0), nil
	}
	// To count all chunks takes as long as the rest of a search.
	chunks, err := counting{m, tx, math.MaxInt, last}.remembered("", tx.Index().CountChunks)
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

// counting counts the chunks that have a term: limit for all that have as many or more.
// last is the newest chunk.
type counting struct {
	*Memory
	tx    *store.Tx
	limit int
	last  store.ChunkID
}

// known are the terms that any chunk has, and how many have each.
func (c counting) known(some []string) (known []counted, err error) {
	for _, t := range some {
		n, err := c.remembered(t, func() (int, error) { return c.tx.Index().CountTerm(t, c.limit) })
		if err != nil {
			return nil, err
		}
		if n > 0 {
			known = append(known, counted{t, n})
		}
	}
	return known, nil
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

func sum(some []counted) (n int) {
	for _, c := range some {
		n += c.n
	}
	return n
}

// enough are the terms of the rarest words that find all a query wants: what has most of
// the words has one of the rarest, as many as it may lack and one more. It reports false
// where so many chunks have those that they have to be ranked by the others, too.
func enough(words [][]counted, q Query) (few []counted, ok bool) {
	slices.SortStableFunc(words, func(a, b []counted) int { return cmp.Compare(sum(a), sum(b)) })
	lacks := len(words) - int(math.Ceil(q.Overlap*float64(len(words))-1e-9))
	few = slices.Concat(words[:min(lacks+1, len(words))]...)
	return few, q.Overlap > 0 && sum(few) <= min(q.TopK, keywordCandidates)
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

// remembered is a number that read reads, or about that number as long as few chunks were
// added since. What is common stays so.
func (c counting) remembered(term string, read func() (int, error)) (int, error) {
	c.mu.Lock()
	was := c.common[term]
	c.mu.Unlock()
	if was.n >= c.limit || was.holds(c.last) {
		return min(was.n, c.limit), nil
	}
	n, err := read()
	if err != nil || n < fewest {
		return n, err
	}
	last := c.last
	if n >= c.limit { // there may be more
		last = math.MaxInt64
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.common) >= maxCommon {
		clear(c.common)
	}
	c.common[term] = tally{n, last}
	return n, nil
}

// tally is how many chunks there were of a kind, at least, when last was the newest.
type tally struct {
	n    int
	last store.ChunkID
}

// holds reports whether the number is about right, because only a tenth as many chunks
// were added since. Those that are deleted do not count: what is left out for being common
// may stay so.
func (t tally) holds(last store.ChunkID) bool {
	return t.n > 0 && last >= t.last && last <= t.last+store.ChunkID(t.n/10)
}
