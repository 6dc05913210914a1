package progress

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/wait"
)

// running is a tool at work.
type running struct {
	tool, detail string
	since        time.Time
}

// Busy says that a tool runs with these arguments, until done. When it takes long, the
// chat is told.
func (p *Progress) Busy(tool string, arguments json.RawMessage) (done func()) {
	r := &running{tool: clip.Name(tool), detail: detailOf(arguments), since: time.Now()}
	p.do(func() { p.running, p.how = append(p.running, r), "" })
	return func() {
		p.do(func() {
			p.running = slices.DeleteFunc(p.running, func(other *running) bool { return other == r })
			p.since, p.how = time.Now(), ""
		})
	}
}

// Step says how far the tool is that runs, for people to see at once: not
// what a model or a server has said. It is a part of the note that a tool takes
// long, which the placeholder's message shows until something else does.
func (p *Progress) Step(how string) { p.set(func() { p.how = how }) }

// Wait says that the turn waits for a person who decides about a tool; resume says
// that it continues.
func (p *Progress) Wait(tool string) (resume func()) {
	began := time.Now()
	p.do(func() { p.waits, p.since = cmp.Or(clip.Name(tool), clip.Nobody), began })
	return func() {
		p.do(func() {
			p.waits = ""
			for _, r := range p.running { // the time of people is not a tool's
				r.since = r.since.Add(time.Since(began))
			}
		})
	}
}

// do changes what the turn does.
func (p *Progress) do(change func()) {
	p.set(change)
	wait.Signal(p.changed)
}

// waiting reports whether the turn waits for a person.
func (p *Progress) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits != ""
}

// newest is the tool that runs, nil for none and while a person decides. The caller
// holds mu.
func (p *Progress) newest() *running {
	if p.waits != "" || len(p.running) == 0 {
		return nil
	}
	return p.running[len(p.running)-1]
}

// work tells the channel what the turn does whenever that changes, until ctx ends.
func (p *Progress) work(ctx context.Context) {
	defer func() { p.tell(ctx, gateway.Work{Kind: gateway.WorkIdle, Since: time.Now()}) }()
	for {
		p.tell(ctx, p.doing())
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
		}
	}
}

func (p *Progress) doing() gateway.Work {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits != "" {
		return gateway.Work{Kind: gateway.WorkWaiting, Tool: p.waits, Since: p.since}
	}
	if r := p.newest(); r != nil {
		return gateway.Work{Kind: gateway.WorkTool, Tool: r.tool, Detail: r.detail, Since: r.since}
	}
	return gateway.Work{Kind: gateway.WorkThinking, Since: p.since}
}

func (p *Progress) tell(ctx context.Context, w gateway.Work) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateway.SendWithin)
	defer cancel()
	if err := p.shows.Gateway.Work(ctx, p.shown.Address, w); err != nil {
		p.shown.Log.Debug("work not shown", "err", err)
	}
}

// detailOf is what a call is about: its command, address, question or file.
func detailOf(arguments json.RawMessage) string {
	var a struct{ Command, URL, Query, Path, Pattern, Expression, Action, Name, Code string }
	_ = json.Unmarshal(arguments, &a) // a call that is not understood has no detail
	return cmp.Or(a.Command, a.URL, a.Query, a.Path, a.Pattern, a.Expression, a.Action, a.Name, a.Code)
}
