// Package wait sleeps while a context goes on, and says how long to wait before
// something that failed is tried again.
package wait

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits and reports whether ctx still goes on.
func For(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// Backoff is the wait after n failed repetitions, from 0 on: base, doubled with each
// one up to limit. It is spread over its upper half, so that many who wait do not
// come back together.
func Backoff(n int, base, limit time.Duration) time.Duration {
	n = min(max(n, 0), 62)
	d := limit
	if base <= limit>>n {
		d = base << n
	}
	return d/2 + rand.N(d/2+1)
}

// Signal wakes the one that waits on c, which has room for one value. A signal that
// nobody has seen yet stands for the next one, too.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
