package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
)

func (a *app) skillsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "skills", Short: "List and check the skills", Args: cobra.NoArgs}
	cmd.RunE = func(*cobra.Command, []string) error { return usage.Errorf("skills needs list or validate") }
	cmd.AddCommand(
		a.skillsSubcommand("list", "List the skills that the bot can use", (*engine.Data).Skills, a.printSkills),
		a.skillsSubcommand("validate", "Say what is wrong with the skills; the exit code is 1 when something is", (*engine.Data).CheckSkills, a.printFaults),
	)
	return cmd
}

func (a *app) skillsSubcommand(name, short string, read func(*engine.Data) ([]engine.Skill, error), print func([]engine.Skill) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(cmd.Context(), func(_ *config.Live, f config.Folders, d *engine.Data) error {
				if err := bot.Furnish(f); err != nil {
					return err
				}
				list, err := read(d)
				if err != nil {
					return fmt.Errorf("%w: %s", err, f.Workspace)
				}
				if asJSON {
					err = a.printJSON(list)
				} else {
					err = print(list)
				}
				if err == nil && name == "validate" && faulty(list) > 0 {
					err = errSilent
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) printSkills(list []engine.Skill) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, "No skills available")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", terminal.Visible(k.Name), k.Source, terminal.Visible(k.Description))
	}
	return w.Flush()
}

func (a *app) printFaults(list []engine.Skill) error {
	for _, k := range list {
		state := "ok"
		if k.Fault != "" {
			state = k.Fault
		}
		if _, err := fmt.Fprintf(a.stdout, "%s (%s): %s\n", terminal.Visible(k.Path), k.Source, terminal.Visible(state)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%d skills, %d with faults\n", len(list), faulty(list))
	return err
}

func faulty(list []engine.Skill) int {
	n := 0
	for _, k := range list {
		if k.Fault != "" {
			n++
		}
	}
	return n
}
