package tools

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// defaultTimeout is the deadline of a tool that states none.
const defaultTimeout = 30 * time.Second

// MaxTimeout is the longest deadline that a call can ask for.
const MaxTimeout = 300 * time.Second

// timeout is the deadline of a call.
func (s Spec) timeout(c Call) time.Duration {
	if s.TimeoutOf != nil {
		if d := s.TimeoutOf(c.Arguments); d > 0 {
			return min(d, MaxTimeout)
		}
	}
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultTimeout
}

// run runs the tool within its deadline and catches its panics.
func (e *Executor) run(ctx context.Context, p *pass) (r Result) {
	defer func() {
		if fault := recover(); fault != nil {
			r = e.broken(p.call, fault)
		}
	}()
	timeout := p.spec.timeout(p.call)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p.call.Decided = p.decision
	if p.watched != (watched{}) && p.spec.watch(p.call) != p.watched {
		return *p.changed()
	}
	r = p.tool.Run(ctx, p.call)
	// A tool that says itself that its time was up may tell what it has so far.
	if !r.Success && r.ErrorKind != Timeout && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Fail(Timeout, fmt.Sprintf("%s did not finish within %s", p.spec.Name, timeout))
	}
	return r
}

// broken is the result of a call on which a tool panicked.
func (e *Executor) broken(c Call, fault any) Result {
	e.log.Error("tool panicked", "tool", c.Name, "call", c.ID, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	return Fail(Execution, fmt.Sprintf("%s broke on this call; try it another way", c.Name))
}
