package progress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// progressEvery is how long a tool may run until the chat is told, and told
	// again.
	progressEvery = 10 * time.Second
	// draftEvery renews a draft before it fades after half a minute.
	draftEvery = 20 * time.Second
)

// put shows a part in the place of the one before.
type put func(context.Context, gateway.Part) error

// preview is how a turn shows what it has so far.
type preview struct {
	// streaming shows the text, not only which tool takes so long.
	streaming bool
	// shown is what the chat shows now.
	shown string
	// renew is how often it is shown again though it is the same; 0 is never.
	renew time.Duration
	show  put
}

// grow shows the answer so far, or which tool takes so long, at once and then now and
// then until ctx ends; what begins later is gathered for a while first. What finds no room
// falls; the next one says more anyway. It returns early, with the error, when the chat
// cannot show it at all.
func (p *Progress) grow(ctx context.Context, g preview) error {
	delay := p.pause()
	if part, ok := p.current(g.streaming); ok && part.Text != g.shown {
		delay = 0
	}
	for ; ; delay = p.pause() {
		var fading <-chan time.Time
		if g.renew > 0 {
			fading = time.After(g.renew - previewEvery)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.grown:
		case <-p.anotherWhile():
		case <-fading:
			g.shown = p.sign // which no answer is
		}
		part, ok := p.current(g.streaming)
		if !ok && g.renew == 0 || part.Text == g.shown {
			continue
		}
		switch err := showNow(ctx, g.show, part); {
		case err == nil:
			g.shown = part.Text
		case failed(err, gateway.Busy):
			wait.Signal(p.grown)
		case failed(err, gateway.Rejected):
			return err
		case ctx.Err() == nil:
			p.shown.Log.Debug("preview not shown", "err", err)
		}
	}
}

// pause is how long what is shown now stays at least.
func (p *Progress) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.early {
		return statusEvery
	}
	if p.shows.Gateway.Works(p.shown.Address.Chat.Channel) {
		return nearbyEvery
	}
	return previewEvery
}

// showNow shows a part that yields. It is never given up half-way: a preview that
// arrives after the answer would overwrite it.
func showNow(ctx context.Context, show put, part gateway.Part) error {
	part.Yield = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateway.SendWithin)
	defer cancel()
	return show(ctx, part)
}

func failed(err error, kind gateway.Failure) bool {
	fail, ok := errors.AsType[*gateway.SendError](err)
	return ok && fail.Kind == kind
}

// anotherWhile fires when a tool has run for another while; without one it is nil.
func (p *Progress) anotherWhile() <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.newest()
	if r == nil {
		return nil
	}
	return time.After(progressEvery - time.Since(r.since)%progressEvery)
}

// current is what there is to show: the tool that runs for long, else the answer
// so far.
func (p *Progress) current(streaming bool) (gateway.Part, bool) {
	p.mu.Lock()
	text, tool, how, ran := p.text, "", p.how, time.Duration(0)
	if r := p.newest(); r != nil {
		tool, ran = r.tool, time.Since(r.since)
	}
	p.mu.Unlock()
	switch {
	case tool != "" && how != "":
		return gateway.Part{Text: fmt.Sprintf("%s (%s, %d s, %s)", p.sign, tool, int(ran.Seconds()), how)}, true
	case tool != "" && ran >= progressEvery:
		return gateway.Part{Text: fmt.Sprintf("%s (%s, %d s)", p.sign, tool, int(ran.Truncate(progressEvery).Seconds()))}, true
	}
	if !streaming {
		return gateway.Part{}, false
	}
	return p.shows.Gateway.Growing(p.shown.Address.Chat.Channel, p.shows.Redact.Text(text))
}

// drafts shows the turn in a draft, which is no message and leaves nothing behind,
// until ctx ends. It returns true when a placeholder has to take over: the chat
// has no drafts, or something is about to be changed, which a crash must not
// leave without a trace.
func (p *Progress) drafts(ctx context.Context) (placeholder bool) {
	show := func(ctx context.Context, part gateway.Part) error {
		return p.shows.Gateway.Draft(ctx, p.shown.Address, int64(p.shown.Turn), part)
	}
	if !wait.For(ctx, placeholderAfter-time.Since(p.began)) {
		return false
	}
	release := p.shows.Alone(ctx, p.shown.Address)
	if release == nil {
		return false
	}
	release()
	first, ok := p.current(true)
	if !ok {
		first = gateway.Part{} // it thinks
	}
	if failed(showNow(ctx, show, first), gateway.Rejected) {
		return true
	}
	drafting, stop := context.WithCancel(ctx)
	defer stop()
	refused := make(chan error, 1)
	p.working.Go(func() {
		refused <- p.grow(drafting, preview{streaming: true, shown: first.Text, renew: draftEvery, show: show})
	})
	select {
	case <-ctx.Done():
		return false
	case <-p.needed:
		stop()
		<-refused // no draft may come after the placeholder
		wait.Signal(p.needed)
	case <-refused:
	}
	return ctx.Err() == nil
}
