package model

import (
	"context"
	"sync"
)

// Slots limit how much happens at one time, such as model calls: a slot is taken for
// one call, not for a turn. People are served before jobs, in the order in which they
// came.
type Slots struct {
	limit func() int

	mu     sync.Mutex
	used   int             // guarded by mu
	people []chan struct{} // guarded by mu; who waits, oldest first
	jobs   []chan struct{} // guarded by mu
}

// NewSlots returns slots of which limit says how many there are, at any time.
func NewSlots(limit func() int) *Slots { return &Slots{limit: limit} }

// Take waits for a slot and returns the function that gives it back.
func (s *Slots) Take(ctx context.Context, person bool) (func(), error) {
	s.mu.Lock()
	if s.used < s.limit() {
		s.used++
		s.mu.Unlock()
		return s.give, nil
	}
	turn := make(chan struct{})
	queue := &s.jobs
	if person {
		queue = &s.people
	}
	*queue = append(*queue, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return s.give, nil
	case <-ctx.Done():
		s.leave(queue, turn)
		return nil, context.Cause(ctx)
	}
}

// leave takes a waiter out. If its slot came at the same moment, the next waiter gets it.
func (s *Slots) leave(queue *[]chan struct{}, turn chan struct{}) {
	s.mu.Lock()
	for i, w := range *queue {
		if w == turn {
			*queue = append((*queue)[:i], (*queue)[i+1:]...)
			s.mu.Unlock()
			return
		}
	}
	s.mu.Unlock()
	s.give()
}

// give returns a slot, to the next who waits. The limit may have changed.
func (s *Slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	for s.used < s.limit() {
		queue := &s.people
		if len(*queue) == 0 {
			queue = &s.jobs
		}
		if len(*queue) == 0 {
			return
		}
		close((*queue)[0])
		*queue = (*queue)[1:]
		s.used++
	}
}
