package embed

import (
	"context"
	"math"
	"testing"
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
