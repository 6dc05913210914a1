// Package wait sleeps until a context ends, and computes the backoff before a retry.
package wait

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits and reports whether ctx is still alive.
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

// Backoff is the wait after n failed retries, from 0 on: base, doubled with each one up
// to limit, with jitter over its upper half.
func Backoff(n int, base, limit time.Duration) time.Duration {
	n = min(max(n, 0), 62)
	d := limit
	if base <= limit>>n {
		d = base << n
	}
	return d/2 + rand.N(d/2+1)
}

// Signal wakes the reader of c, which has room for one value. A pending signal covers
// later ones.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
