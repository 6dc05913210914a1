package desk

import (
	"context"
	"sync"
	"time"
)

// later keeps a value that takes long to find out. A page waits for it a moment, and longer
// the first time; after that it shows the value from before.
type later[T any] struct {
	get func(context.Context) T

	mu      sync.Mutex
	found   T         // guarded by mu
	at      time.Time // guarded by mu; when it was found
	finding chan struct{}
}

const (
	// fresh is how long something counts as known.
	fresh = 15 * time.Second
	// patience is how long a page waits when something was found before, atFirst when
	// nothing was; longest is how long is looked.
	patience = 120 * time.Millisecond
	atFirst  = 2 * time.Second
	longest  = 10 * time.Second
)

func (l *later[T]) now(ctx context.Context) T {
	l.mu.Lock()
	if time.Since(l.at) < fresh {
		defer l.mu.Unlock()
		return l.found
	}
	if l.finding == nil {
		l.finding = make(chan struct{})
		go l.find(l.finding)
	}
	finding, most := l.finding, patience
	if l.at.IsZero() {
		most = atFirst
	}
	l.mu.Unlock()
	wait := time.NewTimer(most)
	defer wait.Stop()
	select {
	case <-finding:
	case <-wait.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found
}

// find looks once, also when the page that asked is gone.
func (l *later[T]) find(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	found := l.get(ctx)
	l.mu.Lock()
	l.found, l.at, l.finding = found, time.Now(), nil
	l.mu.Unlock()
	close(done)
}
