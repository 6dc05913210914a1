package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/wait"
)

// The states of a placeholder; the package comment has the table.
const (
	placeholderNone      = store.PlaceholderNone
	placeholderSending   = store.PlaceholderSending
	placeholderShown     = store.PlaceholderShown
	placeholderFinal     = store.PlaceholderFinal
	placeholderForgotten = store.PlaceholderForgotten
)

const (
	// placeholderText is all that the placeholder of a person's turn ever says.
	placeholderText = "…"
	// typingAfter is how long a turn may last before it shows that it works.
	typingAfter = 300 * time.Millisecond
	// typingEvery renews the sign before it fades after five seconds.
	typingEvery = 4500 * time.Millisecond
	// typingMax is how long it is renewed at most.
	typingMax = 10 * time.Minute
	// placeholderAfter is how long a turn may last without a placeholder: until
	// then the typing sign is enough. quietPlaceholderAfter is the same for one
	// that does not stream and is not about to change something.
	placeholderAfter      = 700 * time.Millisecond
	quietPlaceholderAfter = 2 * time.Second
	// previewEvery is the time between two previews of a growing answer.
	previewEvery = 1500 * time.Millisecond
	// settleWithin bounds the wait for a placeholder when the turn has ended.
	settleWithin = 5 * time.Second
)

// presence shows in the chat that a turn is at work: the typing sign, the
// placeholder, and the answer while it grows. Nothing that goes wrong here
// stops the turn.
type presence struct {
	e       *Engine
	t       *turn
	to      gateway.Address
	stop    context.CancelFunc
	working sync.WaitGroup
	// needed asks for the placeholder before its time; grown tells that there
	// may be something new to show.
	needed, grown chan struct{}
	// sign is what the placeholder says; quiet says that it neither rings nor
	// types, for a subagent.
	sign  string
	quiet bool
	began time.Time

	mu    sync.Mutex
	state string    // guarded by mu
	id    int64     // guarded by mu
	text  string    // guarded by mu; the newest preview
	tool  string    // guarded by mu; the tool that runs, empty for none
	since time.Time // guarded by mu; when it began
	how   string    // guarded by mu; how far it is, in its own words
	// waits says that the turn waits for a person and is not at work.
	waits bool // guarded by mu
}

func newPresence(e *Engine, t *turn) *presence {
	return &presence{
		e: e, t: t, to: t.row.Address, stop: func() {},
		needed: make(chan struct{}, 1), grown: make(chan struct{}, 1), sign: placeholderText,
	}
}

// startQuietly begins to show that a subagent is at work, in one message of its
// own that goes when the result comes.
func (p *presence) startQuietly(name string) {
	p.sign, p.quiet = "⏳ "+clip.Name(name)+placeholderText, true
	p.start(settings.StreamOff)
}

// start begins to show the turn. The placeholder comes only when the turn lasts; one
// that does not stream has to last longer, unless it is about to change something.
func (p *presence) start(streaming string) {
	p.to = p.t.row.Address // the chat may have moved before the turn began
	p.state, p.id, p.began = p.t.row.Placeholder, p.t.row.PlaceholderID, time.Now()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.e.life.Parking()))
	p.stop = cancel
	if !p.quiet {
		p.working.Go(func() { p.typing(ctx) })
	}
	p.working.Go(func() { p.show(ctx, streaming) })
}

// show shows what there is to show until ctx ends.
func (p *presence) show(ctx context.Context, streaming string) {
	if streaming == settings.StreamDraft && p.state == placeholderNone {
		if !p.drafts(ctx) {
			return
		}
		streaming = settings.StreamEdit
	}
	if !p.place(ctx, streaming) {
		return
	}
	err := p.grow(ctx, growth{streaming: streaming != settings.StreamOff, shown: p.sign, show: func(ctx context.Context, part gateway.Part) error {
		return p.e.gateway.Edit(ctx, p.to, p.id, part)
	}})
	if err != nil {
		p.t.log.Debug("no more previews", "err", err)
	}
}

// settle ends the signs of work and returns the placeholder's last state. It
// waits for a placeholder on its way: whether it arrived decides how the answer
// leaves.
func (p *presence) settle() (state string, id int64) {
	p.stop()
	p.working.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.id
}

// need asks for the placeholder now.
func (p *presence) need() { wait.Signal(p.needed) }

// preview hands over the answer as far as it has grown.
func (p *presence) preview(text string) {
	p.mu.Lock()
	p.text = text
	p.mu.Unlock()
	wait.Signal(p.grown)
}

// busy says that a tool runs. When it takes long, the chat is told.
func (p *presence) busy(tool string) {
	p.mu.Lock()
	p.tool, p.since, p.how = clip.Name(tool), time.Now(), ""
	p.mu.Unlock()
	wait.Signal(p.grown)
}

// progress says how far the tool is that runs, for people to see at once: not
// what a model or a server has said. It is a part of the note that a tool takes
// long, which stands in the placeholder's message until something else does.
func (p *presence) progress(how string) {
	p.mu.Lock()
	p.how = how
	p.mu.Unlock()
	wait.Signal(p.grown)
}

// wait says that the turn waits for a person who has to decide about a tool; the
// function says that it goes on.
func (p *presence) wait(tool string) (goOn func()) {
	p.idle()
	set := func(waits bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waits = waits
	}
	set(true)
	return func() {
		set(false)
		p.busy(tool)
	}
}

// waiting reports whether the turn waits for a person.
func (p *presence) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits
}

// idle says that no tool runs any more.
func (p *presence) idle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tool = ""
}

// typing shows the typing sign until ctx ends, but not while a person is asked.
func (p *presence) typing(ctx context.Context) {
	end := time.After(typingMax)
	for wait := typingAfter; ; wait = typingEvery {
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-time.After(wait):
		}
		if p.waiting() {
			continue
		}
		if err := p.e.gateway.Typing(ctx, p.to); err != nil && ctx.Err() == nil {
			p.t.log.Debug("typing not shown", "err", err)
		}
	}
}

// place sends the placeholder when its time has come and everything has left that
// waited before it, and reports whether it is shown.
func (p *presence) place(ctx context.Context, streaming string) bool {
	if p.state != placeholderNone {
		return p.state == placeholderShown
	}
	if !wait.For(ctx, placeholderAfter-time.Since(p.began)) {
		return false
	}
	if streaming != settings.StreamEdit {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(quietPlaceholderAfter - time.Since(p.began)):
		case <-p.needed:
		}
	}
	for p.waiting() { // nothing below the question until it is answered
		select {
		case <-ctx.Done():
			return false
		case <-p.grown:
		}
	}
	wait.Signal(p.grown) // which may have been for a preview
	release := p.e.outbox.Alone(ctx, p.t.row.Address)
	if release == nil {
		return false
	}
	defer release()
	return ctx.Err() == nil && p.write(placeholderSending, 0) && p.send(ctx)
}

// send sends the placeholder.
func (p *presence) send(ctx context.Context) bool {
	lifecycle.CrashPoint("placeholder.sending")
	part := gateway.Part{Text: p.sign, ReplyTo: p.t.row.ReplyTo, Yield: true, Silent: p.quiet}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateway.SendWithin)
	defer cancel()
	// A turn that has ended does not wait long for a placeholder that hangs.
	ended := context.AfterFunc(ctx, func() { time.AfterFunc(settleWithin, cancel) })
	defer ended()
	id, err := p.e.gateway.Send(sending, p.to, part)
	lifecycle.CrashPoint("placeholder.sent")
	if err != nil {
		if fail, ok := errors.AsType[*gateway.SendError](err); !ok || fail.Kind != gateway.Busy {
			p.t.log.Warn("placeholder not sent", "err", err)
		}
		p.write(placeholderForgotten, 0)
		if fail, ok := errors.AsType[*gateway.SendError](err); ok && fail.Kind == gateway.Dead {
			p.e.loseChat(context.WithoutCancel(ctx), p.t.row.Address, fail.Err.Error())
		}
		return false
	}
	shown := p.write(placeholderShown, id)
	lifecycle.CrashPoint("placeholder.shown")
	return shown
}

// write stores a state of the placeholder before it is acted on. What is not
// stored did not happen.
func (p *presence) write(state string, id int64) bool {
	err := p.e.store.Write(context.WithoutCancel(p.e.life.Parking()), func(tx *store.Tx) error {
		return tx.Turns().SetPlaceholder(p.t.row.ID, state, id)
	})
	if err != nil {
		p.t.log.Error("placeholder not stored", "state", state, "err", err)
		if state != placeholderShown {
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.id = state, id
	return true
}
