package embed

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"math"
	"slices"
	"strings"
)

// ordinary are messages as people send them to a bot, about nothing in particular,
// one a line: those of a language stand together.
//
//go:embed ordinary.txt
var ordinary string

// Centred is the vector of a query without what the vectors of all queries of its
// language have in common, of length 1. The cosine with it tells what has to do with
// the query from what is merely near to all queries, which a cosine of the e5 models
// hardly does: nine tenths of each of their vectors are the same, and much of the rest
// tells the language. For a model without measurements it is the vector itself.
// The first one takes as long as 80 short texts.
func (m *Model) Centred(ctx context.Context, query []float32) ([]float32, error) {
	if !m.config.Recipe.measured() {
		return query, nil
	}
	means, err := m.meanQueries(ctx)
	if err != nil {
		return nil, err
	}
	if len(means[0]) != len(query) {
		return nil, errors.New("the vector is of another model")
	}
	mean := slices.MaxFunc(means, func(a, b []float32) int { return cmp.Compare(cosine(a, query), cosine(b, query)) })
	centred := make([]float32, len(query))
	for i := range query {
		centred[i] = query[i] - mean[i]
	}
	if length := lengthOf(centred); length > 0 {
		for i := range centred {
			centred[i] /= length
		}
	}
	return centred, nil
}

// meanQueries are the means of the vectors of ordinary messages, one for each
// language. They are made once.
func (m *Model) meanQueries(ctx context.Context) ([][]float32, error) {
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	means := m.means
	m.leave()
	if means != nil {
		return means, nil
	}
	for language := range strings.SplitSeq(strings.TrimSpace(ordinary), "\n\n") {
		mean, err := m.meanQuery(ctx, strings.Split(language, "\n"))
		if err != nil {
			return nil, err
		}
		means = append(means, mean)
	}
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	defer m.leave()
	m.means = means
	return means, nil
}

func (m *Model) meanQuery(ctx context.Context, texts []string) ([]float32, error) {
	for i := range texts {
		texts[i] = m.config.Recipe.QueryPrefix + texts[i]
	}
	encoded, _, err := m.encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	all, err := m.vectors(ctx, encoded)
	if err != nil {
		return nil, err
	}
	mean := make([]float32, len(all[0]))
	for _, v := range all {
		for i, x := range v {
			mean[i] += x / float32(len(all))
		}
	}
	return mean, nil
}

func cosine(a, b []float32) float32 {
	var dot float32
	for i := range a {
		dot += a[i] * b[i]
	}
	return dot / (lengthOf(a)*lengthOf(b) + math.SmallestNonzeroFloat32)
}

func lengthOf(v []float32) float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return float32(math.Sqrt(square))
}
