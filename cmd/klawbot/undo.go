package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
	"klawbot/tools"
)

// undoFlags say what klawbot undo shall take back.
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
		Short: "Take back changes of files that tools made",
		Long:  "Takes back the newest change of a file in the workspace, the one with an id, or more; also while the bot runs.\nA file that somebody else has changed since is left alone. An undo can be undone by its own id.",
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
	return a.withWorkspace(ctx, func(_ *config.Live, _ config.Folders, d *engine.Data) error {
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
			return "", errUndo
		}
		call.ID = id
	}
	text, err := json.Marshal(call)
	return string(text), err
}
