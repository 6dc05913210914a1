package guide

import (
	"cmp"
	"io/fs"
	"math"
	"slices"
)

// The usual parameters of BM25, and how often a word of a heading counts.
const (
	saturation   = 1.2
	lengthWeight = 0.75
	titleWeight  = 3
)

// index finds sections by their words. It does not change.
type index struct {
	sections []section
	// length is how many words each section has, average their mean.
	length  []int
	average float64
	// hits are, for each word, the sections that have it and how often.
	hits map[string]map[int]int
}

func readIndex(manual fs.FS) (*index, error) {
	pages, err := readPages(manual)
	if err != nil {
		return nil, err
	}
	x := &index{hits: map[string]map[int]int{}}
	total := 0
	for _, p := range pages {
		for _, s := range sectionsOf(p.path, p.text) {
			if s.text == "" {
				continue
			}
			words := wordsOf(s.text)
			for range titleWeight {
				words = append(words, wordsOf(s.title)...)
			}
			words = append(words, wordsOf(p.title)...)
			x.add(s, words)
			total += len(words)
		}
	}
	x.average = float64(max(total, 1)) / float64(max(len(x.sections), 1))
	return x, nil
}

func (x *index) add(s section, words []string) {
	at := len(x.sections)
	x.sections, x.length = append(x.sections, s), append(x.length, len(words))
	for _, w := range words {
		if x.hits[w] == nil {
			x.hits[w] = map[int]int{}
		}
		x.hits[w][at]++
	}
}

// find returns the sections that fit a query best, the best first.
func (x *index) find(query string, limit int) []section {
	words := wordsOf(query)
	slices.Sort(words)
	scores := map[int]float64{}
	for _, w := range slices.Compact(words) {
		hits := x.hits[w]
		rare := math.Log(1 + (float64(len(x.sections)-len(hits))+0.5)/(float64(len(hits))+0.5))
		for at, n := range hits {
			share := 1 - lengthWeight + lengthWeight*float64(x.length[at])/x.average
			scores[at] += rare * float64(n) * (saturation + 1) / (float64(n) + saturation*share)
		}
	}
	best := make([]int, 0, len(scores))
	for at := range scores {
		best = append(best, at)
	}
	slices.SortFunc(best, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	found := make([]section, min(limit, len(best)))
	for i := range found {
		found[i] = x.sections[best[i]]
	}
	return found
}
