package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/tools"
	"klawbot/tools/injection"
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
			return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *data.Data) error {
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result as JSON")
	cmd.Flags().BoolVar(&yes, "yes", false, "approve calls that need approval")
	return cmd
}

// callTool calls a tool and prints its result. yes allows what would ask.
func callTool(ctx context.Context, a *app, name, arguments string, asJSON, yes bool) error {
	arguments, err := a.argumentsOf(arguments)
	if err != nil {
		return err
	}
	return a.withWorkspace(ctx, func(_ *config.Live, _ config.Folders, d *data.Data) error {
		call := d.CallTool
		if yes {
			call = d.CallApproved
		}
		r, err := call(ctx, name, json.RawMessage(arguments))
		if err != nil {
			return err
		}
		if r.ErrorKind == tools.ApprovalDenied {
			fmt.Fprintln(a.stderr, "klawbot: This call needs approval. Run it again with --yes.")
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
	return terminal.Visible(strings.TrimSuffix(strings.ReplaceAll(output, "\r\n", "\n"), "\n"))
}

type undoFlags struct {
	list, all bool
	turn      int64
}

// given is how many flags of klawbot undo were given.
func given(cmd *cobra.Command) (n int) {
	for _, name := range []string{"list", "all", "turn"} {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

func undoCommand(a *app) *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use:   "undo [ID | --turn ID | --all | --list]",
		Short: "Undo file changes made by tools",
		Long:  "Takes back the newest change of a file in the workspace, the one with an id, or more; also while the bot runs.\nA file that was changed by something else since is left alone. An undo can be undone by its own id.",
		Args:  takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if given(cmd)+len(args) > 1 {
				return errUndo
			}
			arguments, err := f.arguments(args)
			if err != nil {
				return err
			}
			return a.undo(cmd.Context(), arguments)
		},
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "show the changes, the newest first")
	cmd.Flags().BoolVar(&f.all, "all", false, "take back all changes")
	cmd.Flags().Int64Var(&f.turn, "turn", 0, "take back the changes of the turn with this `id`")
	return cmd
}

var errUndo = usage.Errorf("undo takes the id of one change, or one of --turn ID, --all and --list")

// undo calls the tool file_undo and says to a person what the model would be
// told.
func (a *app) undo(ctx context.Context, arguments string) error {
	return a.withWorkspace(ctx, func(_ *config.Live, _ config.Folders, d *data.Data) error {
		r, err := d.CallApproved(ctx, "file_undo", json.RawMessage(arguments))
		if err != nil {
			return err
		}
		if r.ErrorKind == tools.NotFound {
			return errors.New("there is no such change to undo; klawbot undo --list shows what there is")
		}
		if _, err = fmt.Fprintln(a.stdout, legible(r.Output)); err == nil && !r.Success {
			err = errSilent
		}
		return err
	})
}

func (f undoFlags) arguments(ids []string) (string, error) {
	call := struct {
		Action string `json:"action"`
		ID     int64  `json:"id,omitempty"`
	}{Action: "revert"}
	switch {
	case f.list:
		call.Action = "list"
	case f.all:
		call.Action = "revert_all"
	case f.turn != 0:
		call.Action, call.ID = "revert_turn", f.turn
	}
	if len(ids) > 0 {
		id, err := strconv.ParseInt(ids[0], 10, 64)
		if err != nil || id < 1 || call.Action != "revert" {
			return "", errUndo
		}
		call.ID = id
	}
	text, err := json.Marshal(call)
	return string(text), err
}

// unscreened are the tools whose results are ours and are not screened. A tool
// that is not known is screened.
var unscreened = strings.Fields(`memory_search memory_save memory_forget memory_core_get memory_core_update memory_core_delete memory_get
	history_search skill_list skill_load docs_search docs_read docs_list self_info config schedule_list schedule_add schedule_remove
	schedule_manage schedule_deliver subagent_spawn subagent_manage file_list file_undo send_message send_file speak current_time tool_search`)

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
			"and schedule_add are to keep, or the result of another one. The exit code is 0 whatever the verdict.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.screen(tool, asJSON) },
	}
	cmd.Flags().StringVar(&tool, "tool", "", "the `name` of the tool that the text belongs to; without it, text from outside")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
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
			v.Matches = []injection.Match{}
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
func screened(tool, text string) injection.Verdict {
	switch {
	case slices.Contains(screenedWrites, tool):
		return injection.Write(text)
	case slices.Contains(unscreened, tool):
		return injection.Verdict{}
	}
	return injection.Text(text)
}
