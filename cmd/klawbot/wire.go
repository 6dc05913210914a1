package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/doc"
	"klawbot/engine"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
	"klawbot/skills"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/file"
	"klawbot/tools/plugin"
	"klawbot/tools/self"
	"klawbot/tools/web"
	template "klawbot/workspace-template"
)

// parts is everything of a bot below its engine.
type parts struct {
	live    *config.Live
	folders config.Folders
	console *console.Channel // nil when it is off
	box     *box
	shell   *exec.Shell
	plugins *plugin.Host
	config  engine.Config
}

// errNoChannel means that there would be nobody to talk to.
var errNoChannel = usage.Errorf("no channel is on; klawbot init sets up Telegram, klawbot chat talks to the bot here")

// which says which channels a command wants, beyond what the configuration has.
type which struct {
	telegram, console bool
}

// wire builds the parts, in the order of their needs. It does no I/O.
func (a *app) wire(l *config.Live, f config.Folders, want which, log *slog.Logger) (*parts, error) {
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
	}
	p.shell = exec.NewShell(exec.ShellConfig{
		Workspace: f.Workspace, Settings: func() exec.ShellSettings { return l.Config().ShellSettings() }, AllowHardlinks: files.AllowHardlinks,
		Runner: p.box.shell, Gate: &p.box.gate, ReadOnly: p.box.readOnly,
	})
	p.plugins = plugins(l, p.box, log)
	code := exec.NewCode(exec.CodeConfig{Workspace: f.Workspace, Sandbox: p.box.code, ReadOnly: p.box.readOnly})
	p.config = engine.Config{
		Dir: f.Data, Workspace: f.Workspace, Gateway: door, Log: log,
		HTTP:     httpclient.New(httpclient.Options{Proxy: true}),
		Settings: l.Settings,
		Redact:   a.redact, Version: version,
		Examine: func(ctx context.Context) []engine.Finding { return surroundings(ctx, l, p.box) },
		Tools:   slices.Concat(file.New(files), p.shell.Tools(), []tools.Tool{code, exec.NewGit(exec.GitConfig{Workspace: f.Workspace, Gate: &p.box.gate, Sandboxed: p.box.on, ReadOnly: p.box.readOnly})}), OpenFile: file.Opener(files),
		Manual: doc.FS, Skills: skills.FS, Assets: assetDirs(f.Data),
		Configuration: configedit.NewTool(l, log), Web: webTools(l, log), Sources: []tools.Source{p.plugins},
		Background: p.shell.InBackground,
		Paths:      func() []self.Entry { return paths(f, l.Source.File) }, Sandbox: p.box.entries,
	}
	return p, nil
}

func (p *parts) channels(want which, secrets *redact.Set, log *slog.Logger) ([]gateway.Channel, error) {
	var all []gateway.Channel
	c := p.live.Config()
	if t := c.Channels.Telegram; want.telegram && t.Token != "" {
		var hook *telegram.Webhook
		if t.Mode == "webhook" {
			w := t.WebhookSettings()
			hook = &w
		}
		ch, err := telegram.New(telegram.Config{
			Webhook: hook,
			Token:   t.Token, APIURL: t.APIURL, Log: log, Redact: secrets,
			Limits:     func() telegram.Limits { return telegram.Limits(p.live.Config().Channels.Telegram.Limits) },
			RespondAll: func() bool { return p.live.Config().Channels.Telegram.Groups.Respond == "all" },
			Commands:   menu(c.Agent.Language),
		})
		if err != nil {
			return nil, usage.Wrap(err)
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

// webTools is what the tools of the web need of the configuration.
func webTools(l *config.Live, log *slog.Logger) *web.Config {
	return &web.Config{
		AllowedHosts: func() ([]string, string) { return l.AllowedHosts(log) },
		MaxBodyBytes: func() int64 { return l.Config().Tools.HTTP.MaxBodyBytes },
		Search:       func() web.Search { return web.Search(l.Config().Tools.Search) },
		BrowserPath:  func() string { return l.Config().Tools.Browser.Path },
	}
}

// furnish makes the data folder, and a workspace where there is none. What an
// admin took out of a workspace stays out.
func furnish(f config.Folders) error {
	if err := os.MkdirAll(f.Data, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(f.Workspace); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := engine.InstallWorkspace(f.Workspace, template.FS)
	return err
}

// start opens the engine on the data folder.
func (p *parts) start(ctx context.Context) (*engine.Engine, error) {
	if err := furnish(p.folders); err != nil {
		return nil, owned(p.folders.Data, err)
	}
	if err := p.box.check(ctx); err != nil {
		return nil, err
	}
	e, err := engine.New(ctx, p.config)
	if err != nil { // which is all that a start that fails says
		return nil, owned(p.folders.Data, err)
	}
	if text, err := p.box.describe(); err == nil {
		p.config.Log.Info("commands", "sandbox", text)
	}
	p.box.sweep() // no other bot uses the folders
	return e, nil
}

// paths are the files and folders of a bot.
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
		{Key: "data folder", Value: f.Data},
		{Key: "workspace", Value: f.Workspace},
		{Key: "database", Value: in("klawbot.db")},
		{Key: "conversations", Value: in("conversations")},
		{Key: "skills of the data folder", Value: in("skills")},
		{Key: "backups", Value: in("backups")},
	}
	for i, e := range entries {
		if _, err := os.Stat(e.Value); err != nil && e.Value != "none" {
			entries[i].Value += " (not there)"
		}
	}
	return entries
}
