package main

import (
	"cmp"
	"context"
	"encoding/json"
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
	"klawbot/engine/data"
	"klawbot/tools"
)

func policyCommand(a *app) *cobra.Command {
	return parent("policy", "Check tool permissions and manage approvals",
		policyCheckCommand(a), approvalsCommand(a))
}

func policyCheckCommand(a *app) *cobra.Command {
	var chat string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check TOOL JSON",
		Short: "Show whether a call would be allowed, without running it",
		Long:  "Shows whether a tool call would run, need approval or be denied, and why. Nothing runs.\nUse - instead of JSON to read the arguments from standard input. The exit code is always 0.",
		Args:  takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkCall(cmd.Context(), a, args[0], args[1], chat, asJSON)
		},
	}
	cmd.Flags().StringVar(&chat, "chat", "", "the `chat` that the call comes from, such as 123456; without it the command line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func checkCall(ctx context.Context, a *app, tool, arguments, chat string, asJSON bool) error {
	arguments, err := a.argumentsOf(arguments)
	if err != nil {
		return err
	}
	if chat != "" {
		if chat, err = config.PolicyChat(chat); err != nil {
			return usage.Wrap(err)
		}
	}
	return a.withWorkspace(ctx, func(_ *config.Live, f config.Folders, d *data.Data) error {
		decision := d.CheckPolicy(tool, json.RawMessage(arguments), chat)
		decision.Reason, decision.Layer = cmp.Or(decision.Reason, "no rule is against it"), cmp.Or(decision.Layer, "default")
		if asJSON {
			return printJSON(a.stdout, decision)
		}
		text := fmt.Sprintf("%s: %s (%s)\n", decision.Verdict, terminal.Visible(decision.Reason), decision.Layer)
		if decision.OwnerOnly && decision.Verdict == tools.Ask {
			text += "Only an owner can approve it.\n"
		}
		if decision.OnceOnly != "" && decision.Verdict == tools.Ask {
			text += "klawbot asks every time: " + decision.OnceOnly + ".\n"
		}
		_, err := io.WriteString(a.stdout, text)
		return err
	})
}

// argumentsOf are the arguments of a call; - stands for standard input.
func (a *app) argumentsOf(written string) (string, error) {
	if written != "-" {
		return written, nil
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxArgumentBytes))
	return string(text), err
}

func approvalsCommand(a *app) *cobra.Command {
	return parent("approvals", "Manage approvals",
		approvalsListCommand(a), approvalsLogCommand(a), approvalsRemoveCommand(a))
}

func approvalsListCommand(a *app) *cobra.Command {
	read := func(ctx context.Context, d *data.Data) ([]data.Grant, error) { return d.Approvals().Grants(ctx) }
	return listCommand(a, "list", "List calls that run without asking until they expire", read, printGrants)
}

func printGrants(out io.Writer, list []data.Grant, c *config.Config) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No approvals.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, g := range list {
		fmt.Fprintf(w, "%d\t%s\tuser %d\t%s\tuntil %s\tlast used %s\t%s\n", g.ID, g.Chat, g.User, g.Tool, clock(g.ExpiresAt, c.Location()), clock(g.LastUsed, c.Location()), terminal.OneLine(g.Arguments))
	}
	return w.Flush()
}

// logLength is how many questions klawbot policy approvals log shows.
const logLength = 100

func approvalsLogCommand(a *app) *cobra.Command {
	read := func(ctx context.Context, d *data.Data) ([]data.Approval, error) {
		return d.Approvals().Asked(ctx, logLength)
	}
	return listCommand(a, "log", "Show approval history", read, printApprovals)
}

func printApprovals(out io.Writer, list []data.Approval, c *config.Config) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No approval requests yet.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, q := range list {
		fmt.Fprintf(w, "%s\t%s\tuser %d\t%s\t%s\t%s\n", clock(q.AskedAt, c.Location()), q.Chat, q.User, q.Tool, outcome(q), terminal.OneLine(q.Arguments))
	}
	return w.Flush()
}

func approvalsRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove ID",
		Short: "Revoke an approval",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage.Errorf("remove takes the id of an approval; klawbot policy approvals list shows them")
			}
			return a.withData(cmd.Context(), func(_ *config.Live, _ config.Folders, d *data.Data) error {
				err := d.Approvals().RemoveGrant(cmd.Context(), id)
				if errors.Is(err, data.ErrNoGrant) {
					return usage.Wrap(err)
				}
				return err
			})
		},
	}
}

// outcome is what came of a question, and who decided if anybody did.
func outcome(q data.Approval) string {
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
