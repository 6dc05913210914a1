package memory

import (
	"math"
	"slices"
)

// The weights of the vector side, where the keyword side has 1: of the text
// itself and of the text among its neighbours. Measured, see doc/tools/memory.md.
const (
	weightOwn    = 0.75
	weightAround = 0.75
)

// steepness makes of a relevance a score.
const steepness = 8

// ranking brings both sides to one order.
type ranking struct {
	fusion  Fusion
	vectors bool
	// full is what the words of the query weigh. Where the best text has little of
	// it, the words say little beside the vectors.
	full float64
	// own and around are where the cosines lie.
	own, around scale
}

// first are the candidates that are worth a close look.
func (r *ranking) first(all []*candidate, n int) []*candidate {
	r.own = spread(all, func(c *candidate) float64 { return c.cosine })
	r.around = r.own
	for _, c := range all {
		c.around = c.cosine
	}
	r.score(all)
	return top(all, n)
}

// final are the best, after a close look at all of them.
func (r *ranking) final(all []*candidate, n int) []*candidate {
	r.around = spread(all, func(c *candidate) float64 { return c.around })
	r.score(all)
	return top(all, n)
}

// scale is where the numbers of one side lie.
type scale struct{ low, high float64 }

// of is a number on the scale, 0 to 1. Where all are alike, each is the best.
func (s scale) of(x float64) float64 {
	if s.high <= s.low {
		return 1
	}
	return (x - s.low) / (s.high - s.low)
}

// spread is the scale of a number of all candidates that have a vector.
func spread(all []*candidate, of func(*candidate) float64) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, c := range all {
		if c.known {
			s.low, s.high = min(s.low, of(c)), max(s.high, of(c))
		}
	}
	return s
}

func (r *ranking) score(all []*candidate) {
	if r.fusion == FuseRanks {
		r.ranks(all)
		return
	}
	var best float64
	for _, c := range all {
		best = max(best, c.keyword)
	}
	most := 1.0
	if r.vectors {
		most += weightOwn + weightAround
		best = max(best, r.full)
	}
	for _, c := range all {
		var relevance float64
		if best > 0 {
			relevance = c.keyword / best
		}
		if c.known {
			relevance += weightOwn*r.own.of(c.cosine) + weightAround*r.around.of(c.around)
		} else {
			relevance *= most // what has no vector yet must not fall behind
		}
		c.score = math.Pow(relevance/most, steepness)
	}
}

// rankConstant is the 60 of the paper.
const rankConstant = 60

func (r *ranking) ranks(all []*candidate) {
	for _, c := range all {
		c.score = 0
	}
	for _, side := range []func(*candidate) float64{
		func(c *candidate) float64 { return c.keyword },
		func(c *candidate) float64 { return c.cosine },
	} {
		order := slices.Clone(all)
		slices.SortStableFunc(order, func(a, b *candidate) int {
			switch x, y := side(a), side(b); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return int(b.id - a.id)
		})
		for i, c := range order {
			if side(c) > 0 {
				c.score += 1 / float64(rankConstant+1+i)
			}
		}
	}
}
