package main

import (
	"context"
	"errors"
	"log/slog"

	"klawbot/engine"
)

// withData runs fn with the data folder open beside a bot that may run, or not.
func (a *app) withData(ctx context.Context, fn func(*live, folders, *engine.Data) error) error {
	return a.withDataAs(ctx, func(*engine.Config) {}, fn)
}

// withDataAs is withData with something else in the engine's configuration.
func (a *app) withDataAs(ctx context.Context, adjust func(*engine.Config), fn func(*live, folders, *engine.Data) error) (err error) {
	l, err := a.open()
	if err != nil {
		return err
	}
	f, err := a.folders(l.config())
	if err != nil {
		return err
	}
	log := slog.New(atLeast{newLog(a.stderr, l, a.redact).Handler(), slog.LevelWarn})
	p, err := a.wire(l, f, which{telegram: true, console: true}, log)
	if err != nil {
		return err
	}
	adjust(&p.config)
	d, err := engine.Open(ctx, p.config)
	if err != nil {
		return owned(f.data, err)
	}
	defer p.shell.Close()
	defer func() { err = errors.Join(err, d.Close()) }()
	return fn(l, f, d)
}
