package memory

import (
	"context"
	"klawbot/engine/internal/terms"
	"time"
)

// question is what the embedder makes of a query. Its vector is nil when there is
// none.
type question struct {
	vector []float32
	// centred is compared with texts for their similarity, nil if Query.Near is false.
	centred []float32
	// nearness is what the cosine with centred says.
	nearness func(cosine float64) float64
}

// nearing is an embedder that knows how near what it finds is.
type nearing interface {
	// Centred is the vector of a query without what those of all queries have in common.
	Centred(ctx context.Context, query []float32) ([]float32, error)
	// Nearness is what the cosine of such a vector with that of a text says: 0 for
	// texts that have nothing to do with the query, 0.5 for those that may well have,
	// up to 1.
	Nearness(cosine float64) float64
}

// near is how near a text is, for Hit.Near. A text without a vector is not known to be.
func (q question) near(vector []float32) float64 {
	if vector == nil || q.centred == nil {
		return 0
	}
	return q.nearness(dot(vector, q.centred))
}

// ask makes the vector of a query, if there is one.
func (m *Memory) ask(ctx context.Context, q Query) question {
	if m.embedder == nil || q.Mode == Keyword || !terms.HasWords(q.Text) { // signs are found as they are
		return question{}
	}
	if q.Patience > 0 {
		return m.askQuickly(ctx, q)
	}
	return m.askNow(ctx, q)
}

// askQuickly makes the vector of a query if that takes no longer than its patience.
// The first query loads the model and may be late; until it is done, other queries
// have no vector either.
func (m *Memory) askQuickly(ctx context.Context, q Query) question {
	m.mu.Lock()
	asking := m.asking
	m.asking = true
	m.mu.Unlock()
	if asking {
		return question{}
	}
	made := make(chan question, 1)
	go func() {
		asked := m.askNow(context.WithoutCancel(ctx), q)
		m.mu.Lock()
		m.asking = false
		m.mu.Unlock()
		made <- asked
	}()
	late := time.NewTimer(q.Patience)
	defer late.Stop()
	select {
	case asked := <-made:
		return asked
	case <-late.C:
	case <-ctx.Done():
	}
	return question{}
}

func (m *Memory) askNow(ctx context.Context, q Query) question {
	asked, err := m.questionOf(ctx, q)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && !m.quiet && ctx.Err() == nil && !noEmbedder(err) {
		m.log.Warn("no vectors, keyword search only", "error", err)
	}
	m.quiet = err != nil
	return asked
}

// questionOf asks the embedder for the vector of a query, and of what is near to it.
func (m *Memory) questionOf(ctx context.Context, q Query) (asked question, err error) {
	v, err := m.embedder.Query(ctx, q.Text)
	if err != nil || v == nil || !q.Near {
		return question{vector: v}, err
	}
	n, knows := m.embedder.(nearing)
	if !knows {
		return question{v, v, func(cosine float64) float64 { return cosine }}, nil
	}
	centred, err := n.Centred(ctx, v)
	return question{v, centred, n.Nearness}, err
}
