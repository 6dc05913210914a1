package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/llm"
)

// fails returns an attempt that fails with the errors in order and then
// succeeds, and the counter of its calls.
func fails(errs ...error) (func(context.Context) (llm.Result, error), *int) {
	calls := new(int)
	return func(context.Context) (llm.Result, error) {
		*calls++
		if *calls <= len(errs) {
			return llm.Result{}, errs[*calls-1]
		}
		return llm.Result{Stop: llm.StopEnd}, nil
	}, calls
}

func TestRetry(t *testing.T) {
	overloaded := &llm.Error{Kind: llm.Overloaded}
	for _, c := range []struct {
		name     string
		errs     []error
		calls    int
		ok       bool
		min, max time.Duration
	}{
		{"first try", nil, 1, true, 0, 0},
		{"passes", []error{overloaded, &llm.Error{Kind: llm.Stall}}, 3, true, 1500 * time.Millisecond, 3 * time.Second},
		{"used up", []error{overloaded, overloaded, overloaded, overloaded}, 4, false, 3500 * time.Millisecond, 7 * time.Second},
		{"asks to wait", []error{&llm.Error{Kind: llm.RateLimit, RetryAfter: 20 * time.Second}}, 2, true, 20 * time.Second, 20 * time.Second},
		{"asks to wait too long", []error{&llm.Error{Kind: llm.RateLimit, RetryAfter: 61 * time.Second}}, 1, false, 0, 0},
		{"does not pass", []error{&llm.Error{Kind: llm.Auth}}, 1, false, 0, 0},
		{"something was shown", []error{&llm.Error{Kind: llm.Network, Started: true}}, 1, false, 0, 0},
		{"unknown error", []error{errors.New("odd")}, 1, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempt, calls := fails(c.errs...)
				start := time.Now()
				_, err := llm.Retry(t.Context(), llm.Policy{Retries: 3}, attempt)
				if took := time.Since(start); took < c.min || took > c.max {
					t.Errorf("took %v, want %v to %v", took, c.min, c.max)
				}
				if *calls != c.calls || (err == nil) != c.ok {
					t.Errorf("%d calls, error %v", *calls, err)
				}
			})
		})
	}
}

func TestRetryRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt, calls := fails(&llm.Error{Kind: llm.Network, Started: true})
		if _, err := llm.Retry(t.Context(), llm.Policy{Retries: 1, Restart: true}, attempt); err != nil || *calls != 2 {
			t.Errorf("%d calls, error %v", *calls, err)
		}
	})
}

func TestRetryWaitsWhileAModelLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loading := &llm.Error{Kind: llm.Overloaded, Loading: true, RetryAfter: 2 * time.Second}
		calls, start := 0, time.Now()
		_, err := llm.Retry(t.Context(), llm.Policy{Retries: 1}, func(context.Context) (llm.Result, error) {
			if calls++; time.Since(start) < 5*time.Minute {
				return llm.Result{}, loading
			}
			return llm.Result{}, nil
		})
		if err != nil || calls != 151 {
			t.Errorf("%d calls, error %v", calls, err)
		}
		start = time.Now()
		_, err = llm.Retry(t.Context(), llm.Policy{Retries: 1}, func(context.Context) (llm.Result, error) { return llm.Result{}, loading })
		if took := time.Since(start); !errors.Is(err, loading) || took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestRetryNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []int
		attempt, _ := fails(&llm.Error{Kind: llm.Overloaded}, &llm.Error{Kind: llm.Overloaded})
		notice := func(n int, err *llm.Error, wait time.Duration) {
			if err.Kind == llm.Overloaded && wait > 0 {
				seen = append(seen, n)
			}
		}
		if _, err := llm.Retry(t.Context(), llm.Policy{Retries: 2, Notice: notice}, attempt); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 2 || seen[0] != 1 || seen[1] != 2 {
			t.Errorf("noticed %v", seen)
		}
	})
}

func TestRetryEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		attempt, calls := fails(&llm.Error{Kind: llm.Overloaded, RetryAfter: 30 * time.Second})
		start := time.Now()
		_, err := llm.Retry(ctx, llm.Policy{Retries: 3}, attempt)
		if !errors.Is(err, context.DeadlineExceeded) || *calls != 1 || time.Since(start) != 300*time.Millisecond {
			t.Errorf("after %v and %d calls: %v", time.Since(start), *calls, err)
		}
	})
}
