package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"
)

// undoFlags say what klawbot undo shall take back.
type undoFlags struct {
	list, all bool
	turn      int64
}

func (a *app) undoCommand() *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use:   "undo [ID | --turn ID | --all | --list]",
		Short: "Take back changes of files that tools made",
		Long:  "Takes back the newest change of a file in the workspace, the one with an id, or more; also while the bot runs.\nA file that somebody else has changed since is left alone. An undo can be undone by its own id.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := f.arguments(args)
			if err != nil {
				return err
			}
			return a.callTool(cmd.Context(), "file_undo", arguments, false, true)
		},
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "show the changes, the newest first")
	cmd.Flags().BoolVar(&f.all, "all", false, "take back all changes")
	cmd.Flags().Int64Var(&f.turn, "turn", 0, "take back the changes of the turn with this `id`")
	cmd.MarkFlagsMutuallyExclusive("list", "all", "turn")
	return cmd
}

// arguments are those of the tool file_undo.
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
			return "", usage("undo takes the id of one change, or --turn ID, --all or --list")
		}
		call.ID = id
	}
	text, err := json.Marshal(call)
	return string(text), err
}
