package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/gateway/web"
	"klawbot/tools/file"
)

// Run runs the bot until ctx ends, with the pages for health and metrics. started is
// told how the parts are, as soon as the channels and the model were asked.
func (p *Bot) Run(ctx context.Context, started func([]health.Finding)) error {
	return p.Serve(ctx, func(ctx context.Context, e *engine.Engine) {
		defer openPages(p.pages(e), p.Log)()
		if rows, ok := p.table(ctx); ok {
			started(rows)
		}
		staySmall()
		<-ctx.Done()
	})
}

// Serve runs the bot until ctx ends. beside runs next to it.
func (p *Bot) Serve(ctx context.Context, beside func(context.Context, *engine.Engine)) (err error) {
	log := p.Log
	secret := func(value string) bool { return p.Redact.Text(value) != value }
	if err := closeOff(secret); err != nil {
		log.Warn("other processes of this user can read the bot's secrets", "err", err)
	}
	e, err := p.start(ctx)
	if err != nil {
		return err
	}
	defer p.shell.Close()
	defer func() { err = errors.Join(err, e.Close()) }()
	var desk web.Desk = engine.Desk(e)
	p.desk.Store(&desk)
	// It is closed after the engine has ended, so that terminals see the last answers.
	closeSocket, err := serveSocket(p.Folders.Data, p.handler(e), log)
	if err != nil {
		return err
	}
	defer closeSocket()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.config.Gateway.Serve(ctx, e) })
	group.Go(func() error { return e.Run(ctx) })
	group.Go(func() error { p.Live.Watch(ctx, log); return nil })
	group.Go(func() error { sweep(ctx, p.Folders.Workspace, log); return nil })
	group.Go(func() error { p.plugins.Run(ctx); return nil })
	group.Go(func() error { beside(ctx, e); return nil })
	err = group.Wait()
	log.Info("stopped")
	return err
}

// sweep removes what writes to the workspace have left when they were killed.
func sweep(ctx context.Context, workspace string, log *slog.Logger) {
	n, err := file.Sweep(ctx, workspace)
	switch {
	case err != nil && ctx.Err() == nil:
		log.Warn("temporary files not removed", "err", err)
	case n > 0:
		log.Info("temporary files removed", "count", n)
	}
}

// serveSocket serves the socket of a data directory.
func serveSocket(dir string, handler http.Handler, log *slog.Logger) (closeSocket func(), err error) {
	ln, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: StatusTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	stop := serveOn(ln, server, func(err error) { log.Error("socket closed", "err", err) })
	return func() {
		stop()
		_ = os.Remove(filepath.Join(dir, socketName)) // a left-over socket does no harm
	}, nil
}
