package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"klawbot/engine"
	"klawbot/internal/clip"
)

func (a *app) approvalsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "approvals", Short: "Calls that people allowed", Args: cobra.NoArgs}
	cmd.RunE = func(*cobra.Command, []string) error { return usage("approvals needs list, log or remove") }
	cmd.AddCommand(a.approvalsListCommand(), a.approvalsLogCommand(), a.approvalsRemoveCommand())
	return cmd
}

func (a *app) approvalsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the calls that may run without a question for a while",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(l *live, _ folders, d *engine.Data) error {
				list, err := d.Approvals().Grants(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(list)
				}
				return a.printGrants(list, l.config().location())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) printGrants(list []engine.Grant, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, "No approvals.")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, g := range list {
		fmt.Fprintf(w, "%d\t%s\tuser %d\t%s\tuntil %s\tlast used %s\t%s\n", g.ID, g.Chat, g.User, g.Tool, clock(g.ExpiresAt, zone), clock(g.LastUsed, zone), oneLine(g.Arguments))
	}
	return w.Flush()
}

// logLength is how many questions klawbot policy approvals log shows.
const logLength = 100

func (a *app) approvalsLogCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List who was asked about what, and what came of it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(l *live, _ folders, d *engine.Data) error {
				list, err := d.Approvals().Asked(cmd.Context(), logLength)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(list)
				}
				return a.printApprovals(list, l.config().location())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) printApprovals(list []engine.Approval, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, "Nobody was asked yet.")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, q := range list {
		fmt.Fprintf(w, "%s\t%s\tuser %d\t%s\t%s\t%s\n", clock(q.AskedAt, zone), q.Chat, q.User, q.Tool, outcome(q), oneLine(q.Arguments))
	}
	return w.Flush()
}

func (a *app) approvalsRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove ID",
		Short: "Have a call asked about again",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage("remove takes the id of an approval; klawbot policy approvals list shows them")
			}
			return a.withData(cmd.Context(), func(_ *live, _ folders, d *engine.Data) error {
				err := d.Approvals().RemoveGrant(cmd.Context(), id)
				if errors.Is(err, engine.ErrNoGrant) {
					return usageError{err}
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

// lineLength bounds what a list shows of a call.
const lineLength = 100

// oneLine is text on one line of a list, cut.
func oneLine(text string) string {
	return clip.Runes(strings.NewReplacer("\n", " ", "\t", " ").Replace(visible(text)), lineLength)
}
