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

// withDataAs is withData for a person who can sign in at MCP servers.
func (a *app) withDataAs(ctx context.Context, signIn mcp.SignIn, fn func(*config.Live, config.Folders, *engine.Data) error) error {
	l, err := a.open()
	if err != nil {
		return err
	}
	f, err := a.folders(l.Config())
	if err != nil {
		return err
	}
	c := a.botConfig(l, f, bot.Warnings(bot.NewLog(a.stderr, l, a.redact)))
	c.Telegram, c.Console, c.SignIn = true, true, signIn
	p, err := bot.New(c)
	if err != nil {
		return err
	}
	return p.WithData(ctx, func(d *engine.Data) error { return fn(l, f, d) })
}
