// Package bot puts a bot together from its configuration and runs it. It holds what
// is around the engine: channels, the sandbox, the socket, the pages for health and
// metrics, and the findings of doctor about them.
package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/doc"
	"klawbot/engine"
	"klawbot/engine/data"
	"klawbot/engine/health"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/gateway/telegram"
	"klawbot/gateway/web"
	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
	"klawbot/skills"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/exec/git"
	"klawbot/tools/file"
	"klawbot/tools/mcp"
	"klawbot/tools/plugin"
	"klawbot/tools/self"
	toolsweb "klawbot/tools/web"
	template "klawbot/workspace-template"
)

// Config is what a bot is made of.
type Config struct {
	Live    *config.Live
	Folders config.Folders
	Redact  *redact.Set
	Log     *slog.Logger
	Version string
	// Telegram and console say which channels a command wants; telegram is on when
	// it is configured, too, and the console when either says so.
	Telegram, Console bool
	// Web says that a command wants the web page; it is on when it is configured, too.
	Web bool
	// SignIn is how a person signs in at an MCP server; empty where that is impossible.
	SignIn mcp.SignIn
	// Replicated is the gateway's; nil without a standby.
	Replicated func(context.Context) error
	// Standby is the engine's; nil without a standby.
	Standby func() health.Standby
}

// Bot is everything of a bot below its engine.
type Bot struct {
	Config
	terminals *console.Channel // nil when the console is off
	page      *web.Channel     // nil when the web page is off
	desk      atomic.Pointer[web.Desk]
	recent    *recent // the log, for the web page
	box       *box
	shell     *exec.Shell
	plugins   *plugin.Host
	config    engine.Config
}

// errNoChannel means that the bot has no way to talk to people.
var errNoChannel = usage.Errorf("no channel set up; run klawbot init, or chat in this terminal: klawbot chat")

// New puts a bot together, in the order of what its parts need. It does no I/O.
func New(c Config) (*Bot, error) {
	kept := &recent{level: func() slog.Level { return c.Live.Config().Level() }}
	if c.hasPage() {
		c.Log = slog.New(c.Redact.Handler(kept.handler(c.Log.Handler())))
	}
	l, f, log := c.Live, c.Folders, c.Log
	p := &Bot{Config: c, box: &box{live: l, folders: f}, recent: kept}
	channels, err := p.channels()
	if err != nil {
		return nil, err
	}
	if len(channels) == 0 {
		return nil, errNoChannel
	}
	door, err := gateway.New(gateway.Config{
		Channels: channels, Redact: c.Redact, Log: log, Replicated: c.Replicated,
		Whitelist: l.Whitelist,
		Migrated:  func(chat gateway.ChatID, to int64) { configedit.MoveGroup(l, chat, to, log) },
	})
	if err != nil {
		return nil, err
	}
	files := file.Config{
		Workspace: f.Workspace, Data: f.Data, Spill: filepath.Join(f.Data, "spill"),
		MaxBytes:       func() int64 { return l.Config().Files.MaxFileSizeBytes },
		AllowHardlinks: func() bool { return l.Config().Files.AllowHardlinks },
		Location:       func() *time.Location { return l.Config().Location() },
	}
	p.shell = exec.NewShell(exec.ShellConfig{
		Workspace: f.Workspace, Settings: func() exec.ShellSettings { return l.Config().ShellSettings() }, AllowHardlinks: files.AllowHardlinks,
		Runner: p.box.shell, Gate: &p.box.gate, ReadOnly: p.box.readOnly,
	})
	p.plugins = plugins(l, p.box, log)
	code := exec.NewCode(exec.CodeConfig{Workspace: f.Workspace, Sandbox: p.box.code, ReadOnly: p.box.readOnly})
	p.config.Base = engine.Base{
		Dir: f.Data, Workspace: f.Workspace, Gateway: door, Log: log,
		HTTP:     httpclient.New(httpclient.Options{Proxy: true}),
		Settings: l.Settings,
		Redact:   c.Redact, Version: c.Version,
		Tools: slices.Concat(file.New(files), p.shell.Tools(), []tools.Tool{code, git.New(git.Config{Workspace: f.Workspace, Gate: &p.box.gate, Sandboxed: p.box.on, ReadOnly: p.box.readOnly})}), OpenFile: file.Opener(files),
		SignIn: c.SignIn, Manual: doc.FS, Skills: skills.FS, Assets: AssetDirs(f.Data),
		Configuration: configedit.NewTool(l, log), Web: webTools(l, log), Sources: []tools.Source{p.plugins},
		Paths: func() []self.Entry { return paths(f, l.Source.File) }, Sandbox: p.box.entries,
	}
	p.config.Examine = func(ctx context.Context) []health.Finding { return surroundings(ctx, l, p.box) }
	p.config.Background = p.shell.InBackground
	p.config.AskAbout = func() bool { return l.Config().Channels.Telegram.Strangers == "ask" }
	p.config.Allow = func(chat gateway.ChatID) error { return configedit.Allow(l, chat, log) }
	p.config.Around, p.config.Standby = p.around(log), c.Standby
	p.config.Learn = p.learn
	return p, nil
}

func (p *Bot) channels() ([]gateway.Channel, error) {
	var all []gateway.Channel
	c := p.Live.Config()
	if t := c.Channels.Telegram; p.Telegram && t.Token != "" {
		var hook *telegram.Webhook
		if t.Mode == "webhook" {
			w := t.WebhookSettings()
			hook = &w
		}
		ch, err := telegram.New(telegram.Config{
			Webhook: hook,
			Token:   t.Token, APIURL: t.APIURL, FilesRoot: t.FilesRoot, Log: p.Log, Redact: p.Redact,
			Limits:     func() telegram.Limits { return telegram.Limits(p.Live.Config().Channels.Telegram.Limits) },
			RespondAll: func() bool { return p.Live.Config().Channels.Telegram.Groups.Respond == "all" },
			Commands:   menu(c.Agent.Language),
		})
		if err != nil {
			return nil, usage.Wrap(err)
		}
		all = append(all, ch)
	}
	if p.Console || c.Channels.Console.Enabled {
		p.terminals = console.New(console.Config{Log: p.Log})
		all = append(all, p.terminals)
	}
	if p.hasPage() {
		settings := c.Channels.Web.WebSettings()
		settings.Log, settings.Desk = p.Log, p.atDesk
		p.page = web.New(settings)
		all = append(all, p.page)
	}
	return all, nil
}

// hasPage reports whether the bot has the web page.
func (c Config) hasPage() bool {
	return c.Web || c.Live.Config().Channels.Web.Enabled && c.Telegram
}

// atDesk is the engine's side of the web page, nil while the bot starts.
func (p *Bot) atDesk() web.Desk {
	if d := p.desk.Load(); d != nil {
		return *d
	}
	return nil
}

func menu(language string) []telegram.Command {
	var list []telegram.Command
	for _, c := range engine.Commands(language, false) {
		list = append(list, telegram.Command(c))
	}
	return list
}

// webTools is what the tools of the web need of the configuration.
func webTools(l *config.Live, log *slog.Logger) *toolsweb.Config {
	return &toolsweb.Config{
		AllowedHosts: func() ([]string, string) { return l.AllowedHosts(log) },
		MaxBodyBytes: func() int64 { return l.Config().Tools.HTTP.MaxBodyBytes },
		Search:       func() toolsweb.Search { return toolsweb.Search(l.Config().Tools.Search) },
		BrowserPath:  func() string { return l.Config().Tools.Browser.Path },
	}
}

// Furnish makes the data directory, and a workspace where there is none. What an
// admin took out of a workspace stays out.
func Furnish(f config.Folders) error {
	if err := os.MkdirAll(f.Data, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(f.Workspace); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := data.InstallWorkspace(f.Workspace, template.FS)
	return err
}

func (p *Bot) start(ctx context.Context) (*engine.Engine, error) {
	if err := Furnish(p.Folders); err != nil {
		return nil, owned(p.Folders.Data, err)
	}
	if err := p.box.check(ctx); err != nil {
		return nil, err
	}
	e, err := engine.New(ctx, p.config)
	if err != nil { // which is all that a start that fails says
		return nil, owned(p.Folders.Data, err)
	}
	if text, err := p.box.describe(); err == nil {
		p.config.Log.Info("commands", "sandbox", text)
	}
	p.box.sweep() // no other bot uses the folders
	return e, nil
}

func paths(f config.Folders, configFile string) []self.Entry {
	if configFile == "" {
		configFile = "none"
	}
	if abs, err := filepath.Abs(configFile); err == nil && configFile != "none" {
		configFile = abs
	}
	in := func(name string) string { return filepath.Join(f.Data, name) }
	entries := []self.Entry{
		{Key: "configuration", Value: configFile},
		{Key: "data directory", Value: f.Data},
		{Key: "workspace", Value: f.Workspace},
		{Key: "database", Value: in("klawbot.db")},
		{Key: "conversations", Value: in("conversations")},
		{Key: "skills of the data directory", Value: in("skills")},
		{Key: "backups", Value: in("backups")},
	}
	for i, e := range entries {
		if _, err := os.Stat(e.Value); err != nil && e.Value != "none" {
			entries[i].Value += " (not there)"
		}
	}
	return entries
}

// WithData runs fn with the data directory open, beside a bot that may run, or not.
func (p *Bot) WithData(ctx context.Context, fn func(*data.Data) error) (err error) {
	d, err := data.Open(ctx, p.config.Base)
	if err != nil {
		return owned(p.Folders.Data, err)
	}
	defer p.shell.Close()
	defer func() { err = errors.Join(err, d.Close()) }()
	return fn(d)
}

// Found makes the database of a data directory where no bot has run yet.
func (p *Bot) Found(ctx context.Context) error {
	e, err := p.start(ctx)
	if err != nil {
		return err
	}
	return e.Close()
}

// owned adds to the error of opening a data directory, which only its owner may open,
// what is to be done.
func owned(data string, err error) error {
	var path *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &path) || !isWithin(data, path.Path) {
		return err
	}
	fix := "chown -R"
	if _, missing := os.Stat(data); errors.Is(missing, fs.ErrNotExist) {
		fix = "install -d -m 700 -o"
	}
	return fmt.Errorf("%w; the data directory must belong to user %d, who runs klawbot: %s %[2]d %[4]s", err, os.Geteuid(), fix, data)
}

func isWithin(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// leveler is the level of the log as it is now.
type leveler func() slog.Level

// Level returns it.
func (l leveler) Level() slog.Level { return l() }

// NewLog writes to w what the configuration asks for, from the level least on,
// without secrets.
func NewLog(w io.Writer, l *config.Live, secrets *redact.Set, least slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: leveler(func() slog.Level { return max(l.Config().Level(), least) })}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if l.Config().Log.Format == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	return slog.New(secrets.Handler(handler))
}

// Quiet is the least level in a terminal in which a person talks: errors, unless the
// configuration asks for debugging.
func Quiet(l *config.Live) slog.Level {
	if l.Config().Level() <= slog.LevelDebug {
		return slog.LevelDebug
	}
	return slog.LevelError
}
