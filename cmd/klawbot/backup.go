package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/engine"
)

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a verified backup of the database, the core memory and the workspace, also while the bot runs",
		Long:  "Writes a .tar.gz that klawbot restore makes a data folder from. The configuration is not in it, because it holds secrets.",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.engineConfig()
			if err != nil {
				return err
			}
			done, err := engine.BackUp(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s: the database, verified, and %d files of the workspace%s; keep config.yaml yourself\n", args[0], done.Files, leftOut(done))
			return err
		},
	}
}

func restoreCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data folder from a backup",
		Long:  "Takes what klawbot backup wrote, or an automatic backup, which holds the database only. The data folder must not have a database yet.",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.engineConfig()
			if err != nil {
				return err
			}
			done, err := engine.Restore(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s: the database, verified, and %d files of the workspace%s; klawbot run starts the bot\n", c.Dir, done.Files, leftOut(done))
			if err == nil && done.Dropped > 0 {
				_, err = fmt.Fprintf(a.stdout, "messages that waited when the backup was made and are not answered again: %d\n", done.Dropped)
			}
			return err
		},
	}
}

func leftOut(done engine.Archived) string {
	if done.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d links and other special files left out)", done.LeftOut)
}

// engineConfig is as much of the engine's configuration as commands need that
// have nothing to do with channels.
func (a *app) engineConfig() (engine.Config, error) {
	l, f, err := a.openFolders()
	if err != nil {
		return engine.Config{}, err
	}
	return a.botConfig(l, f, bot.NewLog(a.stderr, l, a.redact)).Bare(), nil
}
