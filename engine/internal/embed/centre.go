package embed

import (
	"context"
	_ "embed"
	"math"
	"strings"
)

// ordinary are messages as people send them to a bot, one a line, about nothing in
// particular.
//
//go:embed ordinary.txt
var ordinary string

// Centred is the vector of a query without what the vectors of all queries have in
// common, of length 1. The cosine with it tells what has to do with the query from
// what is merely near to all queries, which a cosine of the e5 models hardly does:
// nine tenths of each of their vectors are the same. Of a model whose cosines nobody
// measured it is the vector itself. The first one takes as long as 40 short texts.
func (m *Model) Centred(ctx context.Context, query []float32) ([]float32, error) {
	if !m.config.Recipe.measured() {
		return query, nil
	}
	mean, err := m.meanQuery(ctx)
	if err != nil {
		return nil, err
	}
	centred := make([]float32, len(query))
	var square float64
	for i := range query {
		centred[i] = query[i] - mean[i]
		square += float64(centred[i]) * float64(centred[i])
	}
	length := float32(math.Sqrt(square))
	if length == 0 {
		return centred, nil
	}
	for i := range centred {
		centred[i] /= length
	}
	return centred, nil
}

// meanQuery is the mean of the vectors of ordinary messages. It is made once.
func (m *Model) meanQuery(ctx context.Context) ([]float32, error) {
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	mean := m.mean
	m.leave()
	if mean != nil {
		return mean, nil
	}
	texts := strings.Split(strings.TrimSpace(ordinary), "\n")
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
	mean = make([]float32, len(all[0]))
	for _, v := range all {
		for i, x := range v {
			mean[i] += x / float32(len(all))
		}
	}
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	defer m.leave()
	m.mean = mean
	return mean, nil
}
