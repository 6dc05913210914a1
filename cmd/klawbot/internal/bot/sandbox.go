package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/file"
	"klawbot/tools/plugin"
	"klawbot/tools/sandbox"
	"klawbot/tools/self"
)

// box is the sandbox of the configuration as it is now.
type box struct {
	live    *config.Live
	folders config.Folders
	// gate is what the tool git keeps commands in the sandbox out by.
	gate sandbox.Gate

	mu   sync.Mutex
	made *config.Sandbox  // what now and err were made of; guarded by mu
	now  *sandbox.Sandbox // nil when it is off; guarded by mu
	err  error            // guarded by mu
}

// get returns the sandbox, nil when it is off. An error says why there is none
// although there should be one.
func (b *box) get() (*sandbox.Sandbox, error) {
	c := b.live.Config().Tools.Sandbox
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made == nil || !reflect.DeepEqual(*b.made, c) {
		b.made = &c
		b.now, b.err = makeSandbox(c, b.folders, b.live.Source.File, &b.gate)
	}
	return b.now, b.err
}

// makeSandbox makes a sandbox of the configuration, or nil when it is off.
func makeSandbox(c config.Sandbox, f config.Folders, configuration string, gate *sandbox.Gate) (*sandbox.Sandbox, error) {
	if c.Type == sandbox.TypeOff {
		return nil, nil
	}
	config := sandbox.Config{
		Type: c.Type, Image: c.Image, Network: c.Network,
		Workspace: f.Workspace, Skills: filepath.Join(f.Data, "skills"), Data: f.Data, Configuration: configuration, Gate: gate,
		Limits: sandbox.Limits{MemoryMB: c.MemoryMB, CPUs: c.CPUs, Pids: c.Pids, Seconds: c.TimeSeconds, DiskMB: c.DiskMB},
	}
	for _, text := range c.Mounts {
		m, err := sandbox.ParseMount(text)
		if err != nil {
			return nil, err
		}
		config.Mounts = append(config.Mounts, m)
	}
	s, err := sandbox.New(config)
	if err != nil {
		return nil, fmt.Errorf("tools.sandbox: %w", err)
	}
	return s, nil
}

func (b *box) on() bool {
	s, err := b.get()
	return s != nil || err != nil
}

// code is the sandbox for code_execute, nil when there is none.
func (b *box) code() *sandbox.Sandbox {
	s, err := b.get()
	if err != nil {
		return nil
	}
	return s
}

// shell is where the tool shell runs its commands. Without the sandbox that it
// should have it runs none.
func (b *box) shell() sandbox.Runner {
	if !b.live.Config().Tools.Sandbox.Shell {
		return sandbox.Off()
	}
	s, err := b.get()
	switch {
	case err != nil:
		return sandbox.Refusing(err)
	case s == nil:
		return sandbox.Refusing(errors.New("tools.sandbox.shell is on and tools.sandbox.type is off"))
	}
	return s
}

// readOnly names the files of the workspace that commands in a sandbox, and git,
// may not change: what steers the bot, unless an owner wants it. A background run
// does not plan others by way of the heartbeat's file, unless the owner's
// policy lets it plan.
func (b *box) readOnly(c tools.Call) []string {
	if !c.SteersByCommand() {
		return file.SteeringPaths(b.folders.Workspace)
	}
	if c.Origin == tools.OriginPerson || c.Origin == "" || slices.Contains(b.live.Config().Tools.Policy.Scheduled.Allow, "schedule_add") {
		return nil
	}
	return []string{engine.HeartbeatFile}
}

// check proves that the sandbox works, so that the bot does not start without
// one that its owner wants.
func (b *box) check(ctx context.Context) error {
	s, err := b.get()
	if err != nil || s == nil {
		return err
	}
	return s.Check(ctx)
}

// sweep takes away what a bot that was killed has left.
func (b *box) sweep() {
	sandbox.SweepTemporary(b.folders.Workspace)
	if s, err := b.get(); err == nil && s != nil {
		s.Sweep()
	}
}

func (b *box) describe() (text string, err error) {
	s, err := b.get()
	if err != nil {
		return "", err
	}
	if s == nil {
		return "off (no code_execute); " + outside(b.live.Config(), sandbox.Confines()) + "; " + order(), nil
	}
	text = s.Describe()
	if b.live.Config().Tools.Sandbox.Shell {
		return text + "; shell and code_execute in it; " + order(), nil
	}
	return text + "; code_execute in it, shell outside; " + outside(b.live.Config(), sandbox.Confines()) + "; " + order(), nil
}

// outside says what holds commands that run outside the sandbox.
func outside(c *config.Config, confines bool) string {
	switch {
	case c.Tools.Exec.Mode == string(exec.ModeFull) && c.Security.Autonomy == string(tools.Full):
		return "commands run as the bot does"
	case !confines:
		return "commands without approval are checked but not confined (no Landlock)"
	}
	return "commands without approval are confined by Landlock, approved ones run as the bot does"
}

// order names the sandboxes, the best first, and those that this machine lacks
// something for.
func order() string {
	var all []string
	for _, c := range sandbox.Candidates() {
		if c.Missing != nil {
			c.Type += " (not here)"
		}
		all = append(all, c.Type)
	}
	return "order: " + strings.Join(all, ", ")
}

func (b *box) row() health.Finding {
	text, err := b.describe()
	if err != nil {
		return health.Broken("sandbox", "set tools.sandbox.type", err)
	}
	return b.described(text)
}

// described is a sandbox that works, or that is off by choice.
func (b *box) described(text string) health.Finding {
	if b.live.Config().Tools.Sandbox.Type == sandbox.TypeOff {
		return health.Off("sandbox", "tools.sandbox.type", text)
	}
	return health.OK("sandbox", "%s", text)
}

func (b *box) finding(ctx context.Context) health.Finding {
	if err := b.check(ctx); err != nil {
		return health.Broken("sandbox", "set tools.sandbox.type; "+order(), err)
	}
	text, _ := b.describe() // check saw the error
	return b.described(text)
}

func (b *box) entries() []self.Entry {
	c := b.live.Config().Tools.Sandbox
	s, err := b.get()
	inUse, code := sandbox.TypeOff, "hidden, because it needs a sandbox"
	shell := "outside: " + outside(b.live.Config(), sandbox.Confines())
	switch {
	case err != nil:
		inUse = "none although " + c.Type + " is set: " + err.Error()
	case s != nil:
		inUse, code = s.Describe(), "in it"
	}
	if c.Shell {
		shell = "in it and nowhere else"
	}
	all := []self.Entry{{Key: "in use", Value: inUse}, {Key: "code_execute", Value: code}, {Key: "shell", Value: shell}}
	all = append(all, self.Entry{Key: "order", Value: "the strongest first; the owner chooses with tools.sandbox.type, and no other takes the place of one that does not work"})
	for _, can := range sandbox.Candidates() {
		text := "possible here"
		if can.Missing != nil {
			text = "not possible here: " + can.Missing.Error()
		} else if s != nil && can.Type == s.Name() {
			text = "in use"
		}
		all = append(all, self.Entry{Key: can.Type, Value: text})
	}
	return all
}

// plugins finds the tools in the folder plugins of the data directory.
func plugins(l *config.Live, b *box, log *slog.Logger) *plugin.Host {
	return plugin.New(plugin.Config{
		Dir: filepath.Join(b.folders.Data, "plugins"), Workspace: b.folders.Workspace, Log: log,
		Keep:     b.readOnly,
		Runner:   b.plugins,
		ReadOnly: func() []string { return l.Config().Tools.Plugins.ReadOnly },
	})
}

// plugins is where plugins run: in the sandbox when there is one. Without the
// sandbox that there should be they do not run.
func (b *box) plugins() sandbox.Runner {
	s, err := b.get()
	switch {
	case err != nil:
		return sandbox.Refusing(err)
	case s == nil:
		return sandbox.Off()
	}
	return s
}

// pluginFindings say which plugins cannot be used. Without plugins there is
// nothing to say.
func pluginFindings(l *config.Live, b *box) []health.Finding {
	host := plugins(l, b, slog.New(slog.DiscardHandler))
	var all []health.Finding
	if n := len(host.Tools()); n > 0 {
		all = append(all, health.OK("plugins", "%s", terminal.Plural(n, "tool", "tools")))
	}
	for _, f := range host.Faults() {
		all = append(all, health.Broken("plugins", fmt.Sprintf("fix it, or take it out of %s", filepath.Join(b.folders.Data, "plugins")), errors.New(f.String())))
	}
	return all
}
