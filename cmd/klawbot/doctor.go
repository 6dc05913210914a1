package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/standby"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/data"
	"klawbot/engine/health"
)

func doctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and print a fix for each problem",
		Long:  "Checks every component; makes one model call. Prints one command for each fix.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			all := a.examine(ctx)
			healthy := true
			for i := range all {
				all[i].Text, all[i].Fix = a.redact.Text(a.advice(all[i].Text)), a.advice(all[i].Fix)
				healthy = healthy && all[i].OK
			}
			if err := printFindings(a.stdout, all, healthy, asJSON); err != nil {
				return err
			}
			if !healthy {
				return errSilent
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printFindings(w io.Writer, all []health.Finding, healthy, asJSON bool) error {
	if asJSON {
		return printJSON(w, struct {
			OK     bool             `json:"ok"`
			Checks []health.Finding `json:"checks"`
		}{healthy, all})
	}
	for _, f := range all {
		text := fmt.Sprintf("%s %-10s %s", f.Mark(), f.Name, terminal.Visible(f.Text))
		if f.Fix != "" {
			text += fmt.Sprintf("\n  %-10s → %s", "", f.Fix)
		}
		fmt.Fprintln(w, terminal.Fold(w, text, 13))
	}
	return nil
}

// examine looks at every part. Without a configuration the rest makes no sense.
func (a *app) examine(ctx context.Context) []health.Finding {
	l, f, err := a.openFolders()
	if err != nil {
		return []health.Finding{health.Broken("config", "fix the lines above; config.yaml.example explains every key", err)}
	}
	c := a.botConfig(l, f, slog.New(slog.DiscardHandler))
	all := append(c.Surroundings(ctx), botFindings(ctx, l, f)...)
	c.Telegram, c.Console = true, true
	if b, err := bot.New(c); err == nil { // what is wrong with it has a finding already
		_ = b.WithData(ctx, func(d *data.Data) error { // so has a database that cannot be opened
			all = append(all, d.PolicyFindings()...)
			return nil
		})
	}
	return append(all, health.Doctor(ctx, c.Bare())...)
}

func botFindings(ctx context.Context, l *config.Live, f config.Folders) []health.Finding {
	r, err := bot.AskStatus(ctx, f.Data)
	all := []health.Finding{botFinding(r, err)}
	if errors.Is(err, bot.ErrWaiting) {
		all = []health.Finding{health.Off("bot", "klawbot standby --now, to run it on this host", "waiting; the other host runs it")}
	}
	if errors.Is(err, bot.ErrNotRunning) {
		all = append([]health.Finding{health.Off("bot", "klawbot run, or klawbot chat in this terminal", "not running")}, bot.PortFindings(l.Config())...)
	}
	if l.Config().Standby.To != "" {
		all = append(all, standbyFinding(ctx, standbyConfig(l, f), r.Standby))
	}
	return all
}

// standbyFinding tells of the replica what the running bot says of it, or what the place
// shows.
func standbyFinding(ctx context.Context, c standby.Config, now *health.Standby) health.Finding {
	if now != nil && now.Fault == "" {
		return health.OK("standby", "%s", now.Text(time.Now()))
	}
	if now != nil {
		return health.Broken("standby", "check standby.to and the network", errors.New(now.Text(time.Now())))
	}
	host, epoch, err := standby.Look(ctx, c)
	switch {
	case err != nil:
		return health.Broken("standby", "check standby in config.yaml; doc/standby.md explains it", err)
	case epoch == 0:
		return health.Off("standby", "klawbot run on the first host", "no replica yet")
	}
	return health.OK("standby", "%s ran the bot last (epoch %d); the replica is complete", host, epoch)
}

func botFinding(r bot.Report, err error) health.Finding {
	switch {
	case err != nil:
		return health.Broken("bot", "restart klawbot run", err)
	case r.Config.Fault != "":
		return health.Broken("bot", "fix config.yaml; the bot applies it within a second", fmt.Errorf("using the last valid configuration: %s", r.Config.Fault))
	case !r.Healthy:
		return health.Broken("bot", "klawbot status", errors.New(strings.Join(r.Faults, "; ")))
	}
	return health.OK("bot", "running for %s", r.Uptime.Round(time.Second))
}
