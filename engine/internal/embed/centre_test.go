package embed

import (
	"context"
	"math"
	"testing"
	"unicode"
)

// leaning is a computer whose vectors all lie close together, as those of the e5
// models do.
type leaning struct{ runs int }

func (l *leaning) run(_ context.Context, texts [][]int64, batch []int, _ Pooling, all [][]float32) error {
	l.runs++
	for _, i := range batch {
		angle := float64(len(texts[i]))
		all[i] = []float32{0.98, float32(0.2 * math.Cos(angle)), float32(0.2 * math.Sin(angle))}
	}
	return nil
}

func (l *leaning) close() error { return nil }

// TestCentredQueries: what all queries have is taken away, which is looked for once.
func TestCentredQueries(t *testing.T) {
	for near, wide := range map[float64]bool{0: false, 0.2: true} {
		m, _, _ := slowModel(t)
		network := &leaning{}
		m.config.Recipe.Near, m.open = near, func() (tokenizer, computer, error) { return letters{}, network, nil }
		centred := func(text string) []float32 {
			v, err := m.Query(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			if v, err = m.Centred(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		a, runs := centred("four"), network.runs
		b := centred("of seven")
		var cosine, length float32
		for i := range a {
			cosine += a[i] * b[i]
			length += a[i] * a[i]
		}
		if math.Abs(float64(length)-1) > 0.01 || (cosine < 0.5) != wide {
			t.Errorf("near %v: the cosine of two queries is %.2f, the length %.2f", near, cosine, length)
		}
		if network.runs != runs+1 {
			t.Errorf("near %v: the second query took %d runs of the network", near, network.runs-runs)
		}
	}
}

// TestCentredRefusesVectorsOfOtherModels: the model may change between a question and its
// answer.
func TestCentredRefusesVectorsOfOtherModels(t *testing.T) {
	m, _, _ := slowModel(t)
	m.config.Recipe.Near, m.open = 0.2, func() (tokenizer, computer, error) { return letters{}, &leaning{}, nil }
	for _, other := range [][]float32{{1}, {1, 0, 0, 0}} {
		if v, err := m.Centred(t.Context(), other); err == nil {
			t.Errorf("a vector of %d numbers becomes %v", len(other), v)
		}
	}
}

// cyrillics is a tokenizer that tells Cyrillic letters from others.
type cyrillics struct{ letters }

func (cyrillics) encode(text string, limit int) (ids []int64) {
	for _, r := range text {
		ids = append(ids, 0)
		if unicode.Is(unicode.Cyrillic, r) {
			ids[len(ids)-1] = 1
		}
	}
	return ids[:min(len(ids), limit)]
}

// speaking is a computer whose vectors tell the language in their second number.
type speaking struct{ leaning }

func (s *speaking) run(ctx context.Context, texts [][]int64, batch []int, p Pooling, all [][]float32) error {
	err := s.leaning.run(ctx, texts, batch, p, all)
	for _, i := range batch {
		language := float32(0)
		for _, id := range texts[i] {
			language = max(language, 0.5*float32(id))
		}
		all[i] = append(all[i], language)
	}
	return err
}

// TestCentredQueriesOfLanguages: that a query is in Russian says nothing about what it
// has to do with another Russian text.
func TestCentredQueriesOfLanguages(t *testing.T) {
	m, _, _ := slowModel(t)
	m.config.Recipe.Near, m.open = 0.2, func() (tokenizer, computer, error) { return cyrillics{}, &speaking{}, nil }
	for _, text := range []string{"where are they", "где они"} {
		v, err := m.Query(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if v, err = m.Centred(t.Context(), v); err != nil || math.Abs(float64(v[3])) > 0.05 {
			t.Errorf("%s: %.2f, %v", text, v, err)
		}
	}
}
