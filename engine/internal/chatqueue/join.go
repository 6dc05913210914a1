package chatqueue

import (
	"context"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/internal/wait"
)

// mostJoins is how often further messages make a turn begin again.
const mostJoins = 2

// Join lets further messages join a person's turn as long as its first model call has
// brought nothing: the turn begins again with all of them. Its fields are guarded by
// Queues.mu.
type Join struct {
	// Turn is the turn that messages join.
	Turn  store.TurnID
	queue *queue
	state joinState
	// since is when it was joined first; ended is why the turn does not begin again, such
	// as /stop.
	since time.Time
	ended error
	// times is how often the turn began again, storing how many messages are being added to
	// it, and last the last of them.
	times, storing int
	last           Item
	// stored wakes the one that waits for storing to be 0.
	stored chan struct{}
}

type joinState int

// The states of a join. A turn that was joined ends its run, waits for more messages
// and is open again.
const (
	joinOpen joinState = iota
	joinTaken
	joinWaiting
	joinClosed
)

// Open lets messages join a turn that begins. A turn that begins again is the same one.
// Messages that came while the turn was stored join at once: they are claimed already.
func (s *Queues) Open(row store.Turn) (j *Join, late []Item) {
	debounce := s.Settings().Debounce
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[row.Address]
	if l == nil {
		return nil, nil // the chat has moved
	}
	if l.join == nil || l.join.Turn != row.ID {
		l.join = &Join{queue: l, Turn: row.ID, stored: make(chan struct{}, 1)}
		if l.ctx != nil { // /stop may have come while the turn was stored
			l.join.ended = context.Cause(l.ctx)
		}
	}
	j = l.join
	if j.state = joinOpen; j.ended != nil {
		j.state = joinClosed
		return j, nil
	}
	for debounce >= 0 && (j.times < mostJoins || len(late) > 0) && len(l.items) > 0 && l.items[0].Msg.Command == "" {
		late, l.items = append(late, l.items[0]), l.items[1:]
		j.take(late[len(late)-1])
	}
	return j, late
}

// Alone is called when the model has brought something or the turn has ended: no message
// can join any more. It reports false when one has joined before.
func (s *Queues) Alone(j *Join) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state == joinOpen {
		j.state = joinClosed
	}
	return j.state == joinClosed
}

// Claim is the turn that a message joins, nil for none: commands join none, none joins
// what was stopped, and none overtakes what waits already. What has been claimed has to be
// joined.
func (s *Queues) Claim(it Item) *Join {
	if it.Msg.Command != "" || s.Settings().Debounce < 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[it.Row.Address]
	if l == nil || l.join == nil || len(l.items) > 0 || l.join.state == joinClosed || l.join.ended != nil {
		return nil
	}
	j := l.join
	if j.state == joinOpen && j.times >= mostJoins {
		return nil
	}
	j.take(it)
	return j
}

// take claims a turn for a message. Queues.mu is held.
func (j *Join) take(it Item) {
	if j.state == joinOpen {
		j.state, j.times = joinTaken, j.times+1
	}
	if j.since.IsZero() {
		j.since = it.Row.ReceivedAt
	}
	j.storing++
}

// Joined ends the run of a turn that a message has joined. It begins again, also when
// the message could not be stored (ok is false).
func (s *Queues) Joined(j *Join, it Item, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.storing--
	if ok {
		j.last = it
	}
	wait.Signal(j.stored)
	if j.state == joinTaken && j.queue.stop != nil {
		j.queue.stop(lifecycle.ErrParked)
	}
	wait.Signal(j.queue.more)
}

// Settle waits until the messages that join a turn are stored.
func (s *Queues) Settle(j *Join) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for j.storing > 0 {
		s.mu.Unlock()
		<-j.stored
		s.mu.Lock()
	}
}

// Again puts a turn that was joined back to the head of its chat queue, where it waits for
// more messages.
func (s *Queues) Again(j *Join, row store.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.state = joinWaiting
	j.queue.resumes = append([]store.Turn{row}, j.queue.resumes...)
}

// quiet is how much longer to wait for more messages that join a turn. When that is
// over, none can until the turn has begun again. Queues.mu is held.
func (j *Join) quiet(debounce time.Duration) time.Duration {
	if j.storing > 0 {
		return gatherMax // until Joined
	}
	pause := patience(debounce, debounce, j.last)
	until := j.last.Row.ReceivedAt.Add(pause)
	if limit := j.since.Add(max(gatherMax, pause)); until.After(limit) {
		until = limit
	}
	left := time.Until(until)
	if left <= 0 || j.ended != nil {
		j.state = joinClosed
		return 0
	}
	return left
}

// patience is how long to wait for more messages after one: wait at least, and longer
// after what seldom comes alone. Without a debounce, only an album waits for its parts.
func patience(wait, debounce time.Duration, last Item) time.Duration {
	if debounce <= 0 && last.Msg.Album == "" {
		return 0
	}
	if long(last) {
		wait = max(wait, debounce, splitWait)
	}
	if last.Msg.Forwarded != "" || last.Msg.Album != "" {
		wait = max(wait, debounce, holdWait)
	}
	return wait
}
