// Package plugin makes tools of executables in a folder of the owner: each prints its
// specification for --spec, takes a call's arguments as JSON on its standard input and
// prints a Result as JSON.
//
// A plugin passes the same pipeline as every tool. It needs approval unless the owner
// lists it as read-only; its own claim does not count. It runs in the sandbox when there
// is one, with a clean environment, a deadline and a cap on its output. The package does
// not decide who may call it.
package plugin

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

const (
	// pollEvery is how often the folder is checked.
	pollEvery = time.Second
	// maxPlugins is how many there may be.
	maxPlugins = 64
	// together is how many are asked for their specification at a time.
	together = 8
)

// Config is what New needs.
type Config struct {
	// Dir is the folder of the plugins. It need not exist.
	Dir string
	// Workspace is the folder that they run in. Required.
	Workspace string
	// Runner says where they run now; nil is without a sandbox.
	Runner func() sandbox.Runner
	// ReadOnly names the tools that the owner lists as read-only; nil: none.
	ReadOnly func() []string
	// Keep names files that a call may not change in a sandbox; nil: none.
	Keep func(tools.Call) []string
	// Log is required.
	Log *slog.Logger
}

// Host finds the plugins of a folder. It is a tools.Source.
type Host struct {
	config Config
	first  sync.Once

	looking sync.Mutex // held while the folder is checked
	mu      sync.Mutex
	known   map[string]plugin // guarded by mu; by file name
	reads   []string          // guarded by mu; ReadOnly when known was made
	box     string            // guarded by mu; the sandbox when known was made
	changed uint64            // guarded by mu
}

var (
	_ tools.Source = (*Host)(nil)
	_ tools.Faulty = (*Host)(nil)
)

// New returns a Host. It checks the folder when it is first asked.
func New(c Config) *Host {
	if c.Runner == nil {
		c.Runner = sandbox.Off
	}
	if c.ReadOnly == nil {
		c.ReadOnly = func() []string { return nil }
	}
	if c.Keep == nil {
		c.Keep = func(tools.Call) []string { return nil }
	}
	return &Host{config: c}
}

// plugin is what is known of one file: its specification, or why it has none.
type plugin struct {
	file  file
	spec  tools.Spec // without a name when there is a fault
	fault string
	tool  tools.Tool // nil with a fault
}

// Tools are the tools of the plugins, by file.
func (h *Host) Tools() []tools.Tool {
	var all []tools.Tool
	h.each(func(p plugin) {
		if p.tool != nil {
			all = append(all, p.tool)
		}
	})
	return all
}

// Faults are the plugins that cannot be used.
func (h *Host) Faults() []tools.Fault {
	var all []tools.Fault
	h.each(func(p plugin) {
		if p.fault != "" {
			all = append(all, tools.Fault{Name: "plugins/" + p.file.name, Reason: p.fault})
		}
	})
	return all
}

// Changed counts the changes.
func (h *Host) Changed() uint64 {
	h.start()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

func (h *Host) each(see func(plugin)) {
	h.start()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range sorted(h.known) {
		see(h.known[name])
	}
}

// start checks the folder once, for those who ask before Run does.
func (h *Host) start() { h.first.Do(func() { h.Look(context.Background()) }) }

// Run checks the folder every second until ctx ends.
func (h *Host) Run(ctx context.Context) {
	h.start()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.Look(ctx)
		}
	}
}

// Look checks the folder now. Only what is new or changed is asked for its
// specification, or all when the sandbox is another one.
func (h *Host) Look(ctx context.Context) {
	h.looking.Lock()
	defer h.looking.Unlock()
	found, err := list(h.config.Dir)
	if err != nil {
		h.config.Log.Warn("plugins not read", "dir", h.config.Dir, "err", err)
		return
	}
	reads, box := slices.Clone(h.config.ReadOnly()), h.config.Runner().Describe()
	h.mu.Lock()
	known, fresh := h.known, h.known == nil && len(found) > 0 || len(found) != len(h.known) || !slices.Equal(reads, h.reads)
	if box != h.box {
		known = nil
	}
	h.mu.Unlock()
	next := make([]plugin, len(found))
	var unknown []*plugin
	for i, f := range found {
		p, ok := known[f.name]
		if next[i] = p; ok && p.file == f {
			continue
		}
		fresh = true
		if next[i] = untried(f, i); next[i].fault == "" {
			unknown = append(unknown, &next[i])
		}
	}
	h.ask(ctx, unknown)
	if ctx.Err() != nil || !fresh {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known, h.reads, h.box = map[string]plugin{}, reads, box
	for _, p := range next {
		h.known[p.file.name] = h.offered(p, reads)
	}
	h.changed++
}

// untried is the i-th file before its specification is read.
func untried(f file, i int) plugin {
	p := plugin{file: f, fault: f.fault}
	if p.fault == "" && i >= maxPlugins {
		p.fault = fmt.Sprintf("there are more than %d plugins; take some out", maxPlugins)
	}
	return p
}

// offered is a plugin with its tool, for an owner who says which ones only read.
func (h *Host) offered(p plugin, reads []string) plugin {
	if p.fault != "" {
		return p
	}
	spec := p.spec
	spec.Changes = !slices.Contains(reads, spec.Name)
	spec.RequiresApproval = spec.Changes
	spec.Outside = true
	spec.Unconfined = func() bool { return h.config.Runner().Name() == sandbox.TypeOff }
	p.tool = tool{host: h, file: p.file, spec: spec}
	return p
}

// ask reads the specifications of plugins, some at a time.
func (h *Host) ask(ctx context.Context, all []*plugin) {
	var asked sync.WaitGroup
	room := make(chan struct{}, together)
	for _, p := range all {
		room <- struct{}{}
		asked.Go(func() {
			defer func() { <-room }()
			var err error
			if p.spec, err = h.spec(ctx, p.file); err != nil {
				p.fault = err.Error()
			}
		})
	}
	asked.Wait()
}
