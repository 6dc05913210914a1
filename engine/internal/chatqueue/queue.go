// Package chatqueue decides when a turn begins: one at a time for each chat and topic, in the
// order of the messages. It waits for messages that seldom come alone, lets one that
// comes before the model has brought anything join the turn at work, and keeps what
// waits behind it. What a turn does, it is told by its owner.
package chatqueue

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

// Item is a message that waits for its turn.
type Item struct {
	Row store.Update
	Msg gateway.Message
}

// Rows are the ids of the stored updates of messages.
func Rows(items []Item) []store.InboxID {
	ids := make([]store.InboxID, len(items))
	for i, it := range items {
		ids[i] = it.Row.ID
	}
	return ids
}

// Continues reports whether a message is the next part of a text that a client
// has cut in two: the same sender, the next id, shortly after a full message.
func Continues(before, after Item) bool {
	return before.Msg.Sender.ID == after.Msg.Sender.ID && after.Msg.ID == before.Msg.ID+1 &&
		long(before) && after.Msg.Command == "" && after.Msg.Reply == nil &&
		after.Row.ReceivedAt.Sub(before.Row.ReceivedAt) <= splitWait
}

// long reports whether a message may be the first part of a text that a client has cut.
func long(it Item) bool { return clip.UTF16Len(it.Msg.Text) >= splitUnits }

// queue is that of one chat and topic: one turn at a time, in order. A chat queue
// exists while something waits or runs in it. Its fields are guarded by Queues.mu.
type queue struct {
	address gateway.Address
	items   []Item
	// resumes are turns that the last end of the process interrupted.
	resumes []store.Turn
	// join is the turn that further messages may join, nil for none.
	join *Join
	// working says that a goroutine serves the chat queue.
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

// begin gives the chat queue the context of its next turn. Queues.mu is held.
func (l *queue) begin(parking context.Context) {
	if l.stop == nil {
		l.ctx, l.stop = context.WithCancelCause(parking)
	}
}

// end cancels the running turn for good, also one that is about to begin again. Queues.mu
// is held.
func (l *queue) end(cause error) {
	l.stop(cause)
	if l.join != nil {
		l.join.ended = cause
	}
	wait.Signal(l.more)
}

// Config is what New needs.
type Config struct {
	Life     *lifecycle.Lifecycle
	Settings func() settings.Settings
	// Answer runs a turn for messages; Resume continues an interrupted one, or one that
	// messages have joined.
	Answer func(context.Context, []Item)
	Resume func(context.Context, store.Turn)
	Log    *slog.Logger
}

// Queues are the queues of the chats.
type Queues struct {
	Config
	mu sync.Mutex
	by map[gateway.Address]*queue // guarded by mu
}

// New returns Queues that begin with Begin.
func New(c Config) *Queues { return &Queues{Config: c, by: map[gateway.Address]*queue{}} }

// at returns the chat queue of an address and makes it if need be. mu is held.
func (s *Queues) at(a gateway.Address) *queue {
	l := s.by[a]
	if l == nil {
		l = &queue{address: a, more: make(chan struct{}, 1)}
		s.by[a] = l
	}
	return l
}

// Add puts a message into its chat queue and returns how many wait there. tell is true once
// for each turn: when the turn waits for a person (asked), or many messages wait.
func (s *Queues) Add(it Item, asked bool) (waiting int, tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.at(it.Row.Address)
	l.items = append(l.items, it)
	waiting = len(l.items)
	if tell = l.stop != nil && !l.told && (asked || waiting >= crowd); tell {
		l.told = true
	}
	wait.Signal(l.more)
	s.start(l)
	return waiting, tell
}

// Resume puts an interrupted turn into its chat queue.
func (s *Queues) Resume(t store.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.at(t.Address)
	l.resumes = append(l.resumes, t)
	l.begin(s.Life.Parking()) // a /stop that has come already stops it, too
	s.start(l)
}

// PutBack returns messages to the head of their chat queue. It reports false, and leaves
// them, when /stop has come since: the lock keeps /stop from coming in between.
func (s *Queues) PutBack(ctx context.Context, items []Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stopped := errors.Is(context.Cause(ctx), lifecycle.ErrStopped)
	if !stopped {
		l := s.at(items[0].Row.Address)
		l.items = append(items, l.items...)
	}
	return !stopped
}

// Begin has life begin, and starts the chat queues that have been filled before.
func (s *Queues) Begin(ctx, parking context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Life.Begin(ctx, parking)
	for _, l := range s.by {
		s.start(l)
	}
}

// start starts the chat queue's goroutine once the engine runs. mu is held.
func (s *Queues) start(l *queue) {
	if !l.working {
		l.working = s.Life.Go(func(ctx context.Context) { s.serve(ctx, l) })
	}
}

// serve runs the chat queue's turns until nothing waits or ctx ends.
func (s *Queues) serve(ctx context.Context, l *queue) {
	for ctx.Err() == nil && s.gather(ctx, l) {
		s.guard(l)
	}
}

// guard runs the next turn of a chat queue with a context that /stop and the end of the
// process cancel. A panic ends the turn, not the bot.
func (s *Queues) guard(l *queue) {
	ctx, cancel, run := s.next(l)
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("turn panicked", "panic", p, "stack", string(debug.Stack()))
		}
		s.mu.Lock()
		l.ctx, l.stop, l.told = nil, nil, false
		if l.join != nil && l.join.state == joinWaiting {
			l.begin(s.Life.Parking()) // /stop stops a turn that waits for more messages, too
			if l.join.ended != nil {
				l.stop(l.join.ended)
			}
		}
		s.mu.Unlock()
		cancel(nil)
	}()
	run(ctx)
}

// next takes what makes up the next turn. Its context begins at once: a message behind a
// /stop that came since would be stopped, too.
func (s *Queues) next(l *queue) (ctx context.Context, stop context.CancelCauseFunc, run func(context.Context)) {
	_, model := s.Settings().Models.For("")
	s.mu.Lock()
	defer s.mu.Unlock()
	l.begin(s.Life.Parking())
	if len(l.resumes) > 0 {
		row := l.resumes[0]
		l.resumes = l.resumes[1:]
		return l.ctx, l.stop, func(ctx context.Context) { s.Config.Resume(ctx, row) }
	}
	items := l.take(model.Window() / 2)
	return l.ctx, l.stop, func(ctx context.Context) {
		if len(items) > 0 { // none when /stop came in between
			s.Answer(ctx, items)
		}
	}
}

// gather waits until the person has stopped writing for the debounce time. It
// returns false when the chat queue is empty, and removes it then, or when ctx ends.
func (s *Queues) gather(ctx context.Context, l *queue) bool {
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

// quietFor says how much longer to wait for more messages. An empty chat queue is removed.
func (s *Queues) quietFor(l *queue) (wait time.Duration, empty bool) {
	debounce := s.Settings().Debounce
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(l.resumes) > 0 {
		if l.join != nil && l.join.state == joinWaiting && l.resumes[0].ID == l.join.Turn {
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
	if first.Msg.Command != "" || last.Msg.Command != "" {
		return 0, false
	}
	// A lone message starts at once; one that follows another may be followed by more.
	pause := time.Duration(0)
	if n := len(l.items); n > 1 && last.Row.ReceivedAt.Sub(l.items[n-2].Row.ReceivedAt) <= splitWait {
		pause = debounce
	}
	until := last.Row.ReceivedAt.Add(patience(pause, debounce, last))
	if limit := first.Row.ReceivedAt.Add(max(gatherMax, debounce)); until.After(limit) {
		until = limit
	}
	return time.Until(until), false
}

// take removes what makes up the next turn: one command, or the messages up to
// the next command, as many as a budget of tokens holds. Queues.mu is held.
func (l *queue) take(budget int) []Item {
	n, tokens := 0, 0
	for i, it := range l.items {
		if it.Msg.Command != "" {
			n = max(i, 1)
			break
		}
		tokens += llm.Estimate(it.Msg.Text)
		if i > 0 && tokens > budget && !Continues(l.items[i-1], it) {
			break
		}
		n = i + 1
	}
	taken := l.items[:n:n]
	l.items = slices.Clone(l.items[n:])
	return taken
}

// Replace gives a message that still waits in its chat queue the text of its edit, and
// returns the message's row.
func (s *Queues) Replace(edit Item) (store.InboxID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[edit.Row.Address]
	if l == nil || edit.Msg.Command != "" || !edit.Msg.Addressed {
		return 0, false
	}
	for i, it := range l.items {
		if it.Msg.ID == edit.Msg.ID && it.Msg.Command == "" {
			msg := edit.Msg
			msg.Kind = gateway.KindText
			l.items[i].Msg = msg
			return it.Row.ID, true
		}
	}
	return 0, false
}

// Stop takes what waits at an address away and cancels its turn.
func (s *Queues) Stop(a gateway.Address) (dropped []Item, running bool) {
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

// Cancel cancels the running turns of some addresses.
func (s *Queues) Cancel(cause error, at func(gateway.Address) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.by {
		if at(l.address) && l.stop != nil {
			l.end(cause)
		}
	}
}

// Drop takes away what waits for a chat, in all its topics, and returns its rows.
func (s *Queues) Drop(chat gateway.ChatID) []store.InboxID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []store.InboxID
	for _, l := range s.by {
		if l.address.Chat == chat {
			ids = append(ids, Rows(l.items)...)
			l.items = nil
		}
	}
	return ids
}

// Move gives the chat queues of a chat its new id, so that what is written there waits
// behind what was written before, and can stop it.
func (s *Queues) Move(chat gateway.ChatID, to int64) {
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
			l.items[i].Row.Address = now
		}
	}
}

// Count returns how many turns run and how many messages wait for one.
func (s *Queues) Count() (running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.by {
		if waiting += len(l.items); l.stop != nil {
			running++
		}
	}
	return running, waiting
}
