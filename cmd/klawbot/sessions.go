package main

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
)

func (a *app) sessionsCommand() *cobra.Command {
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
					return a.printJSON(list)
				}
				return a.printSessions(list, l.Config())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) printSessions(list []engine.Session, c *config.Config) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, "No conversations yet.")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
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
