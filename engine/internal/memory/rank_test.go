package memory

import (
	"fmt"
	"math"
	"testing"

	"klawbot/engine/internal/store"
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

// TestWordsThatSayLittleGiveWay: a text that has one common word of a question
// comes before the nearest one only where that word is most of the question.
func TestWordsThatSayLittleGiveWay(t *testing.T) {
	const word, near, far = 1, 2, 3
	for _, c := range []struct {
		full  float64
		first store.ChunkID
	}{{0, word}, {2, word}, {8, near}} {
		r := ranking{fusion: FuseScores, vectors: true, full: c.full}
		all := []*candidate{
			{id: word, keyword: 2, cosine: 0.8, known: true}, {id: near, cosine: 0.9, known: true}, {id: far, cosine: 0.7, known: true},
		}
		got := r.final(r.first(all, 10), 3)
		if got[0].id != c.first || got[2].id != far {
			t.Errorf("where the words could weigh %v: %d, %d, %d", c.full, got[0].id, got[1].id, got[2].id)
		}
	}
}

// TestOnlyHitIsTheBest: where there is nothing to compare with, what is found is
// not called worthless.
func TestOnlyHitIsTheBest(t *testing.T) {
	r := ranking{fusion: FuseScores, vectors: true}
	all := r.final(r.first([]*candidate{{id: 1, keyword: 2, cosine: 0.8, known: true}}, 10), 10)
	if all[0].score != 1 {
		t.Errorf("the score is %v", all[0].score)
	}
}

// TestWeightOfWords: rare words weigh more than common ones, and one that nobody
// said half of one that hardly anybody did.
func TestWeightOfWords(t *testing.T) {
	rare, common, all, none := weightOf(1, 1000), weightOf(400, 1000), weightOf(900, 1000), weightOf(0, 1000)
	if !(rare > 3 && common > 0 && common < 1 && all == 0 && none > rare/2 && none < rare) {
		t.Errorf("rare %v, common %v, in nearly all %v, in none %v", rare, common, all, none)
	}
}
