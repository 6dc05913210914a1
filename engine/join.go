package engine

import (
	"context"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/internal/wait"
)

// mostJoins is how often further messages make a turn begin again.
const mostJoins = 2

// join lets further messages join a person's turn as long as its first model call has
// brought nothing: the turn begins again with all of them. Its fields are guarded by
// lanes.mu.
type join struct {
	lane  *lane
	turn  store.TurnID
	state joinState
	// since is when it was joined first; ended is why the turn does not begin again, such
	// as /stop.
	since time.Time
	ended error
	// times is how often the turn began again, storing how many messages are being added to
	// it, and last the last of them.
	times, storing int
	last           item
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

// open lets messages join a turn that begins. A turn that begins again is the same one.
// Messages that came while the turn was stored join at once: they are claimed already.
func (s *lanes) open(row store.Turn) (j *join, late []item) {
	debounce := s.settings().Debounce
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[row.Address]
	if l == nil {
		return nil, nil // the chat has moved
	}
	if l.join == nil || l.join.turn != row.ID {
		l.join = &join{lane: l, turn: row.ID, stored: make(chan struct{}, 1)}
	}
	j = l.join
	j.state, j.ended = joinOpen, nil
	for debounce >= 0 && (j.times < mostJoins || len(late) > 0) && len(l.items) > 0 && l.items[0].msg.Command == "" {
		late, l.items = append(late, l.items[0]), l.items[1:]
		j.take(late[len(late)-1])
	}
	return j, late
}

// alone is called when the model has brought something or the turn has ended: no message
// can join any more. It reports false when one has joined before.
func (s *lanes) alone(j *join) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state == joinOpen {
		j.state = joinClosed
	}
	return j.state == joinClosed
}

// claim is the turn that a message joins, nil for none: commands join none, and none
// overtakes what waits already. What has been claimed has to be joined.
func (s *lanes) claim(it item) *join {
	if it.msg.Command != "" || s.settings().Debounce < 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[it.row.Address]
	if l == nil || l.join == nil || len(l.items) > 0 || l.join.state == joinClosed {
		return nil
	}
	j := l.join
	if j.state == joinOpen && j.times >= mostJoins {
		return nil
	}
	j.take(it)
	return j
}

// take claims a turn for a message. lanes.mu is held.
func (j *join) take(it item) {
	if j.state == joinOpen {
		j.state, j.times = joinTaken, j.times+1
	}
	if j.since.IsZero() {
		j.since = it.row.ReceivedAt
	}
	j.storing++
}

// joined ends the run of a turn that a message has joined. It begins again, also when
// the message could not be stored (ok is false).
func (s *lanes) joined(j *join, it item, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.storing--
	if ok {
		j.last = it
	}
	wait.Signal(j.stored)
	if j.state == joinTaken && j.lane.stop != nil {
		j.lane.stop(lifecycle.ErrParked)
	}
	wait.Signal(j.lane.more)
}

// settle waits until the messages that join a turn are stored.
func (s *lanes) settle(j *join) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for j.storing > 0 {
		s.mu.Unlock()
		<-j.stored
		s.mu.Lock()
	}
}

// again puts a turn that was joined back to the head of its lane, where it waits for
// more messages.
func (s *lanes) again(j *join, row store.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.state = joinWaiting
	j.lane.resumes = append([]store.Turn{row}, j.lane.resumes...)
}

// quiet is how much longer to wait for more messages that join a turn. When that is
// over, none can until the turn has begun again. lanes.mu is held.
func (j *join) quiet(debounce time.Duration) time.Duration {
	if j.storing > 0 {
		return debounce
	}
	pause := patience(debounce, debounce, j.last)
	until := j.last.row.ReceivedAt.Add(pause)
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
func patience(wait, debounce time.Duration, last item) time.Duration {
	if debounce <= 0 && last.msg.Album == "" {
		return 0
	}
	if long(last) {
		wait = max(wait, debounce, splitWait)
	}
	if last.msg.Forwarded != "" || last.msg.Album != "" {
		wait = max(wait, debounce, holdWait)
	}
	return wait
}

// joins has a message join the turn at work in its chat, if that can be, and reports
// whether it did. The message enters the turn's row first, so that a crash neither
// loses nor doubles it.
func (e *Engine) joins(ctx context.Context, it item) bool {
	j := e.lanes.claim(it)
	return j != nil && e.storeJoin(ctx, j, it)
}

// storeJoin has a message join a turn that is claimed for it.
func (e *Engine) storeJoin(ctx context.Context, j *join, it item) bool {
	err := e.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.Inbox().StartUpdates(j.turn, it.row.ID) })
	if err != nil {
		e.log.Warn("message does not join the turn", "turn", j.turn, "err", err)
	} else {
		lifecycle.CrashPoint("turn.joined")
	}
	e.lanes.joined(j, it, err == nil)
	return err == nil
}

// beginAgain puts a turn that was joined back to the head of its lane.
func (e *Engine) beginAgain(ctx context.Context, j *join, row store.Turn) {
	e.lanes.settle(j)
	if e.life.Parking().Err() != nil {
		return // it resumes at the next start
	}
	err := e.store.Read(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		row, err = tx.Turns().Turn(row.ID)
		return err
	})
	if err != nil {
		e.log.Error("joined turn not read", "turn", row.ID, "err", err)
	}
	e.lanes.again(j, row)
}
