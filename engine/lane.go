package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/command"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
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
	// gatherMax bounds the wait for somebody who does not stop writing.
	gatherMax = 10 * time.Second
	// crowd is how many messages must wait behind a running turn until the
	// person is told.
	crowd = 10
)

// lane is the queue of one chat and topic: one turn at a time, in order. A lane
// exists while something waits or runs in it. All fields are guarded by
// Engine.mu.
type lane struct {
	address gateway.Address
	items   []item
	// resumes are turns that the last end of the process interrupted.
	resumes []store.Turn
	// working says that a goroutine serves the lane.
	working bool
	// stop cancels ctx, which is the one of the running turn; both are nil when none
	// runs.
	stop context.CancelCauseFunc
	ctx  context.Context
	// grown wakes the goroutine that waits for more messages.
	grown chan struct{}
	// told says that the person knows that messages wait.
	told bool
}

// lane returns the lane of an address and makes it if need be. e.mu is held.
func (e *Engine) lane(a gateway.Address) *lane {
	l := e.lanes[a]
	if l == nil {
		l = &lane{address: a, grown: make(chan struct{}, 1)}
		e.lanes[a] = l
	}
	return l
}

// enqueue puts a message into its lane. When many wait behind a running turn, or
// that turn waits for an answer, the person is told so once.
func (e *Engine) enqueue(ctx context.Context, it item) {
	asked, away := e.questions.WaitsAt(it.row.Address)
	e.mu.Lock()
	l := e.lane(it.row.Address)
	l.items = append(l.items, it)
	waiting := len(l.items)
	tell := l.stop != nil && !l.told && (asked || waiting >= crowd)
	if tell {
		l.told = true
	}
	select {
	case l.grown <- struct{}{}:
	default:
	}
	e.startLane(l)
	e.mu.Unlock()
	if !tell {
		return
	}
	text := e.say(locale.Queue, waiting)
	switch {
	case away:
		text = e.say(locale.OwnerFirst)
	case asked && it.row.Address.Chat.Local():
		text = e.say(locale.AnswerFirst)
	case asked:
		text = e.say(locale.ButtonFirst)
	}
	e.outbox.Post(ctx, it.row.Address, "queue/"+rand.Text(), text)
}

// startLane starts the lane's goroutine once the engine runs. e.mu is held.
func (e *Engine) startLane(l *lane) {
	if l.working {
		return
	}
	l.working = e.life.Go(func(ctx context.Context) { e.serveLane(ctx, l) })
}

// serveLane runs the lane's turns until nothing waits or ctx ends.
func (e *Engine) serveLane(ctx context.Context, l *lane) {
	for ctx.Err() == nil && e.gather(ctx, l) {
		e.guard(l, func(ctx context.Context) {
			if t, ok := e.nextResume(l); ok {
				e.resumeTurn(ctx, t)
			} else if items := e.admit(ctx, e.take(l)); len(items) == 0 {
				return // /stop came in between, or the list changed
			} else if first := items[0]; first.msg.Command != "" && e.commands.Direct(ctx, first.command()) == nil {
				e.obey(ctx, first)
			} else {
				e.startTurn(ctx, items)
			}
		})
	}
}

// begin gives the lane the context of its next turn. Engine.mu is held.
func (l *lane) begin(parking context.Context) {
	if l.stop == nil {
		l.ctx, l.stop = context.WithCancelCause(parking)
	}
}

// guard runs one turn of a lane with a context that /stop and the end of the
// process cancel. A panic ends the turn, not the bot.
func (e *Engine) guard(l *lane, run func(context.Context)) {
	e.mu.Lock()
	l.begin(e.life.Parking())
	ctx, cancel := l.ctx, l.stop
	e.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("turn panicked", "panic", p, "stack", string(debug.Stack()))
		}
		e.mu.Lock()
		l.ctx, l.stop, l.told = nil, nil, false
		e.mu.Unlock()
		cancel(nil)
	}()
	run(ctx)
}

func (e *Engine) nextResume(l *lane) (t store.Turn, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ok = len(l.resumes) > 0; ok {
		t, l.resumes = l.resumes[0], l.resumes[1:]
	}
	return t, ok
}

// gather waits until the person has stopped writing for the debounce time. It
// returns false when the lane is empty, and lets it go then, or when ctx ends.
func (e *Engine) gather(ctx context.Context, l *lane) bool {
	for {
		wait, empty := e.quietFor(l)
		if empty || wait <= 0 {
			return !empty
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-l.grown:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// quietFor says how long the lane has to be watched still. An empty lane is
// removed.
func (e *Engine) quietFor(l *lane) (wait time.Duration, empty bool) {
	debounce := e.settings().Debounce
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(l.resumes) > 0 {
		return 0, false
	}
	if len(l.items) == 0 {
		l.working = false
		delete(e.lanes, l.address)
		return 0, true
	}
	first, last := l.items[0], l.items[len(l.items)-1]
	if first.msg.Command != "" || last.msg.Command != "" {
		return 0, false
	}
	if clip.UTF16Len(last.msg.Text) >= splitUnits {
		debounce = max(debounce, splitWait)
	}
	if last.msg.Forwarded != "" || last.msg.Album != "" {
		debounce = max(debounce, holdWait)
	}
	until := last.row.ReceivedAt.Add(debounce)
	if limit := first.row.ReceivedAt.Add(max(gatherMax, debounce)); until.After(limit) {
		until = limit
	}
	return time.Until(until), false
}

// take removes what makes up the next turn: one command, or the messages up to
// the next command, as many as half of the model's budget holds.
func (e *Engine) take(l *lane) []item {
	_, model := e.settings().Models.For("")
	budget := model.Window() / 2
	e.mu.Lock()
	defer e.mu.Unlock()
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

// putBack returns messages to the head of their lane when the store could not
// take their turn down, and waits a moment before the next try. What /stop comes
// upon meanwhile is dropped.
func (e *Engine) putBack(ctx context.Context, items []item) {
	wait.For(ctx, time.Second)
	e.mu.Lock()
	stopped := errors.Is(context.Cause(ctx), lifecycle.ErrStopped)
	if !stopped {
		l := e.lane(items[0].row.Address)
		l.items = append(items, l.items...)
	}
	e.mu.Unlock()
	if stopped {
		e.dropStopped(ctx, items)
	}
}

// dropStopped ends messages that /stop has taken out of their lane.
func (e *Engine) dropStopped(ctx context.Context, items []item) {
	e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "dropped by /stop", rowsOf(items)...)
}

// admit asks the whitelist once more, now that the messages' turn has come, and
// ends those that may not come in any more.
func (e *Engine) admit(ctx context.Context, items []item) []item {
	return slices.DeleteFunc(items, func(it item) bool {
		err := e.gateway.Allowed(it.row.Update)
		if err != nil {
			e.log.Info("message dropped", "chat", it.msg.Address.String(), "reason", err.Error())
			e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "not allowed any more", it.row.ID)
		}
		return err != nil
	})
}

// replaceWaiting gives a message that still waits in its lane the text of its
// edit, and returns the message's row.
func (e *Engine) replaceWaiting(edit item) (store.InboxID, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[edit.row.Address]
	if l == nil || edit.msg.Command != "" {
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

// stopLane drops what waits in a lane and cancels its turn. The answer is the
// one visible sign.
func (e *Engine) stopLane(ctx context.Context, it item) {
	e.mu.Lock()
	var dropped []item
	running := false
	if l := e.lanes[it.row.Address]; l != nil {
		dropped, l.items = l.items, nil
		if running = l.stop != nil; running {
			l.stop(lifecycle.ErrStopped) // under mu: putBack shall not come in between
		}
	}
	e.mu.Unlock()
	if len(dropped) > 0 {
		e.dropStopped(ctx, dropped)
	}
	subagents := e.runs.StopSubagents(ctx, it.row.Address)
	e.log.Info("stop", "chat", it.msg.Address.String(), "running", running, "dropped", len(dropped), "subagents", subagents)
	behind := e.background(it.msg.Address.Chat)
	text := e.say(locale.NothingRuns)
	switch {
	case len(dropped) > 0:
		text = e.say(locale.StoppedDropped, len(dropped))
	case running || subagents > 0:
		text = e.say(locale.Stopped)
	case behind != "":
		text = ""
	}
	if subagents > 0 {
		text += " " + e.say(locale.StoppedSubagents, subagents)
	}
	e.reply(ctx, it.row, command.Reply{Text: strings.TrimSpace(text + "\n" + behind)})
}

// background says which commands go on in the background of a chat and how to end
// the first, nothing when there are none. They are left alone: who started one in
// the background wants it to outlive the turn.
func (e *Engine) background(chat gateway.ChatID) string {
	if e.config.Background == nil {
		return ""
	}
	ids, commands := e.config.Background(chat.String())
	if len(ids) == 0 {
		return ""
	}
	var lines []string
	for i, id := range ids {
		lines = append(lines, id+": "+commands[i])
	}
	end := fmt.Sprintf(`/tool shell_manage {"action": "kill", "id": %q}`, ids[0])
	return e.say(locale.Background, locale.CodeBlock(e.redact.Text(strings.Join(lines, "\n"))), locale.CodeBlock(end))
}

// continues reports whether a message is the next part of a text that a client
// has cut in two: the same sender, the next id, shortly after a full message.
func continues(before, after item) bool {
	return before.msg.Sender.ID == after.msg.Sender.ID && after.msg.ID == before.msg.ID+1 &&
		clip.UTF16Len(before.msg.Text) >= splitUnits && after.msg.Command == "" && after.msg.Reply == nil &&
		after.row.ReceivedAt.Sub(before.row.ReceivedAt) <= splitWait
}
