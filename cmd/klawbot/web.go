package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
)

func webCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "web",
		Short: "Open the web page: chat and control in a browser",
		Long: "Prints a link that signs a browser in. It works once, for 5 minutes.\n" +
			"If the bot isn't running, klawbot runs one until Ctrl-C.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.web(ctx)
		},
	}
}

// printLink shows the link on the terminal itself: it is a secret, which a log must not
// hold.
func (a *app) printLink(link string) {
	fmt.Fprintln(terminal.Unwrap(a.stdout), link+" (works once, 5 minutes)")
}

func (a *app) web(ctx context.Context) error {
	l, f, err := a.openFolders()
	if err != nil {
		return err
	}
	link, err := bot.AskLink(ctx, f.Data)
	switch running := errors.Is(err, bot.ErrNoPage); {
	case err == nil:
		a.printLink(link)
		return nil
	case !running && !errors.Is(err, bot.ErrNotRunning):
		return err
	case l.Config().Channels.Web.Enabled && running:
		return err
	case !l.Config().Channels.Web.Enabled:
		if fault := a.turnOnWeb(ctx, l); fault != nil || running {
			return cmp.Or(fault, err)
		}
	}
	return webAlone(ctx, a, l, f)
}

// turnOnWeb offers to turn the page on for good. Without a file it is on for this run.
func (a *app) turnOnWeb(ctx context.Context, l *config.Live) error {
	if l.Source.File == "" {
		return nil
	}
	if !a.interactive() {
		return usage.Errorf("the web page is off; set channels.web.enabled: true in config.yaml")
	}
	yes, err := terminal.Ask(a.stdin, a.stdout).Confirm(ctx, "The web page is off. Turn it on?")
	if err != nil || !yes {
		return cmp.Or(err, errSilent)
	}
	return configedit.EnableWeb(l)
}

// webAlone runs a bot with the page, until it is interrupted.
func webAlone(ctx context.Context, a *app, l *config.Live, f config.Folders) error {
	c := a.botConfig(l, f, bot.NewLog(a.stderr, l, a.redact, bot.Quiet(l)))
	c.Telegram, c.Web = true, true
	p, err := bot.New(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var unserved error
	err = p.Serve(ctx, func(ctx context.Context, _ *engine.Engine) {
		defer stop()
		var link string
		if link, unserved = p.Link(ctx); unserved == nil {
			a.printLink(link)
			<-ctx.Done()
		}
	})
	return errors.Join(unserved, err)
}
