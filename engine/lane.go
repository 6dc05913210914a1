package engine

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/wait"
)

const (
	// splitUnits is the length, in UTF-16 units, from which a message may be
	// the first part of a longer text that a client has cut.
	splitUnits = 3900
	// splitWait is how long the next part of a cut text is waited for.
	splitWait = 1500 * time.Millisecond
	// holdWait is how long a forwarded message is held for the comment that
	// comes with it, and one of an album for the others.
	holdWait = time.Second
	// gatherMax bounds the wait for a person who does not stop writing.
	gatherMax = 10 * time.Second
	// crowd is how many messages must wait behind a running turn until the
	// person is told.
	crowd = 10
)

// item is a message that waits for its turn.
type item struct {
	row store.Update
	msg gateway.Message
}

func rowsOf(items []item) []store.InboxID {
	ids := make([]store.InboxID, len(items))
	for i, it := range items {
		ids[i] = it.row.ID
	}
	return ids
}

// continues reports whether a message is the next part of a text that a client
// has cut in two: the same sender, the next id, shortly after a full message.
func continues(before, after item) bool {
	return before.msg.Sender.ID == after.msg.Sender.ID && after.msg.ID == before.msg.ID+1 &&
		long(before) && after.msg.Command == "" && after.msg.Reply == nil &&
		after.row.ReceivedAt.Sub(before.row.ReceivedAt) <= splitWait
}

// long reports whether a message may be the first part of a text that a client has cut.
func long(it item) bool { return clip.UTF16Len(it.msg.Text) >= splitUnits }

// lane is the queue of one chat and topic: one turn at a time, in order. A lane
// exists while something waits or runs in it. Its fields are guarded by lanes.mu.
type lane struct {
	address gateway.Address
	items   []item
	// resumes are turns that the last end of the process interrupted.
	resumes []store.Turn
	// join is the turn that further messages may join, nil for none.
	join *join
	// working says that a goroutine serves the lane.
	working bool
	// stop cancels ctx, which is the one of the running turn; both are nil when none
	// runs.
	stop context.CancelCauseFunc
	ctx  context.Context
	// more wakes the goroutine that waits for more messages.
	more chan struct{}
	// told says that the person knows that messages wait.
	told bool
}

// begin gives the lane the context of its next turn. lanes.mu is held.
func (l *lane) begin(parking context.Context) {
	if l.stop == nil {
		l.ctx, l.stop = context.WithCancelCause(parking)
	}
}

// end cancels the running turn for good, also one that is about to begin again. lanes.mu
// is held.
func (l *lane) end(cause error) {
	l.stop(cause)
	if l.join != nil {
		l.join.ended = cause
	}
	wait.Signal(l.more)
}

// lanes are the chat queues. They decide when a turn begins, and not what it does.
type lanes struct {
	life     *lifecycle.Lifecycle
	settings func() settings.Settings
	log      *slog.Logger
	// answer runs a turn for messages; resume continues an interrupted one.
	answer func(context.Context, []item)
	resume func(context.Context, store.Turn)

	mu sync.Mutex
	by map[gateway.Address]*lane // guarded by mu
}

// at returns the lane of an address and makes it if need be. mu is held.
func (s *lanes) at(a gateway.Address) *lane {
	l := s.by[a]
	if l == nil {
		l = &lane{address: a, more: make(chan struct{}, 1)}
		s.by[a] = l
	}
	return l
}

// add puts a message into its lane and returns how many wait there. tell is true once
// for each turn: when the turn waits for a person (asked), or many messages wait.
func (s *lanes) add(it item, asked bool) (waiting int, tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.at(it.row.Address)
	l.items = append(l.items, it)
	waiting = len(l.items)
	if tell = l.stop != nil && !l.told && (asked || waiting >= crowd); tell {
		l.told = true
	}
	wait.Signal(l.more)
	s.start(l)
	return waiting, tell
}

// addResume puts an interrupted turn into its lane.
func (s *lanes) addResume(t store.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.at(t.Address)
	l.resumes = append(l.resumes, t)
	l.begin(s.life.Parking()) // a /stop that has come already stops it, too
	s.start(l)
}

// putBack returns messages to the head of their lane. It reports false, and leaves
// them, when /stop has come since: the lock keeps /stop from coming in between.
func (s *lanes) putBack(ctx context.Context, items []item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stopped := errors.Is(context.Cause(ctx), lifecycle.ErrStopped)
	if !stopped {
		l := s.at(items[0].row.Address)
		l.items = append(items, l.items...)
	}
	return !stopped
}

// begin has life begin, and starts the lanes that have been filled before.
func (s *lanes) begin(ctx, parking context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life.Begin(ctx, parking)
	for _, l := range s.by {
		s.start(l)
	}
}

// start starts the lane's goroutine once the engine runs. mu is held.
func (s *lanes) start(l *lane) {
	if !l.working {
		l.working = s.life.Go(func(ctx context.Context) { s.serve(ctx, l) })
	}
}

// serve runs the lane's turns until nothing waits or ctx ends.
func (s *lanes) serve(ctx context.Context, l *lane) {
	for ctx.Err() == nil && s.gather(ctx, l) {
		s.guard(l, func(ctx context.Context) {
			if t, ok := s.nextResume(l); ok {
				s.resume(ctx, t)
			} else if items := s.take(l); len(items) > 0 { // none when /stop came in between
				s.answer(ctx, items)
			}
		})
	}
}

// guard runs one turn of a lane with a context that /stop and the end of the
// process cancel. A panic ends the turn, not the bot.
func (s *lanes) guard(l *lane, run func(context.Context)) {
	s.mu.Lock()
	l.begin(s.life.Parking())
	ctx, cancel := l.ctx, l.stop
	s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("turn panicked", "panic", p, "stack", string(debug.Stack()))
		}
		s.mu.Lock()
		l.ctx, l.stop, l.told = nil, nil, false
		if l.join != nil && l.join.state == joinWaiting {
			l.begin(s.life.Parking()) // /stop stops a turn that waits for more messages, too
			if l.join.ended != nil {
				l.stop(l.join.ended)
			}
		}
		s.mu.Unlock()
		cancel(nil)
	}()
	run(ctx)
}

func (s *lanes) nextResume(l *lane) (t store.Turn, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok = len(l.resumes) > 0; ok {
		t, l.resumes = l.resumes[0], l.resumes[1:]
	}
	return t, ok
}

// gather waits until the person has stopped writing for the debounce time. It
// returns false when the lane is empty, and removes it then, or when ctx ends.
func (s *lanes) gather(ctx context.Context, l *lane) bool {
	for {
		wait, empty := s.quietFor(l)
		if empty || wait <= 0 {
			return !empty
		}
		select {
		case <-time.After(wait):
		case <-l.more:
		case <-ctx.Done():
			return false
		}
	}
}

// quietFor says how much longer to wait for more messages. An empty lane is removed.
func (s *lanes) quietFor(l *lane) (wait time.Duration, empty bool) {
	debounce := s.settings().Debounce
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(l.resumes) > 0 {
		if l.join != nil && l.join.state == joinWaiting && l.resumes[0].ID == l.join.turn {
			return l.join.quiet(debounce), false
		}
		return 0, false
	}
	if len(l.items) == 0 {
		l.working = false
		delete(s.by, l.address)
		return 0, true
	}
	first, last := l.items[0], l.items[len(l.items)-1]
	if first.msg.Command != "" || last.msg.Command != "" {
		return 0, false
	}
	// A lone message starts at once; one that follows another may be followed by more.
	pause := time.Duration(0)
	if n := len(l.items); n > 1 && last.row.ReceivedAt.Sub(l.items[n-2].row.ReceivedAt) <= splitWait {
		pause = debounce
	}
	until := last.row.ReceivedAt.Add(patience(pause, debounce, last))
	if limit := first.row.ReceivedAt.Add(max(gatherMax, debounce)); until.After(limit) {
		until = limit
	}
	return time.Until(until), false
}

// take removes what makes up the next turn: one command, or the messages up to
// the next command, as many as half of the model's budget holds.
func (s *lanes) take(l *lane) []item {
	_, model := s.settings().Models.For("")
	budget := model.Window() / 2
	s.mu.Lock()
	defer s.mu.Unlock()
	n, tokens := 0, 0
	for i, it := range l.items {
		if it.msg.Command != "" {
			n = max(i, 1)
			break
		}
		tokens += llm.Estimate(it.msg.Text)
		if i > 0 && tokens > budget && !continues(l.items[i-1], it) {
			break
		}
		n = i + 1
	}
	taken := l.items[:n:n]
	l.items = slices.Clone(l.items[n:])
	return taken
}

// replace gives a message that still waits in its lane the text of its edit, and
// returns the message's row.
func (s *lanes) replace(edit item) (store.InboxID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[edit.row.Address]
	if l == nil || edit.msg.Command != "" || !edit.msg.Addressed {
		return 0, false
	}
	for i, it := range l.items {
		if it.msg.ID == edit.msg.ID && it.msg.Command == "" {
			msg := edit.msg
			msg.Kind = gateway.KindText
			l.items[i].msg = msg
			return it.row.ID, true
		}
	}
	return 0, false
}

// stop takes what waits at an address away and cancels its turn.
func (s *lanes) stop(a gateway.Address) (dropped []item, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[a]
	if l == nil {
		return nil, false
	}
	dropped, l.items = l.items, nil
	if running = l.stop != nil; running {
		l.end(lifecycle.ErrStopped)
	}
	return dropped, running
}

// cancel cancels the running turns of some addresses.
func (s *lanes) cancel(cause error, at func(gateway.Address) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.by {
		if at(l.address) && l.stop != nil {
			l.end(cause)
		}
	}
}

// drop takes away what waits for a chat, in all its topics, and returns its rows.
func (s *lanes) drop(chat gateway.ChatID) []store.InboxID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []store.InboxID
	for _, l := range s.by {
		if l.address.Chat == chat {
			ids = append(ids, rowsOf(l.items)...)
			l.items = nil
		}
	}
	return ids
}

// move gives the lanes of a chat its new id, so that what is written there waits
// behind what was written before, and can stop it.
func (s *lanes) move(chat gateway.ChatID, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a, l := range s.by {
		now := gateway.Address{Chat: gateway.ChatID{Channel: chat.Channel, ID: to}, Thread: a.Thread}
		if a.Chat != chat || s.by[now] != nil {
			continue
		}
		delete(s.by, a)
		s.by[now], l.address = l, now
		for i := range l.items {
			l.items[i].row.Address = now
		}
	}
}

// count returns how many turns run and how many messages wait for one.
func (s *lanes) count() (running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.by {
		if waiting += len(l.items); l.stop != nil {
			running++
		}
	}
	return running, waiting
}
