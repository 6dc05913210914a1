package main

import (
	"context"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
	"klawbot/tools/mcp"
)

// withData runs fn with the data folder open beside a bot that may run, or not.
func (a *app) withData(ctx context.Context, fn func(*config.Live, config.Folders, *engine.Data) error) error {
	return a.withDataAs(ctx, mcp.SignIn{}, fn)
}

// withWorkspace is withData for what needs a workspace, too.
func (a *app) withWorkspace(ctx context.Context, fn func(*config.Live, config.Folders, *engine.Data) error) error {
	return a.withWorkspaceAs(ctx, mcp.SignIn{}, fn)
}

// withWorkspaceAs is withWorkspace for a person who can sign in at MCP servers.
func (a *app) withWorkspaceAs(ctx context.Context, signIn mcp.SignIn, fn func(*config.Live, config.Folders, *engine.Data) error) error {
	return a.withDataAs(ctx, signIn, func(l *config.Live, f config.Folders, d *engine.Data) error {
		if err := bot.Furnish(f); err != nil {
			return err
		}
		return fn(l, f, d)
	})
}

func (a *app) withDataAs(ctx context.Context, signIn mcp.SignIn, fn func(*config.Live, config.Folders, *engine.Data) error) error {
	l, f, err := a.openFolders()
	if err != nil {
		return err
	}
	c := a.botConfig(l, f, bot.Warnings(bot.NewLog(a.stderr, l, a.redact)))
	c.Telegram, c.Console, c.SignIn = true, true, signIn
	b, err := bot.New(c)
	if err != nil {
		return err
	}
	return b.WithData(ctx, func(d *engine.Data) error { return fn(l, f, d) })
}
