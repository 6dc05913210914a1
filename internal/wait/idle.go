package wait

import (
	"context"
	"sync"
	"time"
)

// Idle counts running work, so that background work can wait for it. The zero value is
// ready.
type Idle struct {
	mu      sync.Mutex
	running int       // guarded by mu
	since   time.Time // guarded by mu; when the last work ended
}

// Begin notes that work begins.
func (i *Idle) Begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running++
}

// End notes that work ends.
func (i *Idle) End() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running--
	i.since = time.Now()
}

// Count is how much work is running.
func (i *Idle) Count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.running
}

// left is the shortest time until nothing has run for calm.
func (i *Idle) left(calm time.Duration) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running > 0 {
		return calm
	}
	return calm - time.Since(i.since)
}

// Wait returns when nothing has run for calm, after most at the latest, and when
// ctx ends.
func (i *Idle) Wait(ctx context.Context, calm, most time.Duration) {
	for end := time.Now().Add(most); ; {
		left := min(i.left(calm), time.Until(end))
		if left <= 0 || !For(ctx, left) {
			return
		}
	}
}
