package memory

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/terms"
	"klawbot/gateway"
)

// hashed is an embedder whose vectors are the hash of a text, spread.
type hashed struct{}

func (hashed) Name() string                            { return "hashed" }
func (hashed) Dimensions(context.Context) (int, error) { return 32, nil }

func (hashed) Query(_ context.Context, text string) ([]float32, error) {
	h := fnv.New64a()
	h.Write([]byte(text))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, 32)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return unit(v), nil
}

func (e hashed) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i], _ = e.Query(ctx, t)
	}
	return all, nil
}

func unit(v []float32) []float32 {
	length := float32(math.Sqrt(dot(v, v)))
	for i := range v {
		v[i] /= length
	}
	return v
}

// plain is the search as one would write it without an index: all chunks, each with
// the words of its neighbours.
type plain struct {
	chunks []store.Chunk
	words  []map[string]int // of each chunk
	length []float64
	mean   float64
}

func plainOf(t *testing.T, s *store.Store) (p plain) {
	t.Helper()
	err := s.Read(t.Context(), func(tx *store.Tx) (err error) {
		ids, err := tx.Index().ChunkIDs(store.Scope{})
		if err != nil {
			return err
		}
		p.chunks, err = tx.Index().Chunks(ids)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.chunks {
		words := map[string]int{}
		for _, term := range terms.Of(c.Content) {
			words[term] += ownness
		}
		for _, b := range p.beside(c) {
			for _, term := range terms.Of(b.Content) {
				words[term]++
			}
		}
		length := 0.0
		for _, n := range words {
			length += float64(n)
		}
		p.words, p.length = append(p.words, words), append(p.length, length)
		p.mean += length
	}
	p.mean /= float64(len(p.chunks))
	return p
}

// beside are the neighbours of a chunk: the two before and behind it at its place, as
// far as they are of the same hour.
func (p plain) beside(c store.Chunk) (all []store.Chunk) {
	row := slices.DeleteFunc(slices.Clone(p.chunks), func(o store.Chunk) bool { return !samePlace(o, c) })
	i := placeOf(row, c.ID)
	for k := max(0, i-reach); k <= min(i+reach, len(row)-1); k++ {
		if k != i && near(row[k].CreatedAt, c.CreatedAt) {
			all = append(all, row[k])
		}
	}
	return all
}

func placeOf(row []store.Chunk, id store.ChunkID) int {
	return slices.IndexFunc(row, func(c store.Chunk) bool { return c.ID == id })
}

// within are the places of the chunks of a scope.
func (p plain) within(s store.Scope) (places []int) {
	for i, c := range p.chunks {
		mine, shared := c.Channel == s.Channel && c.Chat == s.Chat, c.Channel == "" && s.Shared
		switch {
		case len(s.Kinds) > 0 && !slices.Contains(s.Kinds, c.Kind),
			(s.Channel != "" || s.Shared) && !shared && (s.Channel == "" || !mine),
			s.Source != "" && c.Source != s.Source,
			s.Before != 0 && c.Owner >= s.Before,
			!s.Since.IsZero() && c.CreatedAt.Before(s.Since),
			!s.Until.IsZero() && !c.CreatedAt.Before(s.Until):
			continue
		}
		places = append(places, i)
	}
	return places
}

// have is how many chunks have a term.
func (p plain) have(term string) (n float64) {
	for _, words := range p.words {
		if words[term] > 0 {
			n++
		}
	}
	return n
}

// termsOf are the terms that a question goes by: those of its words that any chunk has,
// else their parts.
func (p plain) termsOf(text string) []string {
	known := func(some []string) []string {
		var there []string
		for _, t := range some { // a single character stands alone in these texts
			if t = strings.TrimSuffix(t, store.AnyEnd); p.have(t) > 0 {
				there = append(there, t)
			}
		}
		return there
	}
	var all []string
	for _, word := range terms.Seek(text) {
		some := known(word.Terms)
		if len(some) == 0 && !word.Extra {
			some = known(word.Parts)
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// byWords are the chunks of a scope in the order of BM25.
func (p plain) byWords(text string, s store.Scope) (ids []store.ChunkID) {
	scores := map[store.ChunkID]float64{}
	for _, term := range p.termsOf(text) {
		have := p.have(term)
		weight := math.Log((float64(len(p.chunks)) - have + 0.5) / (have + 0.5))
		if weight <= 0 {
			weight = 1e-6
		}
		for _, i := range p.within(s) {
			if n := float64(p.words[i][term]); n > 0 {
				scores[p.chunks[i].ID] += weight * n * 2.2 / (n + 1.2*(0.25+0.75*p.length[i]/p.mean))
			}
		}
	}
	for _, i := range p.within(s) {
		if scores[p.chunks[i].ID] > 0 {
			ids = append(ids, p.chunks[i].ID)
		}
	}
	slices.SortFunc(ids, func(a, b store.ChunkID) int {
		if math.Abs(scores[a]-scores[b]) < 1e-9 {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(scores[b], scores[a])
	})
	return ids
}

// byVectors are what the vectors say of the chunks of a scope, 0 to 1.
func (p plain) byVectors(text string, s store.Scope) map[store.ChunkID]float64 {
	var e hashed
	query, _ := e.Query(context.Background(), text)
	var all []*candidate
	for _, i := range p.within(s) {
		own, _ := e.Query(context.Background(), p.chunks[i].Content)
		all = append(all, &candidate{id: p.chunks[i].ID, cosine: dot(own, query), vector: own, known: true})
	}
	own := spread(all, func(c *candidate) float64 { return c.cosine })
	for _, c := range all {
		c.around = p.around(c, query)
	}
	around := spread(all, func(c *candidate) float64 { return c.around })
	found := map[store.ChunkID]float64{}
	for _, c := range all {
		found[c.id] = (weightOwn*own.of(c.cosine) + weightAround*around.of(c.around)) / (1 + weightOwn + weightAround)
	}
	return found
}

// around is the cosine of a chunk with its neighbours taken in.
func (p plain) around(c *candidate, query []float32) float64 {
	chunk := p.chunks[placeOf(p.chunks, c.id)]
	row := append(p.beside(chunk), chunk)
	slices.SortFunc(row, func(a, b store.Chunk) int { return cmp.Compare(a.ID, b.ID) })
	own := placeOf(row, c.id)
	sum := make([]float32, len(query))
	for i, b := range row {
		v, _ := hashed{}.Query(context.Background(), b.Content)
		steps := math.Abs(float64(i - own))
		for k, x := range v {
			sum[k] += float32(math.Pow(0.5, steps)) * x
		}
	}
	return dot(unit(sum), query)
}

// house is a database in which texts come and go at random.
type house struct {
	*rand.Rand
	s     *store.Store
	now   time.Time
	said  int64
	words int
}

var (
	manyWords = strings.Fields("boiler garden Anna Lisbon train 猫 钥匙在哪里 ёлка врач Straße naïve café 42 tax invoice dog orchid May keys")
	sources   = []string{"manual", "list", "house"}
)

func (h *house) text() string {
	var b strings.Builder
	for range 1 + h.IntN(4) {
		h.words++
		fmt.Fprintf(&b, "%s-n%d ", manyWords[h.IntN(len(manyWords))], h.words) // no two are alike
	}
	return b.String()
}

// step changes something.
func (h *house) step(tx *store.Tx) error {
	size := ChunkSize{Size: 8, Overlap: 2}
	h.now = h.now.Add(time.Duration(h.IntN(90)-10) * time.Minute) // clocks go back, too
	m := store.Memory{Content: h.text(), Source: sources[h.IntN(3)], CreatedAt: h.now}
	if c := h.IntN(4); c > 0 {
		m.Channel, m.Chat = "telegram", int64(c)
	}
	switch h.IntN(10) {
	case 0: // some of these are gone
		all, err := tx.Memories().Memories(1000)
		if err != nil || len(all) == 0 {
			return err
		}
		return Forget(tx, all[h.IntN(len(all))].ID)
	case 1:
		m.Key = manyWords[h.IntN(3)]
		_, _, _, err := Save(tx, m, size)
		return err
	case 2:
		var all []store.Memory
		for range 1 + h.IntN(6) {
			m.Content, m.CreatedAt = h.text(), m.CreatedAt.Add(20*time.Minute)
			all = append(all, m)
		}
		return SaveAll(tx, all, size)
	case 3, 4:
		if m.Channel == "" {
			return nil
		}
		h.said++
		return AddMessages(tx, []store.Said{{Address: store.Address{Chat: gateway.ChatID{Channel: m.Channel, ID: m.Chat}}, Message: store.Message{
			ID: store.MessageID(h.said), Session: store.SessionID(m.Chat), At: h.now, SenderName: "Anna", Body: llm.Text(llm.RoleUser, m.Content)}}}, size)
	case 5:
		name := "memory/" + sources[h.IntN(3)] + ".md"
		if err := tx.Index().DropSource(store.KindFile, name); err != nil {
			return err
		}
		var chunks []store.Chunk
		for range h.IntN(5) {
			chunks = append(chunks, store.Chunk{Kind: store.KindFile, Source: name, Content: h.text(), CreatedAt: h.now})
		}
		return Add(tx, chunks)
	}
	_, _, _, err := Save(tx, m, size)
	return err
}

func (h *house) scope() (s store.Scope) {
	if c := h.IntN(5); c > 1 {
		s.Channel, s.Chat = "telegram", int64(c-1)
	}
	s.Shared = h.IntN(2) == 0
	if h.IntN(3) == 0 {
		s.Source = sources[h.IntN(3)]
	}
	if h.IntN(3) == 0 {
		s.Kinds = []store.Kind{store.Kinds()[h.IntN(2)], store.KindFile}
	}
	if h.IntN(4) == 0 {
		s.Before = 1 + h.Int64N(h.said+1)
	}
	if h.IntN(4) == 0 {
		s.Since = h.now.Add(-30 * time.Hour)
	}
	if h.IntN(4) == 0 {
		s.Until = h.now.Add(-2 * time.Hour)
	}
	return s
}

// TestSearchFindsWhatAPlainLookFinds: texts are saved, said, replaced and forgotten at
// random; in every scope a search finds what a computation finds that looks at
// everything, in the same order.
func TestSearchFindsWhatAPlainLookFinds(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := &house{rand.New(rand.NewPCG(6, 2)), s, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), 0, 0}
	words := New(Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	vectors := New(Config{Store: s, Embedder: hashed{}, Log: slog.New(slog.DiscardHandler)})
	for round := range 10 {
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			for range 50 {
				if err := h.step(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := vectors.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		p := plainOf(t, s)
		for range 5 {
			q := Query{Text: h.text(), TopK: 1000, Mode: Keyword, Scope: h.scope()}
			hits, err := words.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want, got := p.byWords(q.Text, q.Scope), make([]store.ChunkID, len(hits))
			want = want[:min(len(want), keywordCandidates)]
			for i, hit := range hits {
				got[i] = hit.ID
			}
			if !slices.Equal(got, want) {
				t.Fatalf("round %d: %q in %+v finds\n%v, want\n%v", round, q.Text, q.Scope, got, want)
			}
			q.Mode = Vector
			if hits, err = vectors.Search(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			near := p.byVectors(q.Text, q.Scope)
			if len(near) <= vectorCandidates && len(hits) != len(near) {
				t.Fatalf("round %d: %q in %+v finds %d by vectors, want %d", round, q.Text, q.Scope, len(hits), len(near))
			}
			for _, hit := range hits {
				want, within := near[hit.ID]
				score := math.Pow(hit.Score, 1./steepness)
				if !within || math.Abs(score-want) > 0.01 && len(near) <= vectorCandidates {
					t.Fatalf("round %d: %q in %+v gives %+v %v, want %v", round, q.Text, q.Scope, hit.Chunk, score, want)
				}
			}
		}
	}
}

// TestFewTextsAreEnoughWhereMostWordsMustBeThere: a search that is told how many words of
// the question a text must have finds all of those that have them.
func TestFewTextsAreEnoughWhereMostWordsMustBeThere(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(7, 7))
	some := func(least int) string {
		all := make([]string, least+random.IntN(4))
		for i := range all {
			all[i] = fmt.Sprintf("%s%c", manyWords[random.IntN(5)], 'a'+int(9*random.ExpFloat64())) // some often, some never
			if random.IntN(9) == 0 {
				all[i] = fmt.Sprintf("%s %d", manyWords[random.IntN(len(manyWords))], random.IntN(200))
			}
		}
		return strings.Join(all, " ")
	}
	err = s.Write(t.Context(), func(tx *store.Tx) error {
		chunks := make([]store.Chunk, 1000)
		for i := range chunks {
			chunks[i] = store.Chunk{Kind: store.KindFile, Source: "notes.md", Content: some(3)}
		}
		return Add(tx, chunks)
	})
	if err != nil {
		t.Fatal(err)
	}
	m := New(Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	there := 0
	for range 200 {
		q := Query{Text: some(2), TopK: []int{5, 200}[random.IntN(2)]}
		asked := terms.Ask(q.Text)
		search := func(overlap float64) (found []store.ChunkID) {
			q.Overlap = overlap
			hits, err := m.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				if asked.Overlap(h.Content) >= 0.6 {
					found = append(found, h.ID)
				}
			}
			slices.Sort(found)
			return found
		}
		want, got := search(0), search(0.6)
		for _, id := range want {
			if there++; !slices.Contains(got, id) {
				t.Fatalf("%q finds %v, not %d", q.Text, got, id)
			}
		}
	}
	if there < 50 {
		t.Errorf("only %d texts were to be found", there)
	}
}

// TestAFileThatChangesOftenMakesNoWordRarer: how much the words of a query weigh hangs
// on how many texts there are, not on how many there were.
func TestAFileThatChangesOftenMakesNoWordRarer(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := New(Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	weight := func(edits int) (full float64) {
		t.Helper()
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			for range edits {
				if err := tx.Index().DropSource(store.KindFile, "notes.md"); err != nil {
					return err
				}
				chunks := make([]store.Chunk, 20)
				for i := range chunks {
					chunks[i] = store.Chunk{Kind: store.KindFile, Source: "notes.md", Content: fmt.Sprintf("note number%d", i)}
				}
				if err := Add(tx, chunks); err != nil {
					return err
				}
			}
			w, err := m.rareTerms(tx, terms.Seek("number7"), Query{})
			full = w.full
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return full
	}
	if before, after := weight(1), weight(30); before != after || before <= 0 {
		t.Errorf("the word weighs %v, and %v after the file was edited", before, after)
	}
}
