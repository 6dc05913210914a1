package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/wait"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !wait.For(t.Context(), time.Minute) || time.Since(began) != time.Minute {
			t.Errorf("waited %v", time.Since(began))
		}
		for _, d := range []time.Duration{0, -time.Second} {
			if !wait.For(t.Context(), d) || time.Since(began) != time.Minute {
				t.Errorf("%v: waited %v", d, time.Since(began))
			}
		}
	})
}

func TestForEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, d := range []time.Duration{time.Minute, time.Minute, 0, -time.Second} {
			if wait.For(ctx, d) || time.Since(began) != time.Second {
				t.Errorf("%v: waited %v", d, time.Since(began))
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	const base, limit = time.Second, 30 * time.Second
	for n, want := range map[int]time.Duration{
		-1: 1, 0: 1, 1: 2, 2: 4, 4: 16, 5: 30, 6: 30, 62: 30, 64: 30, 1 << 30: 30,
	} {
		want *= time.Second
		seen := map[time.Duration]bool{}
		for range 100 {
			d := wait.Backoff(n, base, limit)
			if d < want/2 || d > want {
				t.Fatalf("after %d: %v, want %v to %v", n, d, want/2, want)
			}
			seen[d] = true
		}
		if len(seen) < 50 {
			t.Errorf("after %d: the waits are not spread", n)
		}
	}
	if d := wait.Backoff(3, 0, 0); d != 0 {
		t.Errorf("no base: %v", d)
	}
	if d := wait.Backoff(200, time.Second, 1<<62); d < 1<<61 {
		t.Errorf("too large: %v", d)
	}
}
