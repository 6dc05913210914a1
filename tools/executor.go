package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"klawbot/internal/redact"
)

// Journal records a call around its effect, so that after a crash everybody
// knows what has happened. A call whose start was recorded and whose result was
// not is in doubt. A call that is refused before its effect is not recorded: it
// would be refused again.
type Journal interface {
	// Started is called when everything but the effect is behind the call.
	Started(ctx context.Context, c Call) error
	// Finished stores the result, and what it carries, in one transaction.
	Finished(ctx context.Context, c Call, r Result) error
}

// ExecutorConfig is what NewExecutor needs.
type ExecutorConfig struct {
	// Registry holds the tools. Required.
	Registry *Registry
	// MaxOutputChars caps the output that a model reads, in characters; nil
	// or 0 means 10,000.
	MaxOutputChars func() int
	// SpillDir is the folder for outputs that were cut, made when needed.
	// Empty: they are not kept.
	SpillDir string
	// Redact holds the known secrets. Required.
	Redact *redact.Set
	// Log is required.
	Log *slog.Logger
}

// Executor runs calls of tools, all through the same steps. It may be used from
// several goroutines.
type Executor struct {
	registry *Registry
	capture  capture
	log      *slog.Logger
}

// NewExecutor returns an Executor.
func NewExecutor(c ExecutorConfig) *Executor {
	return &Executor{
		registry: c.Registry,
		capture:  capture{max: c.MaxOutputChars, spill: spill{dir: c.SpillDir, log: c.Log}, redact: c.Redact},
		log:      c.Log,
	}
}

// Execute runs a call: find, validate, journal, run, capture, journal. Whatever
// goes wrong with the call is a Result that tells the model what to do instead.
// The error is for what must stop the turn: ctx ended before the tool was done,
// or the journal failed. A nil journal records nothing.
func (e *Executor) Execute(ctx context.Context, c Call, j Journal) (Result, error) {
	begun := time.Now()
	t, c, refusal := e.prepare(c)
	if refusal != nil {
		return e.finish(c, *refusal, begun), nil
	}
	if err := started(ctx, c, j); err != nil {
		return Result{}, err
	}
	r := e.run(ctx, t, c)
	if err := context.Cause(ctx); err != nil && !r.Success {
		return Result{}, fmt.Errorf("tool %s: %w", c.Name, err)
	}
	r = e.finish(c, r, begun)
	return r, finished(ctx, c, r, j)
}

// prepare decides whether a call may run, and with what: the tool and the call
// in canonical form, or the refusal.
func (e *Executor) prepare(c Call) (Tool, Call, *Result) {
	found, ok := e.registry.byName[c.Name]
	if !ok {
		r := Fail(NotFound, fmt.Sprintf("unknown tool '%s'%s", clip(c.Name, maxName), didYouMean(e.registry.Near(c.Name))))
		return nil, c, &r
	}
	c.Name = found.tool.Spec().Name
	args, err := found.arguments(c.Arguments)
	if err != nil {
		r := Fail(Validation, err.Error())
		return nil, c, &r
	}
	c.Arguments = args
	return found.tool, c, nil
}

// defaultTimeout is the deadline of a tool that states none.
const defaultTimeout = 30 * time.Second

// run runs the tool within its deadline and catches its panics.
func (e *Executor) run(ctx context.Context, t Tool, c Call) (r Result) {
	timeout := t.Spec().Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("tool panicked", "tool", c.Name, "call", c.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r = Fail(Execution, fmt.Sprintf("%s broke on this call; try it another way", c.Name))
		}
	}()
	r = t.Run(ctx, c)
	if !r.Success && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Fail(Timeout, fmt.Sprintf("%s did not finish within %s", c.Name, timeout))
	}
	return r
}

// finish makes the result fit for the model and writes the call's log line.
func (e *Executor) finish(c Call, r Result, begun time.Time) Result {
	r = e.capture.result(c, r)
	r.DurationMS = time.Since(begun).Milliseconds()
	e.log.Info("tool call", "chat", c.Chat, "turn", c.Turn, "call", c.ID, "tool", clip(c.Name, maxName),
		"ok", r.Success, "kind", string(r.ErrorKind), "ms", r.DurationMS, "chars", len(r.Output), "truncated", r.Truncated)
	return r
}

func started(ctx context.Context, c Call, j Journal) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("tool %s: %w", c.Name, err)
	}
	if j == nil {
		return nil
	}
	if err := j.Started(ctx, c); err != nil {
		return fmt.Errorf("journal the start of %s: %w", c.Name, err)
	}
	return nil
}

// journalTimeout bounds how long a result may take to be stored after the turn
// was stopped.
const journalTimeout = 5 * time.Second

// finished stores the result. It does so even when ctx has just ended: what has
// happened must not be in doubt.
func finished(ctx context.Context, c Call, r Result, j Journal) error {
	if j == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalTimeout)
	defer cancel()
	if err := j.Finished(ctx, c, r); err != nil {
		return fmt.Errorf("journal the result of %s: %w", c.Name, err)
	}
	return nil
}
