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

// run runs the tool within its deadline and catches its panics.
func (e *Executor) run(ctx context.Context, p *pass) (r Result) {
	timeout := p.spec.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if fault := recover(); fault != nil {
			r = e.broken(p.call, fault)
		}
	}()
	r = p.tool.Run(ctx, p.call)
	if !r.Success && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Fail(Timeout, fmt.Sprintf("%s did not finish within %s", p.spec.Name, timeout))
	}
	return r
}

// broken is the result of a call on which a tool panicked.
func (e *Executor) broken(c Call, fault any) Result {
	e.log.Error("tool panicked", "tool", c.Name, "call", c.ID, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	return Fail(Execution, fmt.Sprintf("%s broke on this call; try it another way", c.Name))
}
