package memory

import (
	"fmt"
	"math"
	"testing"
)

// TestReciprocalRankFusion has the scenarios of Klaw: candidates are known by their
// id (none is there twice), by their words (k), by their vectors (v), or by both.
func TestReciprocalRankFusion(t *testing.T) {
	for name, c := range map[string]struct {
		all  []*candidate
		topK int
		want string
	}{
		"nothing":                   {nil, 3, ""},
		"words alone":               {[]*candidate{{id: 1, keyword: 2}, {id: 2, keyword: 7}}, 3, "2:1/61 1:1/62 "},
		"vectors alone":             {[]*candidate{{id: 1, cosine: 0.9, known: true}, {id: 2, cosine: 0.3, known: true}}, 3, "1:1/61 2:1/62 "},
		"both are better than one":  {[]*candidate{{id: 1, keyword: 9}, {id: 2, keyword: 1, cosine: 0.2, known: true}, {id: 3, cosine: 0.9, known: true}}, 3, "2:2/62 3:1/61 1:1/61 "},
		"no more than were wanted":  {[]*candidate{{id: 1, keyword: 3}, {id: 2, keyword: 2}, {id: 3, keyword: 1}}, 2, "1:1/61 2:1/62 "},
		"equals by the newest":      {[]*candidate{{id: 1, keyword: 3}, {id: 2, keyword: 3}}, 2, "2:1/61 1:1/62 "},
		"a vector that is far away": {[]*candidate{{id: 1, keyword: 3}, {id: 2, cosine: -0.2, known: true}}, 1, "1:1/61 "},
	} {
		t.Run(name, func(t *testing.T) {
			r := ranking{fusion: FuseRanks, vectors: true}
			got := ""
			for _, c := range r.final(r.first(c.all, 10), c.topK) {
				got += fmt.Sprintf("%d:%s ", c.id, fraction(c.score))
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// fraction is a score as the formula has it.
func fraction(score float64) string {
	for _, n := range []int{1, 2} {
		for d := 61; d < 70; d++ {
			if math.Abs(score-float64(n)/float64(d)) < 1e-12 {
				return fmt.Sprintf("%d/%d", n, d)
			}
		}
	}
	return fmt.Sprint(score)
}
