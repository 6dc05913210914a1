package wait

import (
	"sync"
	"time"
)

// Clock ends work after a time that does not pass while a person is asked.
type Clock struct {
	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration // guarded by mu; at the last start
	begun   time.Time     // guarded by mu
	stopped int           // guarded by mu; how many people are asked
	rang    bool          // guarded by mu
}

// NewClock returns a running clock that calls ring at its end.
func NewClock(d time.Duration, ring func()) *Clock {
	c := &Clock{left: d, begun: time.Now()}
	c.timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		c.rang = true
		c.mu.Unlock()
		ring()
	})
	return c
}

// Stop lets no time pass until the function that it returns is called.
func (c *Clock) Stop() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped++; c.stopped == 1 && c.timer.Stop() {
		c.left -= time.Since(c.begun)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopped--; c.stopped == 0 && !c.rang {
			c.begun = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}

// End ends the clock and reports whether its time was up.
func (c *Clock) End() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	return c.rang
}
