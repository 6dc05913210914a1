package sandbox

import (
	"context"
	"sync"
)

// Gate keeps the commands in a sandbox from running while a program outside relies on
// files that they can write. The zero value is open. It is safe for several goroutines.
type Gate struct {
	mu      sync.Mutex
	inside  int           // commands that run; guarded by mu
	closed  int           // how many keep it closed; guarded by mu
	changed chan struct{} // closed at the next change, or nil; guarded by mu
}

// Close waits until no command runs in the sandbox, and lets none start until
// open is called. Several may keep it closed at a time. An error is the ctx's.
func (g *Gate) Close(ctx context.Context) (open func(), err error) {
	g.change(func() { g.closed++ })
	open = sync.OnceFunc(func() { g.change(func() { g.closed-- }) })
	if err := g.await(ctx, func() bool { return g.inside == 0 }, func() {}); err != nil {
		open()
		return nil, err
	}
	return open, nil
}

// enter waits until it is open, for a command that then runs until it leaves. No
// Gate is always open.
func (g *Gate) enter(ctx context.Context) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	if err := g.await(ctx, func() bool { return g.closed == 0 }, func() { g.inside++ }); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { g.change(func() { g.inside-- }) }), nil
}

// change changes something and tells those who wait.
func (g *Gate) change(what func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	what()
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// await waits until ready, and does something before anything else changes.
func (g *Gate) await(ctx context.Context, ready func() bool, then func()) error {
	for {
		g.mu.Lock()
		if ready() {
			then()
			g.mu.Unlock()
			return nil
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
