package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/fleet"
	"klawbot/cmd/klawbot/internal/standby"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/health"
)

func runCommand(a *app) *cobra.Command {
	var all, listen string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the bot",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			if all != "" {
				return runAll(ctx, a, all, listen)
			}
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			if l.Config().Standby.To != "" {
				return standBy(ctx, a, l, f, true, false)
			}
			if err := standby.Off(f.Data); err != nil {
				return err
			}
			return a.runBot(ctx, l, f, nil)
		},
	}
	cmd.Flags().StringVar(&all, "all", "", "run a bot for each directory with a config.yaml in this `directory`")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8991", "with --all: the `address` of the health page; empty: none")
	return cmd
}

// runAll runs the bots of a directory.
func runAll(ctx context.Context, a *app, dir, listen string) error {
	if a.configFlag != "" || a.dataFlag != "" {
		return usage.Errorf("--all takes no --config and no --data: each bot has its own directory")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	return fleet.Run(ctx, fleet.Config{
		Dir: dir, Program: program, Listen: listen, Out: a.stderr, Log: slog.New(slog.NewTextHandler(a.stderr, nil)),
		Ask: func(ctx context.Context, dir string) ([]string, error) {
			r, err := bot.AskStatus(ctx, dir)
			if errors.Is(err, bot.ErrWaiting) {
				err = nil
			}
			return r.Faults, err
		},
	})
}

func standbyCommand(a *app) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "standby",
		Short: "Wait, and run the bot when the other host fails",
		Long: "Waits until no other host runs the bot, brings this data directory up to date from the replica, and runs the bot.\n" +
			"Needs standby.to in config.yaml on both hosts. With --now it asks the other host to stop and takes over.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			if l.Config().Standby.To == "" {
				return usage.Errorf("standby.to is empty; set it to a directory or a bucket that both hosts can reach")
			}
			return standBy(ctx, a, l, f, false, now)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "ask the other host to stop, and take over")
	return cmd
}

func standbyConfig(l *config.Live, f config.Folders) standby.Config {
	s := l.Config().Standby
	name, err := os.Hostname()
	if err != nil {
		name = "this host"
	}
	return standby.Config{
		To: s.To, Host: cmp.Or(s.Host, name), Lease: time.Duration(s.LeaseSeconds * float64(time.Second)), Litestream: s.Litestream,
		Endpoint: s.Endpoint, Region: s.Region, AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey,
		Data: f.Data, Workspace: f.Workspace,
	}
}

// standBy runs the bot when no other host does.
func standBy(ctx context.Context, a *app, l *config.Live, f config.Folders, found, now bool) error {
	switch r, err := bot.AskStatus(ctx, f.Data); {
	case errors.Is(err, bot.ErrNotRunning):
	case r.PID == 0:
		return err
	default:
		return fmt.Errorf("process %d already uses %s; stop it first", r.PID, f.Data)
	}
	c := standbyConfig(l, f)
	c.Found, c.Now, c.Log = found, now, bot.NewLog(a.stderr, l, a.redact, slog.LevelDebug)
	c.Waiting = func(state func() health.Standby) (stop func()) {
		return bot.Waiting{Data: f.Data, Version: version, Listen: l.Config().Health.Listen, State: state, Log: c.Log}.Serve()
	}
	err := standby.Run(ctx, c, func(ctx context.Context, h *standby.Host) error {
		l, f, err := a.openFolders() // it may have waited for long
		if err != nil {
			return err
		}
		return a.runBot(ctx, l, f, h)
	})
	if ctx.Err() != nil { // stopped while it waited
		return nil
	}
	return err
}

// untilSignal ends the context at SIGINT and SIGTERM. From then on a second
// signal ends the process at once.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// runBot runs the bot on this host; h is nil without a second one.
func (a *app) runBot(ctx context.Context, l *config.Live, f config.Folders, h *standby.Host) error {
	c := a.botConfig(l, f, bot.NewLog(a.stderr, l, a.redact, slog.LevelDebug))
	c.Telegram = true
	if h != nil {
		c.Replicated, c.Standby = h.Replicated, h.State
	}
	p, err := bot.New(c)
	if err != nil {
		return err
	}
	return p.Run(ctx, func(rows []health.Finding) {
		fmt.Fprintln(a.stdout, "klawbot "+version)
		for _, r := range rows {
			fmt.Fprintln(a.stdout, terminal.Fold(a.stdout, "  "+terminal.Visible(a.redact.Text(a.advice(r.Line()))), 15))
		}
		if !a.interactive() {
			return // a new link would end the one that klawbot web has printed
		}
		if link, err := p.Link(ctx); link != "" && err == nil { // the log and the table say why not
			a.printLink(link)
		}
	})
}
