package load

import (
	"context"
	"sync/atomic"
	"time"

	"klawbot/tools"
)

// slowAfter is the time between two reports of progress.
const slowAfter = 3 * time.Second

// Slow reports the progress of a slow load to the chat.
type Slow struct {
	read atomic.Int64
	// Stop ends the reports. It must be called.
	Stop func()
}

// Slowly starts to watch a load.
func Slowly(ctx context.Context, c tools.Call) *Slow {
	s := &Slow{}
	if c.Progress == nil {
		s.Stop = func() {}
		return s
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	s.Stop = func() {
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
				c.Progress(Size(s.read.Load()))
			}
		}
	}()
	return s
}

// Write counts what was read.
func (s *Slow) Write(p []byte) (int, error) {
	s.read.Add(int64(len(p)))
	return len(p), nil
}
