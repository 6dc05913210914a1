package engine

import (
	"context"
	"sync"
	"time"

	"klawbot/internal/wait"
)

// quiet knows whether turns run. What can wait leaves the processor to them. The
// zero value is ready.
type quiet struct {
	mu      sync.Mutex
	running int       // guarded by mu
	since   time.Time // guarded by mu; when the last turn ended
}

func (q *quiet) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running++
}

func (q *quiet) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.since = time.Now()
}

// turns is how many turns run.
func (q *quiet) turns() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

// left is how long it takes at least until no turn has run for calm.
func (q *quiet) left(calm time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running > 0 {
		return calm
	}
	return calm - time.Since(q.since)
}

// wait returns when no turn has run for calm, after most at the latest, and when
// ctx ends.
func (q *quiet) wait(ctx context.Context, calm, most time.Duration) {
	for end := time.Now().Add(most); ; {
		left := min(q.left(calm), time.Until(end))
		if left <= 0 || !wait.For(ctx, left) {
			return
		}
	}
}
