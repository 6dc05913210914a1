package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/engine/data"
	"klawbot/engine/health"
)

func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the bot's status",
		Long:  "Shows how the running bot and its parts do. The exit code is 1 when a part is broken, 3 when the bot isn't running.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.foldersAnyway()
			if err != nil {
				return err
			}
			r, err := bot.AskStatus(cmd.Context(), f.Data)
			if errors.Is(err, bot.ErrNotRunning) && asJSON {
				return errors.Join(printStopped(cmd.Context(), a.stdout, f), err)
			}
			switch waits := errors.Is(err, bot.ErrWaiting); {
			case err != nil && !waits:
				return err
			case asJSON:
				err = printJSON(a.stdout, r)
			default:
				err = a.printStatus(r)
			}
			if err == nil && !r.OK {
				err = errSilent
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// foldersAnyway finds the folders also when the configuration is broken, so
// that status can say that it is.
func (a *app) foldersAnyway() (config.Folders, error) {
	file, err := config.Find(a.configFlag, a.getenv)
	if err != nil {
		return config.Folders{}, err
	}
	l, err := config.Source{File: file, Environ: a.environ, Redact: a.redact}.Load()
	if l == nil {
		return config.Folders{}, err
	}
	return a.folders(&l.Config)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printStopped prints what the folder of a bot that does not run says: what
// waits, the database and the last backup. A folder without a bot says nothing.
func printStopped(ctx context.Context, w io.Writer, f config.Folders) error {
	s, err := health.StatusOf(ctx, engine.Base{Dir: f.Data, Version: version})
	if err != nil {
		return err
	}
	return printJSON(w, bot.Checked(bot.Report{Status: s}))
}

func (a *app) printStatus(r bot.Report) error {
	lines := []string{fmt.Sprintf("klawbot %s, process %d, up %s", r.Version, r.PID, r.Uptime.Round(time.Second))}
	for _, f := range r.Checks {
		line := f.Mark() + " " + f.Name + ": " + f.Text
		if f.Fix != "" {
			line += " → " + f.Fix
		}
		lines = append(lines, line)
	}
	for _, h := range r.Channels {
		if h.Strangers > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s from unknown senders blocked", h.Channel, terminal.Plural(int(h.Strangers), "message", "messages")))
		}
	}
	if n := len(r.Knocked); n > 0 {
		lines = append(lines, fmt.Sprintf("unknown senders: %d, last %s → klawbot allowed", n, terminal.OneLine(r.Knocked[0].String())))
	}
	if r.Up {
		lines = append(lines, statusOfTurns(r)...)
	}
	if r.Standby != nil {
		lines = append(lines, "standby: "+terminal.Visible(r.Standby.Text(time.Now())))
	}
	_, err := fmt.Fprintln(a.stdout, terminal.Fold(a.stdout, a.redact.Text(a.advice(strings.Join(lines, "\n"))), 2))
	return err
}

// statusOfTurns are the lines of a running bot about what it does.
func statusOfTurns(r bot.Report) (lines []string) {
	if q := r.Request; q.Sum() > 0 {
		lines = append(lines, fmt.Sprintf("last request: about %d tokens (instructions %d, skills %d, core memory %d, tools %d, history %d, message %d)",
			q.Sum(), q.Instructions, q.Skills, q.CoreMemory, q.Tools, q.History, q.Message))
	}
	return append(lines,
		r.Usage.Text("en"),
		fmt.Sprintf("turns running: %d, messages waiting: %s in, %s out", r.Running, queueText(r.Inbox), queueText(r.Outbox)),
		"disk: "+diskText(r.Disk))
}

func queueText(q health.Queue) string {
	if q.Oldest.IsZero() {
		return fmt.Sprint(q.Waiting)
	}
	return fmt.Sprintf("%d (oldest: %s)", q.Waiting, bot.Ago(q.Oldest))
}

func diskText(d health.Disk) string {
	var parts []string
	for _, p := range d.Parts {
		if p.Bytes > 0 {
			parts = append(parts, p.Part+" "+terminal.Megabytes(p.Bytes))
		}
	}
	return fmt.Sprintf("%s; %.1f GB free", strings.Join(parts, ", "), float64(d.Free)/1e9)
}

func healthCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Check health (exit code 0, 1 or 3)",
		Long:  "Exit code 0: healthy. 1: unhealthy, with the reasons. 3: not running. For Docker's health check and similar.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.foldersAnyway()
			if err != nil {
				return err
			}
			r, err := bot.AskStatus(cmd.Context(), f.Data)
			waits := errors.Is(err, bot.ErrWaiting)
			if err != nil && !waits {
				return err
			}
			if !r.Healthy {
				return errors.New("unhealthy: " + strings.Join(r.Faults, "; "))
			}
			answer := "ok"
			if waits {
				answer = "ok, waiting"
			}
			_, err = fmt.Fprintln(a.stdout, answer)
			return err
		},
	}
}

func sessionsCommand(a *app) *cobra.Command {
	read := func(ctx context.Context, d *data.Data) ([]data.Session, error) { return d.Sessions(ctx) }
	return listCommand(a, "sessions", "List the conversations", read, printSessions)
}

func printSessions(out io.Writer, list []data.Session, c *config.Config) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No conversations yet.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHAT\tMESSAGES\tLAST\tMODEL")
	for _, s := range list {
		last := "-"
		if !s.LastAt.IsZero() {
			last = s.LastAt.In(c.Location()).Format("2006-01-02 15:04")
		}
		model := cmp.Or(s.Model, c.EngineModels().Default, "-")
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", s.Chat, s.Messages, last, model)
	}
	return w.Flush()
}
