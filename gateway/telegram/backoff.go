package telegram

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff gives growing waits between 1 s and 60 s. The zero value is ready.
type backoff struct{ tries int }

// next is the next wait: random, so that two programs do not meet for ever.
func (b *backoff) next() time.Duration {
	top := min(2*time.Second<<min(b.tries, 6), time.Minute)
	b.tries++
	return jitter(top/2, top)
}

func (b *backoff) reset() { b.tries = 0 }

// jitter is a random duration from low up to, not including, high.
func jitter(low, high time.Duration) time.Duration {
	return low + rand.N(high-low)
}

// sleep waits and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
