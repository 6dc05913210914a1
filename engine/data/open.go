// Package data is the data directory for commands, beside a running bot or without one:
// what was said and remembered, backups, the search index and its models. It runs no
// turn and opens no channel.
package data

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/wait"
	"klawbot/tools"
	"klawbot/tools/job"
	"klawbot/tools/mcp"
	"klawbot/tools/self"
)

// Config is what Open needs; New of package engine has it as its Base.
type Config = toolset.Config

// Data is the data directory as the commands of the command line use it, beside a
// running bot or without one: no chat queues, no channels, short transactions.
type Data struct {
	// store is nil when the bot has never run; missing says so.
	store    *store.Store
	missing  error
	config   store.Config
	settings func() settings.Settings
	gateway  *gateway.Gateway
	set      *toolset.Set
	executor *tools.Executor
	servers  *mcp.Host
	skills   *workspace.Skills
	// skillDirs are where the skills of a source lie on the disk.
	skillDirs map[workspace.Source]string
	schedules *schedule.Editor
	memory    *recall.Memory
}

// Open opens the data directory for a command. Its gateway is only asked who may be
// written to and how a text is rendered.
func Open(ctx context.Context, c Config) (*Data, error) {
	d := &Data{missing: noData(c.Dir), gateway: c.Gateway, config: c.Store(), settings: c.Settings, skillDirs: skillDirs(c)}
	set, err := toolset.New(ctx, c, toolset.Hooks{
		Open: d.database, Schedules: d.planned(c),
		Model: func(context.Context, string) (string, settings.Model) {
			m := c.Settings().Models
			return m.Default, m.Entries[m.Default]
		},
		Stats: func(ctx context.Context) ([]self.Entry, error) { return d.stats(ctx, c) },
		// No model is asked here: the budget is the running bot's to count.
	})
	if err != nil {
		return nil, err
	}
	d.set, d.executor, d.memory, d.servers, d.skills = set, set.Executor, set.Memory, set.Servers, set.Skills
	d.store, err = store.OpenBeside(ctx, d.config)
	switch {
	case err == nil:
		d.missing = nil
	case errors.Is(err, store.ErrNotFound):
		return d, nil
	case errors.Is(err, store.ErrOlder):
		return d, d.update(ctx, err)
	}
	return d, err
}

// stats are how the bot of the data directory is doing.
func (d *Data) stats(ctx context.Context, c Config) ([]self.Entry, error) {
	s, err := health.StatusOf(ctx, c)
	if err != nil {
		return nil, err
	}
	remembered, err := d.memory.Stats(ctx)
	if err != nil {
		return nil, err
	}
	return s.Entries(remembered, d.servers.Statuses(), c.Settings().Zone()), nil
}

// update brings the database up to date, unless a bot has it.
func (d *Data) update(ctx context.Context, older error) error {
	err := d.begin(ctx)
	if held := (*sqlite.LockedError)(nil); errors.As(err, &held) {
		return older
	}
	return err
}

// noData says of a folder that no bot has used it.
func noData(dir string) error { return fmt.Errorf("no klawbot data in %s: run klawbot init", dir) }

// Close closes the data directory.
func (d *Data) Close() error {
	err := d.set.Close()
	if d.store == nil {
		return err
	}
	return errors.Join(err, d.store.Close())
}

// database is the open database, or why there is none.
func (d *Data) database() (*store.Store, error) {
	if d.missing != nil {
		return nil, d.missing
	}
	return d.store, nil
}

// Session is a conversation in the list of sessions.
type Session struct {
	Chat      string    `json:"chat"`
	Model     string    `json:"model,omitempty"`
	Messages  int       `json:"messages"`
	StartedAt time.Time `json:"started_at"`
	LastAt    time.Time `json:"last_at,omitzero"`
}

// Sessions lists the current conversation of every chat, the latest first.
func (d *Data) Sessions(ctx context.Context) ([]Session, error) {
	if d.missing != nil {
		return nil, d.missing
	}
	var rows []store.SessionInfo
	err := d.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Sessions().Sessions()
		return err
	})
	list := make([]Session, len(rows))
	for i, r := range rows {
		list[i] = Session{r.Address.String(), r.Model, r.Messages, r.StartedAt, r.LastAt}
	}
	return list, err
}

// Queues reports what waits in the inbox and the outbox.
func (d *Data) Queues(ctx context.Context) (in, out health.Queue, err error) {
	if d.missing != nil {
		return in, out, d.missing
	}
	return health.Queues(ctx, d.store)
}

// Tools lists all tools as models in the language are told about them.
func (d *Data) Tools(language string) []tools.Listing { return d.executor.Registry().List(language) }

// PolicyFindings are the names in the policy that no tool has.
func (d *Data) PolicyFindings() []health.Finding { return health.PolicyFindings(d.set, d.settings()) }

// ToolFaults are the tools of plugins and servers that are left out.
func (d *Data) ToolFaults() []tools.Fault { return d.executor.Registry().Faults() }

// CallTool calls a tool as the owner at the command line. What would be asked is
// refused; see CallApproved. What it sends leaves through the outbox: at once
// when the bot runs, else at its next start.
func (d *Data) CallTool(ctx context.Context, name string, arguments json.RawMessage) (tools.Result, error) {
	return d.call(ctx, name, arguments, nil)
}

// Export writes all conversations, as JSON lines ("json") or Markdown ("md").
func (d *Data) Export(ctx context.Context, w io.Writer, format string) error {
	if d.missing != nil {
		return d.missing
	}
	return archive.Of(d.store).Export(ctx, w, format)
}

// Import adds the conversations that Export wrote as JSON lines and returns how
// many messages are new.
func (d *Data) Import(ctx context.Context, r io.Reader) (int, error) {
	if d.missing != nil {
		return 0, d.missing
	}
	return archive.Of(d.store).Import(ctx, r)
}

// ImportMedia keeps a file of a message, whose SHA-256 is sum, and reports whether it is
// new.
func (d *Data) ImportMedia(ctx context.Context, sum string, r io.Reader) (bool, error) {
	if d.missing != nil {
		return false, d.missing
	}
	return media.In(d.config.Dir, "", nil).Add(ctx, d.store, sum, r)
}

// InstallWorkspace copies the files of a template that a workspace lacks and
// returns their names.
func InstallWorkspace(dir string, template fs.FS) ([]string, error) {
	return workspace.Install(dir, template)
}

// posting is the journal of calls at the command line: it only puts what they
// send into the outbox.
type posting struct{ d *Data }

// Started writes nothing down: a call at the command line is not resumed.
func (posting) Started(context.Context, tools.Call) error { return nil }

// Finished stores what a call sends.
func (p posting) Finished(ctx context.Context, c tools.Call, r tools.Result) error {
	if len(r.Outgoing) == 0 {
		return nil
	}
	if p.d.missing != nil {
		return p.d.missing
	}
	outs, err := outbox.ResultRows(p.d.gateway, c, r)
	if err != nil {
		return err
	}
	if err := p.d.store.Write(ctx, func(tx *store.Tx) error { return outbox.Add(tx, outs) }); err != nil {
		return fmt.Errorf("store what %s sends: %w", c.Name, err)
	}
	return nil
}

// MCP is the host of the MCP servers. It connects to one when it is asked to.
func (d *Data) MCP() *mcp.Host { return d.servers }

// Found makes the database of a bot that has never run, when there is none.
func (d *Data) Found(ctx context.Context) error {
	if d.store != nil {
		return nil
	}
	var err error
	if d.store, _, err = archive.Open(ctx, d.config, false); err == nil {
		d.missing = nil
	}
	return err
}

// planned are the schedules at the command line. A running bot notices by itself
// what changes.
func (d *Data) planned(c Config) *schedule.Editor {
	d.schedules = schedule.New(schedule.Config{
		Open: func() (*store.Store, error) {
			if d.store == nil {
				if err := d.begin(context.Background()); err != nil {
					return nil, err
				}
			}
			return d.store, nil
		},
		Gateway: d.gateway, Settings: c.Settings,
	})
	return d.schedules
}

// Schedules are the tools' own view of what is planned, for the command line.
func (d *Data) Schedules() job.Schedules { return d.schedules }

// Another command that begins the data directory is done soon; a bot keeps it.
const (
	beginWithin = 5 * time.Second
	beginAgain  = 20 * time.Millisecond
)

// begin creates or migrates the database and releases it, so that a bot can start. It
// waits for other commands that do the same.
func (d *Data) begin(ctx context.Context) error {
	for began := time.Now(); ; {
		err := d.beginNow(ctx)
		if held := (*sqlite.LockedError)(nil); !errors.As(err, &held) || time.Since(began) > beginWithin {
			return err
		}
		if d.store, err = store.OpenBeside(ctx, d.config); err == nil {
			d.missing = nil
			return nil
		}
		if !wait.For(ctx, beginAgain) {
			return context.Cause(ctx)
		}
	}
}

func (d *Data) beginNow(ctx context.Context) error {
	made, _, err := archive.Open(ctx, d.config, false)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return err
	}
	if d.store, err = store.OpenBeside(ctx, d.config); err != nil {
		return fmt.Errorf("begin the data directory: %w", err)
	}
	d.missing = nil
	return nil
}

// skillDirs are the folders of the skills that lie on the disk.
func skillDirs(c Config) map[workspace.Source]string {
	return map[workspace.Source]string{
		workspace.SourceWorkspace: filepath.Join(c.Workspace, "skills"),
		workspace.SourceData:      filepath.Join(c.Dir, "skills"),
	}
}

// Skill is a folder of a skill as an admin sees it.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Source is "workspace", "data" or "built-in".
	Source string `json:"source"`
	// Path is the folder on the disk, or its name in the program.
	Path string `json:"path"`
	// Fault is the error, empty for none.
	Fault string `json:"fault,omitempty"`
}

// Skills lists the skills that the bot can use, by name.
func (d *Data) Skills() ([]Skill, error) {
	list, err := d.skills.List()
	return d.described(list), err
}

// CheckSkills lists every folder of a skill, with what is wrong in it.
func (d *Data) CheckSkills() ([]Skill, error) {
	list, err := d.skills.Check()
	return d.described(list), err
}

func (d *Data) described(list []workspace.Skill) []Skill {
	all := make([]Skill, len(list))
	for i, k := range list {
		all[i] = Skill{Name: k.Name, Description: k.Description, Source: string(k.Source), Path: k.Folder, Fault: k.Fault}
		if dir := d.skillDirs[k.Source]; dir != "" {
			all[i].Path = filepath.Join(dir, k.Folder)
		}
	}
	return all
}
