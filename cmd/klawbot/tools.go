package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/tools"
)

func toolsCommand(a *app) *cobra.Command {
	return parent("tools", "List and call the tools",
		toolsListCommand(a), toolsCallCommand(a))
}

func toolsListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tools",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *engine.Data) error {
				list := d.Tools(l.Config().Agent.Language)
				if asJSON {
					return printJSON(a.stdout, list)
				}
				for _, f := range d.ToolFaults() {
					fmt.Fprintln(a.stderr, "klawbot: left out: "+terminal.Visible(f.String()))
				}
				return printTools(a.stdout, list)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func printTools(out io.Writer, list []tools.Listing) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range list {
		about, _, _ := strings.Cut(strings.TrimSpace(t.Description), ". ")
		fmt.Fprintf(w, "%s\t%s\n", t.Name, terminal.Visible(about))
	}
	return w.Flush()
}

// maxArgumentBytes bounds the arguments of a call that come from standard input.
const maxArgumentBytes = 16 << 20

func toolsCallCommand(a *app) *cobra.Command {
	var asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "call NAME JSON",
		Short: "Call a tool as the owner",
		Long:  "Calls a tool with a JSON object of arguments (- reads it from standard input) and prints its result.\nThe exit code is 0 when it succeeded and 1 when not.",
		Args:  takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilSignal(cmd.Context()) // what it has started ends with it
			defer stop()
			return callTool(ctx, a, args[0], args[1], asJSON, yes)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result for programs")
	cmd.Flags().BoolVar(&yes, "yes", false, "allow what would ask; without it, that is refused")
	return cmd
}

// callTool calls a tool and prints its result. yes allows what would ask.
func callTool(ctx context.Context, a *app, name, arguments string, asJSON, yes bool) error {
	arguments, err := a.argumentsOf(arguments)
	if err != nil {
		return err
	}
	return a.withWorkspace(ctx, func(_ *config.Live, _ config.Folders, d *engine.Data) error {
		call := d.CallTool
		if yes {
			call = d.CallApproved
		}
		r, err := call(ctx, name, json.RawMessage(arguments))
		if err != nil {
			return err
		}
		if r.ErrorKind == tools.ApprovalDenied {
			fmt.Fprintln(a.stderr, "klawbot: this call needs approval; run it again with --yes")
		}
		if asJSON {
			err = printJSON(a.stdout, r)
		} else {
			_, err = fmt.Fprintln(a.stdout, legible(r.Output))
		}
		if err == nil && !r.Success {
			err = errSilent
		}
		return err
	})
}

// legible is the output of a tool for people: what it brought from outside does not
// command the terminal. --json prints it as it is.
func legible(output string) string {
	return terminal.Visible(strings.ReplaceAll(strings.TrimSuffix(output, "\n"), "\r\n", "\n"))
}
