package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/tools/screen"
)

// unscreened are the tools whose results are ours and are not screened. A tool
// that is not known is screened.
var unscreened = strings.Fields(`memory_search memory_save memory_forget memory_core_get memory_core_update memory_core_delete memory_get
	history_search skill_list skill_load docs_search docs_read docs_list self_info config schedule_list schedule_add schedule_remove
	schedule_manage schedule_deliver subagent_spawn subagent_manage file_list file_undo send_message send_file current_time tool_search`)

// screenedWrites are the tools that keep a text for later.
var screenedWrites = []string{"memory_save", "memory_core_update", "schedule_add"}

func screenCommand(a *app) *cobra.Command {
	var tool string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "screen",
		Short: "Check a text on standard input for prompt injections",
		Long: "Checks a text on standard input as the results of tools are checked: none, review (logged), warn (shown with a\n" +
			"warning) or block (not shown). With --tool it is the text of that tool: what memory_save, memory_core_update\n" +
			"and schedule_add shall keep, or the result of another one. The exit code is 0 whatever the verdict.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.screen(tool, asJSON) },
	}
	cmd.Flags().StringVar(&tool, "tool", "", "the `name` of the tool that the text belongs to; without it, text from outside")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) screen(tool string, asJSON bool) error {
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxArgumentBytes+1))
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > maxArgumentBytes {
		return usage.Errorf("the text is longer than %d MiB; screen it in parts", maxArgumentBytes>>20)
	}
	v := screened(tool, string(text))
	if asJSON {
		if v.Matches == nil {
			v.Matches = []screen.Match{}
		}
		return printJSON(a.stdout, v)
	}
	fmt.Fprintln(a.stdout, v.Level)
	for _, m := range v.Matches {
		fmt.Fprintf(a.stdout, "  %s: %s\n", m.Rule, terminal.Visible(m.Text))
	}
	return nil
}

// screened is the verdict on a text of a tool.
func screened(tool, text string) screen.Verdict {
	switch {
	case slices.Contains(screenedWrites, tool):
		return screen.Write(text)
	case slices.Contains(unscreened, tool):
		return screen.Verdict{}
	}
	return screen.Text(text)
}
