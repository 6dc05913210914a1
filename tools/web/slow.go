package web

import (
	"context"
	"sync/atomic"
	"time"

	"klawbot/tools"
)

// slowAfter is how long a load may take until the chat is told how far it is.
const slowAfter = 3 * time.Second

// slow tells the chat how far a load is, when it takes long.
type slow struct {
	read atomic.Int64
	stop func()
}

// slowly starts to watch a load. Its stop must be called.
func slowly(ctx context.Context, c tools.Call) *slow {
	s := &slow{}
	if c.Progress == nil {
		s.stop = func() {}
		return s
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	s.stop = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(slowAfter)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				c.Progress(size(s.read.Load()))
			}
		}
	}()
	return s
}

// Write counts what was read.
func (s *slow) Write(p []byte) (int, error) {
	s.read.Add(int64(len(p)))
	return len(p), nil
}
