package tools

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"klawbot/internal/clip"
	"klawbot/internal/redact"
	"klawbot/tools/injection"
	"klawbot/tools/near"
)

// ExecutorConfig is what NewExecutor needs.
type ExecutorConfig struct {
	// Registry holds the tools that are always there. Required.
	Registry *Registry
	// Sources offer further tools. None of them takes a name that is taken.
	Sources []Source
	// Policy is what the owner allows now; nil is the zero Policy.
	Policy func() Policy
	// MaxOutputChars caps the output for a model, in characters; nil or 0 means 10,000.
	MaxOutputChars func() int
	// SpillDir is the folder for the whole of long outputs. Empty: they are not kept.
	SpillDir string
	// ScratchDir is the folder for the scratch directorys of calls, made when
	// needed. Empty: the system's folder for temporary files.
	ScratchDir string
	// Keep copies a file that goes to a chat to where it waits until it is
	// sent, and returns the path there. Nil: no files leave.
	Keep func(r io.Reader) (path string, err error)
	// Redact holds the known secrets. Required.
	Redact *redact.Set
	// Log is required.
	Log *slog.Logger
}

// Executor runs calls of tools through the same steps. It is safe for several goroutines.
type Executor struct {
	// registry is the tools as they are now.
	registry func() *Registry
	rules    func() Policy
	capture  capture
	scratch  string
	keep     func(io.Reader) (string, error)
	log      *slog.Logger
}

// NewExecutor returns an Executor.
func NewExecutor(c ExecutorConfig) *Executor {
	if c.Policy == nil {
		c.Policy = func() Policy { return Policy{} }
	}
	return &Executor{
		registry: newCatalogue(c.Registry, c.Sources, c.Log).registry, rules: c.Policy,
		capture: capture{max: c.MaxOutputChars, spill: spill{dir: c.SpillDir, log: c.Log}, redact: c.Redact},
		scratch: c.ScratchDir, keep: c.Keep,
		log: c.Log,
	}
}

// Registry is the tools as they are now.
func (e *Executor) Registry() *Registry { return e.registry() }

// Snapshot is an Executor whose tools stay as they are now, for one turn: the model can
// call what it was shown, whatever the sources do.
func (e *Executor) Snapshot() *Executor {
	fixed, now := *e, e.registry()
	fixed.registry = func() *Registry { return now }
	return &fixed
}

// Execute runs a call: find, validate, pre-check, policy, approve, journal, sandbox,
// run, capture, journal. A call that fails is a Result that tells the model what to
// do instead. The error stops the turn: ctx ended first, or the journal or the
// Approver failed. A nil journal records nothing.
func (e *Executor) Execute(ctx context.Context, c Call, j Journal) (Result, error) {
	begun := time.Now()
	p, refusal := e.judge(c)
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("tool %s: %w", clip.Runes(c.Name, near.MaxName), context.Cause(ctx))
	}
	if refusal == nil && p.decision.Verdict == Ask {
		var err error
		if refusal, err = e.approve(ctx, p); err != nil {
			return Result{}, err
		}
		begun = time.Now() // waiting for a person does not count
	}
	if refusal != nil {
		return e.finish(p.call, *refusal, begun), nil
	}
	if err := started(ctx, p.call, j); err != nil {
		return Result{}, err
	}
	defer e.enclose(p)()
	r := e.run(ctx, p)
	if err := context.Cause(ctx); err != nil && !r.Success {
		return Result{}, fmt.Errorf("tool %s: %w", p.spec.Name, err)
	}
	r = e.keepFiles(p.call, e.finish(p.call, e.capture.outside(p.spec, r), begun))
	return r, finished(ctx, p.call, r, j)
}

// finish prepares the result for the model and logs the call.
func (e *Executor) finish(c Call, r Result, begun time.Time) Result {
	r = e.capture.result(c, r)
	r.DurationMS = time.Since(begun).Milliseconds()
	log := e.log
	if o := r.Outside; o != nil && o.Level > injection.None {
		log = log.With("screen", o.Level.String(), "found", strings.Join(o.Rules, ", "))
	}
	log.Info("tool call", "chat", c.Chat, "turn", c.Turn, "call", c.ID, "tool", clip.Runes(c.Name, near.MaxName),
		"ok", r.Success, "kind", string(r.ErrorKind), "ms", r.DurationMS, "chars", len(r.Output), "truncated", r.Truncated)
	return r
}
