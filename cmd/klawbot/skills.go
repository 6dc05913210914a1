package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/data"
)

func skillsCommand(a *app) *cobra.Command {
	return parent("skills", "List and check the skills",
		skillsSubcommand(a, "list", "List the skills that the bot can use", (*data.Data).Skills, printSkills),
		skillsSubcommand(a, "validate", "Say what is wrong with the skills; the exit code is 1 when something is", (*data.Data).CheckSkills, printFaults),
	)
}

func skillsSubcommand(a *app, name, short string, read func(*data.Data) ([]data.Skill, error), print func(io.Writer, []data.Skill) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, f config.Folders, d *data.Data) error {
				list, err := read(d)
				if err != nil {
					return fmt.Errorf("%w: %s", err, f.Workspace)
				}
				if asJSON {
					err = printJSON(a.stdout, list)
				} else {
					err = print(a.stdout, list)
				}
				if err == nil && name == "validate" && faulty(list) > 0 {
					err = errSilent
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printSkills(out io.Writer, list []data.Skill) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No skills available")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", terminal.Visible(k.Name), k.Source, terminal.Visible(k.Description))
	}
	return w.Flush()
}

func printFaults(w io.Writer, list []data.Skill) error {
	for _, k := range list {
		state := "ok"
		if k.Fault != "" {
			state = k.Fault
		}
		if _, err := fmt.Fprintf(w, "%s (%s): %s\n", terminal.Visible(k.Path), k.Source, terminal.Visible(state)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d skills, %d with faults\n", len(list), faulty(list))
	return err
}

func faulty(list []data.Skill) int {
	n := 0
	for _, k := range list {
		if k.Fault != "" {
			n++
		}
	}
	return n
}
