package tools

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"sync"
)

// Source offers tools that come and go while the bot runs: those of servers and plugins.
// It is safe for several goroutines and never blocks.
type Source interface {
	// Tools are what it offers now, in any order, without aliases. A tool that
	// is in the list does not change; one that has to is replaced by another.
	Tools() []Tool
	// Changed counts the changes of what Tools and Faults return.
	Changed() uint64
}

// Faulty is a Source that knows what it cannot offer.
type Faulty interface {
	// Faults are that, with the reasons.
	Faults() []Fault
}

// Fault is a tool of a source that is left out. Its JSON form is stable.
type Fault struct {
	// Name is what the owner knows it by: the tool, or the file it comes from.
	Name string `json:"name"`
	// Reason says what to do about it.
	Reason string `json:"reason"`
}

func (f Fault) String() string { return f.Name + ": " + f.Reason }

// catalogue is the tools that are always there and those of the sources. It
// checks the sources when it is asked.
type catalogue struct {
	base    *Registry
	sources []Source
	log     *slog.Logger

	mu   sync.Mutex
	seen []uint64  // guarded by mu; Changed of the sources when now was made
	now  *Registry // guarded by mu
}

func newCatalogue(base *Registry, sources []Source, log *slog.Logger) *catalogue {
	return &catalogue{base: base, sources: sources, log: log, seen: make([]uint64, len(sources))}
}

// registry is the tools as they are now, the same value until a source changes.
func (c *catalogue) registry() *Registry {
	if len(c.sources) == 0 {
		return c.base
	}
	seen := make([]uint64, len(c.sources))
	for i, s := range c.sources { // before their tools, so that no change is missed
		seen[i] = s.Changed()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil && slices.Equal(seen, c.seen) {
		return c.now
	}
	next := c.base.with(c.sources)
	for _, f := range next.faults {
		if c.now == nil || !slices.Contains(c.now.faults, f) {
			c.log.Info("tool left out", "tool", f.Name, "reason", f.Reason)
		}
	}
	c.seen, c.now = seen, next
	return next
}

// legalName is what the servers of models take as the name of a tool.
var legalName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// with is the registry and the tools of sources that fit beside it, the first
// source first. No tool takes a name that another one has.
func (r *Registry) with(sources []Source) *Registry {
	next := &Registry{byName: make(map[string]entry, len(r.byName)), sorted: slices.Clone(r.sorted)}
	maps.Copy(next.byName, r.byName)
	for _, s := range sources {
		if f, ok := s.(Faulty); ok {
			next.faults = append(next.faults, f.Faults()...)
		}
		for _, t := range sortedByName(s.Tools()) {
			if err := next.join(t); err != nil {
				next.faults = append(next.faults, Fault{t.Spec().Name, err.Error()})
			}
		}
	}
	next.sorted = sortedByName(next.sorted)
	return next
}

// join adds a tool of a source, all of it or nothing.
func (r *Registry) join(t Tool) error {
	spec := t.Spec()
	if len(spec.Aliases) > 0 {
		return errors.New("a tool of a plugin or server has no aliases")
	}
	if !legalName.MatchString(spec.Name) {
		return fmt.Errorf("the name %.80q is not made of 1 to 64 of a-z, 0-9 and _; rename it", spec.Name)
	}
	if other, taken := r.byName[spec.Name]; taken {
		return fmt.Errorf("the name %s belongs to the tool %s; rename it", spec.Name, other.tool.Spec().Name)
	}
	if err := r.add(t); err != nil {
		return err
	}
	r.sorted = append(r.sorted, t)
	return nil
}

// Faults are the tools of sources that are left out.
func (r *Registry) Faults() []Fault { return slices.Clone(r.faults) }
