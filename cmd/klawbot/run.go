package main

import (
	"context"
	"fmt"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/health"
)

func runCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the bot",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return runBot(ctx, a)
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

func runBot(ctx context.Context, a *app) error {
	l, f, err := a.openFolders()
	if err != nil {
		return err
	}
	c := a.botConfig(l, f, bot.NewLog(a.stderr, l, a.redact, slog.LevelDebug))
	c.Telegram = true
	p, err := bot.New(c)
	if err != nil {
		return err
	}
	return p.Run(ctx, func(rows []health.Finding) {
		fmt.Fprintln(a.stdout, "klawbot "+version)
		for _, r := range rows {
			fmt.Fprintln(a.stdout, "  "+terminal.Visible(a.redact.Text(a.advice(r.Line()))))
		}
		if link := p.Link(); link != "" && a.interactive() {
			a.printLink(link)
		}
	})
}
