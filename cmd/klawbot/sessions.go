package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
)

func sessionsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the conversations",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *engine.Data) error {
				list, err := d.Sessions(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, list)
				}
				return printSessions(a.stdout, list, l.Config())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func printSessions(out io.Writer, list []engine.Session, c *config.Config) error {
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
