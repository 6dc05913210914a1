package run

import (
	"context"
	"sync"

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
