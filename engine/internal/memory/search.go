package memory

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
	"klawbot/internal/clip"
)

// Mode says which sides of the search take part.
type Mode string

// The modes.
const (
	Hybrid  Mode = "hybrid"
	Keyword Mode = "keyword"
	Vector  Mode = "vector"
)

// Fusion says how the two sides become one order.
type Fusion string

// The fusions.
const (
	// FuseScores adds what each side says, brought to the same scale.
	FuseScores Fusion = "score"
	// FuseRanks adds 1/(60+rank) of each side (Cormack, Clarke and Büttcher,
	// "Reciprocal Rank Fusion", SIGIR 2009). It knows no margins and is weaker
	// where one side is.
	FuseRanks Fusion = "rrf"
)

// Query is what to look for.
type Query struct {
	Text  string
	TopK  int // 0 means 10
	Mode  Mode
	Scope store.Scope
	// Matches bounds the chunks that the words may have together. Commoner words
	// are left out, all of them if need be. 0 means 2,500, and the rarest word is
	// looked for in the newest chunks that have it, however common it is.
	Matches int
	// Patience bounds the time for the vector of the text; when it takes longer the
	// words alone decide. 0 waits.
	Patience time.Duration
	// Near asks how near the hits are.
	Near bool
	// Overlap is what share of the words a text must have where words alone decide: then
	// fewer texts have to be looked at. 0 is any. What has fewer may be found all the same.
	Overlap float64
}

// Hit is what was found.
type Hit struct {
	store.Chunk
	// Score is between 0 and 1 and falls steeply: the sum over several hits of
	// one source says how sure the source is. Scores of different queries do not
	// compare.
	Score float64
	// Cosine is that of the vectors, 0 without vectors.
	Cosine float64
	// Near is how near the text is to the query, where it was asked for: 0 when it has
	// nothing to do with it or has no vector, 0.5 when it may well have, up to 1. It
	// is the cosine where the embedder does not know.
	Near float64
}

// How many candidates each side brings, and how many are looked at closely, with
// their neighbours.
const (
	keywordCandidates = 300
	vectorCandidates  = 150 // or one in manyAlike
	// fewCandidates are those of the words where there are more than manyVectors.
	fewCandidates = 100
	manyVectors   = 50_000
	// manyAlike: the more vectors there are, the more of them are so alike that only
	// their numbers tell which are nearer (measured; see doc/tools/memory.md).
	manyAlike = 1000
	closely   = 60
)

// maxQuery is how much of a query is looked for, in bytes. Each of its words is counted.
const maxQuery = 16 << 10

// Search finds what fits a query best, the best first. Without an embedding
// model, or when it fails, the words alone decide.
func (m *Memory) Search(ctx context.Context, q Query) ([]Hit, error) {
	found, err := m.SearchEach(ctx, q, q.Scope)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// SearchEach is Search in each of some scopes, whatever the scope of the query. It
// looks once at the question, and at one state of the database.
func (m *Memory) SearchEach(ctx context.Context, q Query, scopes ...store.Scope) ([][]Hit, error) {
	if q.TopK <= 0 {
		q.TopK = 10
	}
	q.Text = clip.Bytes(q.Text, maxQuery)
	asked := m.ask(ctx, q)
	if asked.vector != nil {
		q.Overlap = 0
	}
	found := make([][]Hit, len(scopes))
	m.searching.RLock()
	defer m.searching.RUnlock()
	err := m.store.Read(ctx, func(tx *store.Tx) (err error) {
		var words wanted
		if q.Mode != Vector {
			if words, err = m.rareTerms(tx, terms.Seek(q.Text), q); err != nil {
				return err
			}
		}
		for i, scope := range scopes {
			none, err := noneOf(tx, scope)
			if err != nil {
				return err
			}
			if none {
				continue
			}
			q.Scope = scope
			if found[i], err = m.search(tx, q, words, asked); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// noneOf reports whether nothing is kept of the kinds of a scope. A search would look at
// all messages with the words to find that out. Of messages there always are some.
func noneOf(tx *store.Tx, s store.Scope) (bool, error) {
	if len(s.Kinds) == 0 || slices.Contains(s.Kinds, store.KindMessage) {
		return false, nil
	}
	any, err := tx.Index().Any(s)
	return !any, err
}

// candidate is a chunk on its way to a hit.
type candidate struct {
	id      store.ChunkID
	keyword float64 // BM25
	cosine  float64
	around  float64 // the cosine with the neighbours taken in
	known   bool    // that there is a vector, of this kind
	kind    store.Kind
	vector  []float32 // the exact one where it was worth to be read, after a close look any
	score   float64
}

func (m *Memory) search(tx *store.Tx, q Query, words wanted, asked question) ([]Hit, error) {
	vector := asked.vector
	found := map[store.ChunkID]*candidate{}
	limit := keywordCandidates
	switch {
	case vector != nil && m.manyVectors():
		limit = fewCandidates
	case vector == nil && len(q.Scope.Kinds) > 0 && !slices.Contains(q.Scope.Kinds, store.KindMemory):
		limit = q.TopK // the words alone decide, and nothing is left out as said twice
	}
	matches, err := tx.Index().MatchTerms(words.terms, q.Scope, limit, maxMatches)
	if err != nil {
		return nil, err
	}
	for _, match := range matches {
		found[match.ID] = &candidate{id: match.ID, keyword: match.Score}
	}
	var set store.VectorSet
	if vector != nil {
		var known bool
		if set, known, err = m.vectorSet(tx); err != nil {
			return nil, err
		}
		if !known || len(vector) != set.Dimensions {
			vector = nil // a server may have another model behind the same name
		}
	}
	if vector != nil {
		if err := m.vectors(tx, set, q, vector, found); err != nil {
			return nil, err
		}
	}
	all := make([]*candidate, 0, len(found))
	for _, c := range found {
		all = append(all, c)
	}
	rank := ranking{fusion: m.fusion(), vectors: vector != nil, full: words.full}
	most := q.TopK
	if vector != nil { // then a closer look may show more
		most = max(closely, 2*q.TopK)
	}
	all, chunks, err := different(tx, rank.first(all, len(all)), most)
	if err != nil {
		return nil, err
	}
	if vector != nil {
		if err := lookAround(tx, set, vector, all, chunks); err != nil {
			return nil, err
		}
	}
	all = rank.final(all, q.TopK)
	hits := make([]Hit, len(all))
	for i, c := range all {
		hits[i] = Hit{Chunk: chunks[c.id], Score: c.score, Cosine: c.cosine, Near: asked.near(c.vector)}
	}
	return hits, nil
}

// saying is what a memory says, and where it is from.
type saying struct{ source, content string }

// different are the first of the candidates that are still there, at most n. Of
// memories that say the same, because it was saved twice, the first one stands for
// all.
func different(tx *store.Tx, all []*candidate, n int) ([]*candidate, map[store.ChunkID]store.Chunk, error) {
	first := make([]*candidate, 0, min(n, len(all)))
	chunks := make(map[store.ChunkID]store.Chunk, n)
	said := map[saying]bool{}
	for len(all) > 0 && len(first) < n {
		some := all[:min(n, len(all))]
		all = all[len(some):]
		there, err := chunksOf(tx, some)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range some {
			chunk, ok := there[c.id]
			s := saying{chunk.Source, chunk.Content}
			kept := chunk.Kind == store.KindMemory
			if !ok || len(first) == n || kept && said[s] {
				continue
			}
			if kept {
				said[s] = true
			}
			first, chunks[c.id] = append(first, c), chunk
		}
	}
	return first, chunks, nil
}

// vectors adds the candidates of the vector side, and the cosines of all.
func (m *Memory) vectors(tx *store.Tx, set store.VectorSet, q Query, vector []float32, found map[store.ChunkID]*candidate) error {
	kinds := q.Scope.Kinds
	if len(kinds) == 0 {
		kinds = store.Kinds()
	}
	for _, kind := range kinds {
		if err := m.vectorsOf(tx, set, kind, q, vector, found); err != nil {
			return err
		}
	}
	return nil
}

// triesForDead bounds how often a search starts again because it met chunks that
// were deleted.
const triesForDead = 5

func (m *Memory) vectorsOf(tx *store.Tx, set store.VectorSet, kind store.Kind, q Query, vector []float32, found map[store.ChunkID]*candidate) error {
	for range triesForDead {
		near, err := m.nearestWithin(tx, set, kind, vector, q.Scope)
		if err != nil {
			return err
		}
		if err := m.weigh(tx, set, kind, vector, near, found); err != nil {
			return err
		}
		gone := map[store.ChunkID]bool{}
		for _, n := range near {
			if found[n.chunk] == nil {
				gone[n.chunk] = true
			}
		}
		if len(gone) == 0 {
			return sharpen(tx, set, kind, vector, found)
		}
		m.drop(kind, gone)
	}
	return nil
}

// weigh finds the cosines of the nearest and of all that the words have found.
func (m *Memory) weigh(tx *store.Tx, set store.VectorSet, kind store.Kind, vector []float32, near []sign, found map[store.ChunkID]*candidate) error {
	note := func(id store.ChunkID, cosine float64) {
		if found[id] == nil {
			found[id] = &candidate{id: id}
		}
		c := found[id]
		c.cosine, c.known, c.kind = cosine, true, kind
	}
	rows := make([]int64, len(near))
	for i, n := range near {
		rows[i] = n.row
	}
	if err := tx.Vectors().CoarseCosines(set, rows, vector, note); err != nil {
		return err
	}
	var others []store.ChunkID
	for id, c := range found {
		if !c.known {
			others = append(others, id)
		}
	}
	if err := tx.Vectors().CoarseCosinesOf(set, kind, others, vector, note); err != nil {
		return err
	}
	// What is left has no coarse vector, or none.
	others = others[:0]
	for _, n := range near {
		if found[n.chunk] == nil {
			others = append(others, n.chunk)
		}
	}
	for id, c := range found {
		if !c.known {
			others = append(others, id)
		}
	}
	exact, err := tx.Vectors().Vectors(set.ID, kind, others)
	for id, v := range exact {
		note(id, dot(v, vector))
	}
	return err
}

// coarseVectors are vectors as they can be read quickly, the exact ones where that
// cannot be.
func coarseVectors(tx *store.Tx, set store.VectorSet, kind store.Kind, ids []store.ChunkID) (map[store.ChunkID][]float32, error) {
	known, err := tx.Vectors().CoarseVectors(set, kind, ids)
	if err != nil || len(known) == len(ids) {
		return known, err
	}
	var others []store.ChunkID
	for _, id := range ids {
		if known[id] == nil {
			others = append(others, id)
		}
	}
	exact, err := tx.Vectors().Vectors(set.ID, kind, others)
	maps.Copy(known, exact)
	return known, err
}

// exactly is how many of the nearest get their exact vectors.
const exactly = 20

// sharpen gives the nearest of a kind their exact vectors.
func sharpen(tx *store.Tx, set store.VectorSet, kind store.Kind, query []float32, found map[store.ChunkID]*candidate) error {
	near := make([]*candidate, 0, len(found))
	for _, c := range found {
		if c.known && c.kind == kind {
			near = append(near, c)
		}
	}
	slices.SortFunc(near, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(b.id, a.id)) })
	near = near[:min(len(near), exactly)]
	exact, err := tx.Vectors().Vectors(set.ID, kind, idsOf(near))
	if err != nil {
		return err
	}
	for _, c := range near {
		if v := exact[c.id]; v != nil {
			c.vector, c.cosine = v, dot(v, query)
		}
	}
	return nil
}

// nearestWithin are the nearest chunks of a scope. Signs know the chat of a chunk;
// where a scope asks for more, twice as many are looked up. A scope that lets few of
// them pass is read whole instead: it is small as a rule.
func (m *Memory) nearestWithin(tx *store.Tx, set store.VectorSet, kind store.Kind, vector []float32, s store.Scope) ([]sign, error) {
	if s.Source == "" && s.Before == 0 && s.Since.IsZero() && s.Until.IsZero() {
		near, _, err := m.nearest(tx, set, kind, vector, s, 1, nil)
		return near, err
	}
	near, limit, err := m.nearest(tx, set, kind, vector, s, 2, nil)
	if err != nil {
		return nil, err
	}
	every := len(near) < 2*limit
	ids := make([]store.ChunkID, len(near))
	for i, n := range near {
		ids[i] = n.chunk
	}
	within, err := idSet(tx.Index().ChunkIDsAmong(s, ids))
	if err != nil {
		return nil, err
	}
	near = slices.DeleteFunc(near, func(n sign) bool { return !within[n.chunk] })
	if every || len(near) >= limit {
		return near[:min(len(near), limit)], nil
	}
	if within, err = idSet(tx.Index().ChunkIDs(s)); err != nil {
		return nil, err
	}
	near, _, err = m.nearest(tx, set, kind, vector, s, 1, func(id store.ChunkID) bool { return within[id] })
	return near, err
}

func idsOf(all []*candidate) []store.ChunkID {
	ids := make([]store.ChunkID, len(all))
	for i, c := range all {
		ids[i] = c.id
	}
	return ids
}

func idSet(ids []store.ChunkID, err error) (map[store.ChunkID]bool, error) {
	set := make(map[store.ChunkID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set, err
}

func chunksOf(tx *store.Tx, all []*candidate) (map[store.ChunkID]store.Chunk, error) {
	rows, err := tx.Index().Chunks(idsOf(all))
	chunks := make(map[store.ChunkID]store.Chunk, len(rows))
	for _, row := range rows {
		chunks[row.ID] = row
	}
	return chunks, err
}

// lookAround finds what the cosine is when the neighbours count, half as much
// with every step away.
func lookAround(tx *store.Tx, set store.VectorSet, query []float32, all []*candidate, chunks map[store.ChunkID]store.Chunk) error {
	beside, err := tx.Index().NeighbourIDs(slices.Collect(maps.Keys(chunks)), reach)
	if err != nil {
		return err
	}
	wanted := map[store.Kind][]store.ChunkID{}
	vectors := map[store.ChunkID][]float32{}
	for _, c := range all {
		if vectors[c.id] = c.vector; c.known && c.vector == nil {
			kind := chunks[c.id].Kind
			wanted[kind] = append(wanted[kind], c.id)
		}
	}
	for id, row := range beside {
		for _, b := range row {
			if _, known := vectors[b.ID]; !known {
				vectors[b.ID] = nil
				wanted[chunks[id].Kind] = append(wanted[chunks[id].Kind], b.ID)
			}
		}
	}
	for kind, ids := range wanted {
		more, err := coarseVectors(tx, set, kind, ids)
		if err != nil {
			return err
		}
		maps.Copy(vectors, more)
	}
	for _, c := range all {
		own := vectors[c.id]
		if own == nil {
			continue
		}
		c.vector = own
		sum := slices.Clone(own)
		for _, b := range beside[c.id] {
			weight := float32(math.Pow(0.5, float64(b.Steps)))
			for k, x := range vectors[b.ID] {
				sum[k] += weight * x
			}
		}
		c.around = dot(sum, query) / math.Sqrt(dot(sum, sum))
	}
	return nil
}

func dot(a, b []float32) float64 {
	var sum float32
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}

// byScore sorts the best first; of two that are alike, the newer one.
func byScore(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id))
}

func top(all []*candidate, n int) []*candidate {
	slices.SortFunc(all, byScore)
	return all[:min(n, len(all))]
}
