package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"klawbot/engine"
	"klawbot/tools/file"
)

func (a *app) runCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the bot",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.runBot(ctx)
		},
	}
}

// untilSignal ends the context at SIGINT and SIGTERM. From then on a second
// signal ends the process at once.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

func (a *app) runBot(ctx context.Context) error {
	l, err := a.open()
	if err != nil {
		return err
	}
	f, err := a.folders(l.config())
	if err != nil {
		return err
	}
	log := newLog(a.stderr, l, a.redact)
	p, err := a.wire(l, f, which{telegram: true}, log)
	if err != nil {
		return err
	}
	return p.serve(ctx, log, func(ctx context.Context, e *engine.Engine) {
		defer openPages(pages(l.config(), e, log), log)()
		a.printStart(ctx, p)
		staySmall()
		letGo()
		<-ctx.Done()
	})
}

// serve runs the bot until ctx ends. beside runs next to it.
func (p *parts) serve(ctx context.Context, log *slog.Logger, beside func(context.Context, *engine.Engine)) (err error) {
	secret := func(value string) bool { return p.config.Redact.Text(value) != value }
	if err := closeOff(secret); err != nil {
		log.Warn("other processes of this user can read the bot's secrets", "err", err)
	}
	e, err := p.start(ctx)
	if err != nil {
		return err
	}
	defer p.shell.Close()
	defer func() { err = errors.Join(err, e.Close()) }()
	closeSocket, err := p.openSocket(e, log)
	if err != nil {
		return err
	}
	defer closeSocket()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.config.Gateway.Serve(ctx, e) })
	group.Go(func() error { return e.Run(ctx) })
	group.Go(func() error { p.live.watch(ctx, log); return nil })
	group.Go(func() error { sweep(ctx, p.folders.workspace, log); return nil })
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

// openSocket serves the socket. It is closed after the engine has ended, so
// that terminals see the last answers.
func (p *parts) openSocket(e *engine.Engine, log *slog.Logger) (closeSocket func(), err error) {
	ln, err := listen(p.folders.data)
	if err != nil {
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	server := &http.Server{
		Handler: handler(e, p.live, p.console, log), ReadHeaderTimeout: statusTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("socket closed", "err", err)
		}
	}()
	return func() {
		_ = server.Close() // nobody is left to be told
		<-served
		_ = os.Remove(filepath.Join(p.folders.data, socketName)) // a left-over socket does no harm
	}, nil
}

// The patience of the start table.
const (
	nameTimeout  = 5 * time.Second
	nameInterval = 20 * time.Millisecond
	modelTimeout = 10 * time.Second
)

// printStart prints the start table as soon as Telegram has told the bot's name
// and the model was looked at. The bot works meanwhile.
func (a *app) printStart(ctx context.Context, p *parts) {
	model := make(chan row, 1)
	go func() { model <- p.modelRow(ctx) }()
	rows := a.channelRows(ctx, p)
	select {
	case r := <-model:
		rows = append(rows, r)
	case <-ctx.Done():
		return
	}
	rows = append(rows, p.placeRows()...)
	fmt.Fprintln(a.stdout, "klawbot "+version)
	for _, r := range rows {
		fmt.Fprintln(a.stdout, a.redact.Text(r.String()))
	}
}
