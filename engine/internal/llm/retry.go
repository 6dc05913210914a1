package llm

import (
	"context"
	"errors"
	"time"

	"klawbot/internal/wait"
)

// Policy says how a failed model call is repeated.
type Policy struct {
	// Retries is how often at most, after the first attempt.
	Retries int
	// Base is the wait before the first repetition, doubled for each further
	// one up to Max; 0 means 1 s and 30 s.
	Base, Max time.Duration
	// Restart says that calls that have shown events are repeated too, because
	// what was shown is replaced.
	Restart bool
	// Notice is told of each repetition before its wait; may be nil.
	Notice func(attempt int, err *Error, wait time.Duration)
}

// LongestWait is how long a provider may ask to wait. A call that must wait
// longer fails at once: another model, or the person, can use the time better.
const LongestWait = time.Minute

// loadingTime is how long a server may load its model. Until then a call that
// finds it loading is repeated without using up a retry.
const loadingTime = 10 * time.Minute

// Retry calls attempt until it succeeds, until it fails for a reason that does
// not pass, or until the retries are used up. Without Policy.Restart a call
// that has shown events is never repeated, because what was shown would come
// twice. The error is the last attempt's, or ctx's.
func Retry(ctx context.Context, p Policy, attempt func(context.Context) (Result, error)) (Result, error) {
	began := time.Now()
	for n := 0; ; n++ {
		r, err := attempt(ctx)
		var e *Error
		if err == nil || !errors.As(err, &e) || !e.Temporary() || e.Started && !p.Restart {
			return r, err
		}
		pause := max(p.backoff(n), e.RetryAfter)
		switch {
		case e.Loading && time.Since(began) < loadingTime:
			pause = max(e.RetryAfter, time.Second)
			n--
		case n >= p.Retries || e.RetryAfter > LongestWait || e.Daily:
			return r, err
		}
		if p.Notice != nil {
			p.Notice(max(n+1, 1), e, pause)
		}
		if !wait.For(ctx, pause) {
			return Result{}, ctx.Err()
		}
	}
}

func (p Policy) backoff(n int) time.Duration {
	base, limit := p.Base, p.Max
	if base <= 0 {
		base = time.Second
	}
	if limit <= 0 {
		limit = 30 * time.Second
	}
	return wait.Backoff(n, base, limit)
}
