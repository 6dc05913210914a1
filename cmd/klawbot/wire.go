package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"klawbot/doc"
	"klawbot/engine"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
	"klawbot/skills"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/exec/git"
	"klawbot/tools/file"
	"klawbot/tools/plugin"
	"klawbot/tools/self"
	"klawbot/whitelist"
	template "klawbot/workspace-template"
)

// parts is everything of a bot below its engine.
type parts struct {
	live    *live
	folders folders
	console *console.Channel // nil when it is off
	box     *box
	shell   *exec.Shell
	plugins *plugin.Host
	config  engine.Config
}

// errNoChannel means that there would be nobody to talk to.
var errNoChannel = usage("no channel is on; klawbot init sets up Telegram, klawbot chat talks to the bot here")

// which says which channels a command wants, beyond what the configuration has.
type which struct {
	telegram, console bool
}

// wire builds the parts, in the order of their needs. It does no I/O.
func (a *app) wire(l *live, f folders, want which, log *slog.Logger) (*parts, error) {
	p := &parts{live: l, folders: f, box: &box{live: l, folders: f}}
	channels, err := p.channels(want, a.redact, log)
	if err != nil {
		return nil, err
	}
	if len(channels) == 0 {
		return nil, errNoChannel
	}
	door, err := gateway.New(gateway.Config{
		Channels: channels, Redact: a.redact, Log: log,
		Whitelist: func() whitelist.List { return l.current.Load().whitelist },
		Migrated:  func(chat gateway.ChatID, to int64) { l.migrate(chat, to, log) },
	})
	if err != nil {
		return nil, err
	}
	files := file.Config{
		Workspace: f.workspace, Data: f.data, Spill: filepath.Join(f.data, "spill"),
		MaxBytes:       func() int64 { return l.config().Files.MaxFileSizeBytes },
		AllowHardlinks: func() bool { return l.config().Files.AllowHardlinks },
	}
	p.shell = exec.NewShell(exec.ShellConfig{
		Workspace: f.workspace, Settings: func() exec.ShellSettings { return l.config().shell() }, AllowHardlinks: files.AllowHardlinks,
		Runner: p.box.shell, Gate: &p.box.gate, ReadOnly: p.box.readOnly,
	})
	p.plugins = plugins(l, p.box, log)
	code := exec.NewCode(exec.CodeConfig{Workspace: f.workspace, Sandbox: p.box.code, ReadOnly: p.box.readOnly})
	p.config = engine.Config{
		Dir: f.data, Workspace: f.workspace, Gateway: door, Log: log,
		HTTP:     httpclient.New(httpclient.Options{Proxy: true}),
		Settings: func() settings.Settings { return l.current.Load().engine },
		Redact:   a.redact, Version: version,
		Examine: func(ctx context.Context) []engine.Finding { return surroundings(ctx, l, p.box) },
		Tools:   slices.Concat(file.New(files), p.shell.Tools(), []tools.Tool{code, git.New(git.Config{Workspace: f.workspace, Gate: &p.box.gate, Sandboxed: p.box.on, ReadOnly: p.box.readOnly})}), OpenFile: file.Opener(files),
		Manual: doc.FS, Skills: skills.FS, Assets: assetDirs(f.data),
		Configuration: &keeper{live: l, log: log}, Web: l.onTheWeb(log), Sources: []tools.Source{p.plugins},
		Background: p.shell.InBackground,
		Paths:      func() []self.Entry { return f.paths(l.source.File) }, Sandbox: p.box.entries,
	}
	return p, nil
}

func (p *parts) channels(want which, secrets *redact.Set, log *slog.Logger) ([]gateway.Channel, error) {
	var all []gateway.Channel
	c := p.live.config()
	if t := c.Channels.Telegram; want.telegram && t.Token != "" {
		var hook *telegram.Webhook
		if t.Mode == "webhook" {
			w := t.webhook()
			hook = &w
		}
		ch, err := telegram.New(telegram.Config{
			Webhook: hook,
			Token:   t.Token, APIURL: t.APIURL, Log: log, Redact: secrets,
			Limits:     func() telegram.Limits { return telegram.Limits(p.live.config().Channels.Telegram.Limits) },
			RespondAll: func() bool { return p.live.config().Channels.Telegram.Groups.Respond == "all" },
			Commands:   menu(c.Agent.Language),
		})
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, ch)
	}
	if want.console || c.Channels.Console.Enabled {
		p.console = console.New(console.Config{Log: log})
		all = append(all, p.console)
	}
	return all, nil
}

func menu(language string) []telegram.Command {
	var list []telegram.Command
	for _, c := range engine.Commands(language) {
		list = append(list, telegram.Command(c))
	}
	return list
}

// furnish makes the data folder, and a workspace where there is none. What an
// admin took out of a workspace stays out.
func (f folders) furnish() error {
	if err := os.MkdirAll(f.data, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(f.workspace); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := engine.InstallWorkspace(f.workspace, template.FS)
	return err
}

// start opens the engine on the data folder.
func (p *parts) start(ctx context.Context) (*engine.Engine, error) {
	if err := p.folders.furnish(); err != nil {
		return nil, owned(p.folders.data, err)
	}
	if err := p.box.check(ctx); err != nil {
		return nil, err
	}
	e, err := engine.New(ctx, p.config)
	if err != nil { // which is all that a start that fails says
		return nil, owned(p.folders.data, err)
	}
	if text, err := p.box.describe(); err == nil {
		p.config.Log.Info("commands", "sandbox", text)
	}
	p.box.sweep() // no other bot uses the folders
	return e, nil
}
