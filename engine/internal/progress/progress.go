// Package progress shows in a chat that a turn is at work: the typing sign, what it
// does (gateway.Worker), the placeholder, and the answer while it grows. Nothing that goes wrong here stops the
// turn. How the turn ends and what takes the place of the placeholder is up to the turn.
//
// # The placeholder
//
// While a turn lasts its chat shows a placeholder, the fixed text "…", whose
// message becomes the answer by an edit. Edits may be repeated, so the answer
// of such a turn cannot come twice. A turn that answers within 0.7 s has none. A
// placeholder is sent when everything has left that waits at its address, and what
// comes behind it waits for it: see Alone of the outbox. The state is stored with the turn:
//
//	state      event                                  next       who acts
//	none       0.7 s have passed, nothing waits       sending    committed, then sent beside the model call
//	none       the turn ends                          final      the answer is a plain send
//	sending    the channel returned the message id    shown
//	sending    refused or not sent, for certain       forgotten  never tried again
//	sending    written, but not answered              forgotten  it may be there; never repeated
//	sending    the process died                       forgotten  at the next start
//	shown      the turn ends with an answer           final      part 0 edits the message
//	shown      the turn ends without one              final      the message is deleted
//	shown      ... of several parts, and something    final      the message is deleted, the parts are sent
//	           has left behind the message since
//	shown      the process died                       shown      the resumed turn continues with it
//	final      "message to edit not found"            final      part 0 is sent as a new message
//	forgotten  the turn ends                          final      the answer is a plain send
//
// With drafts the state stays none while a draft shows the turn; a draft is no
// message and needs no state. A chat without drafts, and a tool that is about to
// change something, make it continue as above.
//
// The edges are crash points of the kill tests.
package progress

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/redact"
	"klawbot/internal/wait"
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
	// then the typing sign is enough. unstreamedPlaceholderAfter is the same for one
	// that does not stream and is not about to change something.
	placeholderAfter           = 700 * time.Millisecond
	unstreamedPlaceholderAfter = 2 * time.Second
	// previewEvery is the time between two previews of a growing answer.
	previewEvery = 1500 * time.Millisecond
	// nearbyEvery is the same where nothing limits how often something is shown: in a
	// terminal and on the web page.
	nearbyEvery = 100 * time.Millisecond
	// statusEvery is the same for how far a model has loaded or read.
	statusEvery = 2 * time.Second
	// settleWithin bounds the wait for a placeholder when the turn has ended.
	settleWithin = 5 * time.Second
)

// Shows starts to show turns. All of it is required.
type Shows struct {
	Store   *store.Store
	Gateway *gateway.Gateway
	// Alone waits until nothing waits at an address any more, and keeps what comes behind
	// back until release, which is nil when ctx ends first.
	Alone func(ctx context.Context, a gateway.Address) (release func())
	// Lose ends what concerns a chat that cannot be reached any more.
	Lose func(ctx context.Context, chat gateway.ChatID, why string, ids ...store.InboxID)
	// Mute notes that the bot may not write at an address.
	Mute   func(ctx context.Context, a gateway.Address, topic bool, why string)
	Redact *redact.Set
}

// Shown is a turn that is shown.
type Shown struct {
	Turn    store.TurnID
	Address gateway.Address
	ReplyTo int64
	// State and MessageID are those of its placeholder, as they are stored.
	State     string
	MessageID int64
	// Streaming is how the answer is shown while it grows, as in the settings.
	Streaming string
	// Subagent names the subagent that is at work, empty for the turn of a person. It
	// shows one message of its own that neither rings nor types.
	Subagent string
	Log      *slog.Logger
}

// Progress is what one turn shows. The zero value shows nothing.
type Progress struct {
	shows   Shows
	shown   Shown
	began   time.Time
	stop    context.CancelFunc
	working sync.WaitGroup
	// needed asks for the placeholder before its time; grown tells that there
	// may be something new to show.
	needed, grown chan struct{}
	// changed tells that the turn does something else now.
	changed chan struct{}
	// sign is what the placeholder says.
	sign string

	mu    sync.Mutex
	state string    // guarded by mu
	id    int64     // guarded by mu
	text  string    // guarded by mu; the newest preview
	early bool      // guarded by mu; text is no answer yet but what the model does
	since time.Time // guarded by mu; since when the turn thinks
	how   string    // guarded by mu; how far the newest tool is, in its own words
	// running are the tools that run, the newest last.
	running []*running // guarded by mu
	// waits is the tool about which a person decides; the turn is not at work then.
	waits string // guarded by mu
}

// Start begins to show a turn, until Settle, however ctx ends. The placeholder comes
// only when the turn lasts; one that does not stream has to last longer, unless it is
// about to change something.
func (s Shows) Start(ctx context.Context, t Shown) *Progress {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &Progress{
		shows: s, shown: t, began: time.Now(), stop: cancel, sign: placeholderText,
		needed: make(chan struct{}, 1), grown: make(chan struct{}, 1), changed: make(chan struct{}, 1), state: t.State, id: t.MessageID,
	}
	p.since = p.began
	if t.Subagent != "" {
		p.sign = "⏳ " + clip.Name(t.Subagent) + placeholderText
	} else {
		p.working.Go(func() { p.typing(ctx) })
		p.working.Go(func() { p.work(ctx) })
	}
	p.working.Go(func() { p.show(ctx, t.Streaming) })
	return p
}

// show shows what there is to show until ctx ends.
func (p *Progress) show(ctx context.Context, streaming string) {
	if streaming == settings.StreamDraft && p.state == store.PlaceholderNone {
		if !p.drafts(ctx) {
			return
		}
		streaming = settings.StreamEdit
	}
	if !p.place(ctx, streaming) {
		return
	}
	err := p.grow(ctx, preview{streaming: streaming != settings.StreamOff, shown: p.sign, show: func(ctx context.Context, part gateway.Part) error {
		return p.shows.Gateway.Edit(ctx, p.shown.Address, p.id, part)
	}})
	if err != nil {
		p.shown.Log.Debug("no more previews", "err", err)
	}
}

// Settle ends the signs of work and returns the placeholder's last state. It
// waits for a placeholder on its way: whether it arrived decides how the answer
// leaves.
func (p *Progress) Settle() (state string, id int64) {
	if p.stop != nil {
		p.stop()
	}
	p.working.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.id
}

// Need asks for the placeholder now.
func (p *Progress) Need() { wait.Signal(p.needed) }

// set changes what there is to show.
func (p *Progress) set(change func()) {
	p.mu.Lock()
	change()
	p.mu.Unlock()
	wait.Signal(p.grown)
}

// Text hands over the answer as far as it has grown.
func (p *Progress) Text(text string) { p.set(func() { p.text, p.early = text, false }) }

// Status hands over what the model does before it answers.
func (p *Progress) Status(text string) { p.set(func() { p.text, p.early = text, true }) }

// typing shows the typing sign until ctx ends, but not while a person is asked.
func (p *Progress) typing(ctx context.Context) {
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
		if err := p.shows.Gateway.Typing(ctx, p.shown.Address); err != nil && ctx.Err() == nil {
			p.shown.Log.Debug("typing not shown", "err", err)
		}
	}
}

// place sends the placeholder when its time has come and everything has left that
// waited before it, and reports whether it is shown.
func (p *Progress) place(ctx context.Context, streaming string) bool {
	if p.state != store.PlaceholderNone {
		return p.state == store.PlaceholderShown
	}
	if !wait.For(ctx, placeholderAfter-time.Since(p.began)) {
		return false
	}
	if streaming != settings.StreamEdit {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(unstreamedPlaceholderAfter - time.Since(p.began)):
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
	release := p.shows.Alone(ctx, p.shown.Address)
	if release == nil {
		return false
	}
	defer release()
	return ctx.Err() == nil && p.write(ctx, store.PlaceholderSending, 0) && p.send(ctx)
}

// send sends the placeholder.
func (p *Progress) send(ctx context.Context) bool {
	lifecycle.CrashPoint("placeholder.sending")
	part := gateway.Part{Text: p.sign, ReplyTo: p.shown.ReplyTo, Yield: true, Silent: p.shown.Subagent != ""}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateway.SendWithin)
	defer cancel()
	// A turn that has ended does not wait long for a placeholder that hangs.
	ended := context.AfterFunc(ctx, func() { time.AfterFunc(settleWithin, cancel) })
	defer ended()
	id, err := p.shows.Gateway.Send(sending, p.shown.Address, part)
	lifecycle.CrashPoint("placeholder.sent")
	if err != nil {
		if fail, ok := errors.AsType[*gateway.SendError](err); !ok || fail.Kind != gateway.Busy {
			p.shown.Log.Warn("placeholder not sent", "err", err)
		}
		p.write(ctx, store.PlaceholderForgotten, 0)
		if fail, ok := errors.AsType[*gateway.SendError](err); ok && fail.Kind == gateway.Dead {
			p.shows.Lose(context.WithoutCancel(ctx), p.shown.Address.Chat, fail.Err.Error())
		}
		if fail, ok := gateway.MutedBy(err); ok {
			p.shows.Mute(context.WithoutCancel(ctx), p.shown.Address, fail.Topic, fail.Err.Error())
		}
		return false
	}
	shown := p.write(ctx, store.PlaceholderShown, id)
	lifecycle.CrashPoint("placeholder.shown")
	return shown
}

// write stores a state of the placeholder before it is acted on. What is not
// stored did not happen.
func (p *Progress) write(ctx context.Context, state string, id int64) bool {
	err := p.shows.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.Turns().SetPlaceholder(p.shown.Turn, state, id)
	})
	if err != nil {
		p.shown.Log.Error("placeholder not stored", "state", state, "err", err)
		if state != store.PlaceholderShown {
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.id = state, id
	return true
}
