package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
)

func approvalsCommand(a *app) *cobra.Command {
	return parent("approvals", "Calls that people allowed",
		approvalsListCommand(a), approvalsLogCommand(a), approvalsRemoveCommand(a))
}

func approvalsListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the calls that may run without a question for a while",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *engine.Data) error {
				list, err := d.Grants(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, list)
				}
				return printGrants(a.stdout, list, l.Config().Location())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func printGrants(out io.Writer, list []engine.Grant, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No approvals.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, g := range list {
		fmt.Fprintf(w, "%d\t%s\tuser %d\t%s\tuntil %s\tlast used %s\t%s\n", g.ID, g.Chat, g.User, g.Tool, clock(g.ExpiresAt, zone), clock(g.LastUsed, zone), terminal.OneLine(g.Arguments))
	}
	return w.Flush()
}

// logLength is how many questions klawbot policy approvals log shows.
const logLength = 100

func approvalsLogCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List who was asked about what, and what came of it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *engine.Data) error {
				list, err := d.Approvals(cmd.Context(), logLength)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, list)
				}
				return printApprovals(a.stdout, list, l.Config().Location())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func printApprovals(out io.Writer, list []engine.Approval, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "Nobody was asked yet.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, q := range list {
		fmt.Fprintf(w, "%s\t%s\tuser %d\t%s\t%s\t%s\n", clock(q.AskedAt, zone), q.Chat, q.User, q.Tool, outcome(q), terminal.OneLine(q.Arguments))
	}
	return w.Flush()
}

func approvalsRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove ID",
		Short: "Have a call asked about again",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage.Errorf("remove takes the id of an approval; klawbot policy approvals list shows them")
			}
			return a.withData(cmd.Context(), func(_ *config.Live, _ config.Folders, d *engine.Data) error {
				err := d.RemoveGrant(cmd.Context(), id)
				if errors.Is(err, engine.ErrNoGrant) {
					return usage.Wrap(err)
				}
				return err
			})
		},
	}
}

// outcome is what came of a question, and who decided if anybody did.
func outcome(q engine.Approval) string {
	if q.AnsweredBy == 0 {
		return q.Outcome
	}
	return fmt.Sprintf("%s by %d", q.Outcome, q.AnsweredBy)
}

// clock is a time in the zone of the bot.
func clock(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(zone).Format("2006-01-02 15:04:05")
}
