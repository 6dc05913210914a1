package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
)

// withData runs fn with the data folder open beside a bot that may run, or not.
func (a *app) withData(ctx context.Context, fn func(*config.Live, config.Folders, *engine.Data) error) error {
	return a.withDataAs(ctx, func(*engine.Config) {}, fn)
}

// withDataAs is withData with something else in the engine's configuration.
func (a *app) withDataAs(ctx context.Context, adjust func(*engine.Config), fn func(*config.Live, config.Folders, *engine.Data) error) (err error) {
	l, err := a.open()
	if err != nil {
		return err
	}
	f, err := a.folders(l.Config())
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
		return owned(f.Data, err)
	}
	defer p.shell.Close()
	defer func() { err = errors.Join(err, d.Close()) }()
	return fn(l, f, d)
}

// owned adds to the error of opening a data folder, which only its owner may open,
// what is to be done.
func owned(data string, err error) error {
	var path *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &path) || !isWithin(data, path.Path) {
		return err
	}
	remedy := "chown -R"
	if _, missing := os.Stat(data); errors.Is(missing, fs.ErrNotExist) {
		remedy = "install -d -m 700 -o"
	}
	return fmt.Errorf("%w; the data folder must belong to user %d, who runs klawbot: %s %[2]d %[4]s", err, os.Geteuid(), remedy, data)
}

func isWithin(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
