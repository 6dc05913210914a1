package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
)

func sessionsCommand(a *app) *cobra.Command {
	read := func(ctx context.Context, d *engine.Data) ([]engine.Session, error) { return d.Sessions(ctx) }
	return listCommand(a, "sessions", "List the conversations", read, printSessions)
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
