package run

import (
	"context"
	"sync"
	"time"

	"klawbot/engine/internal/store"
)

// live are the runs of this process.
type live struct {
	mu  sync.Mutex
	all map[store.RunID]liveRun // guarded by mu
}

// liveRun is a run at work.
type liveRun struct {
	job    store.Job
	cancel context.CancelCauseFunc
}

// add registers a run; the function removes it.
func (l *live) add(id store.RunID, r liveRun) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[store.RunID]liveRun{}
	}
	l.all[id] = r
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, id)
	}
}

// stop cancels the runs that match.
func (l *live) stop(cause error, match func(store.Job) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.all {
		if match(r.job) {
			r.cancel(cause)
		}
	}
}

// deadline ends a run that takes too long. Time spent waiting for people does not count.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer   // guarded by mu
	left  time.Duration // guarded by mu
	since time.Time     // guarded by mu
	ended func()
}

func startDeadline(limit time.Duration, ended func()) *deadline {
	if limit <= 0 {
		limit = runTimeout
	}
	d := &deadline{left: limit, ended: ended}
	d.resume()
	return d
}

// stop stops the clock.
func (d *deadline) stop() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && d.timer.Stop() {
		d.left -= time.Since(d.since)
		d.timer = nil
	}
}

// resume restarts the clock.
func (d *deadline) resume() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = time.Now()
	d.timer = time.AfterFunc(max(d.left, time.Second), d.ended)
}
