package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/engine/data"
	"klawbot/internal/advice"
)

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Back up the database, core memory and workspace, also while the bot runs",
		Long:  "Writes a .tar.gz for klawbot restore. The configuration isn't included, because it contains secrets.",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.engineConfig()
			if err != nil {
				return err
			}
			done, err := data.BackUp(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s: the database, verified, and %d files of the workspace%s; keep config.yaml yourself\n", args[0], done.Files, leftOut(done))
			return err
		},
	}
}

func restoreCommand(a *app) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore [FILE]",
		Short: "Restore a backup, or list the automatic ones",
		Long: `Restores a file from klawbot backup into a data directory that has no database yet, or an automatic backup (database
only). Without FILE it lists the automatic backups, and those from before updates.

--replace puts an automatic backup in the place of the database while the bot is stopped. The database stays beside it
as klawbot.db.replaced-TIME; the workspace and the files that people sent stay as they are.`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.engineConfig()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listBackups(a.stdout, c.Dir, c.Settings().Zone())
			}
			done, err := data.Restore(cmd.Context(), c, args[0], replace)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%d files of the workspace%s", done.Files, leftOut(done))
			if replace {
				what = "the one before it is kept as klawbot.db.replaced-TIME"
			}
			_, err = fmt.Fprintf(a.stdout, advice.Text("%s: the database, verified, and %s; klawbot run starts the bot\n"), c.Dir, what)
			if err == nil && done.Dropped > 0 {
				_, err = fmt.Fprintf(a.stdout, "messages that waited when the backup was made and are not answered again: %d\n", done.Dropped)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the database by an automatic backup")
	return cmd
}

// listBackups lists what klawbot restore --replace takes.
func listBackups(w io.Writer, dir string, zone *time.Location) error {
	all, err := data.Restorable(dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := fmt.Fprintf(w, "no automatic backups in %s\n", filepath.Join(dir, "backups"))
		return err
	}
	for _, b := range all {
		fmt.Fprintf(w, "%-38s  %s  %9s\n", filepath.Base(b.Path), b.At.In(zone).Format("2006-01-02 15:04"), terminal.Megabytes(b.Size))
	}
	_, err = fmt.Fprintln(w, "To go back to one, stop the bot and run: klawbot restore --replace FILE")
	return err
}

func leftOut(done data.Archived) string {
	if done.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d links and other special files left out)", done.LeftOut)
}

// engineConfig is as much of the engine's configuration as commands need that
// have nothing to do with channels.
func (a *app) engineConfig() (engine.Base, error) {
	l, f, err := a.openFolders()
	if err != nil {
		return engine.Base{}, err
	}
	return a.botConfig(l, f, bot.NewLog(a.stderr, l, a.redact, slog.LevelDebug)).Bare(), nil
}

func reindexCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the search index from the conversation logs",
		Long: `Reads the conversation logs of the data directory (conversations/*/*.jsonl), the memories and the memory files, and
builds new messages and a new search index. The old ones stay in use until the new ones are complete: when the
command is interrupted, nothing has changed. The bot must not run at the same time. What only the database knows of
the end of a conversation is kept. Until the bot runs again and has read all of it, klawbot uses keyword search.

A database that cannot be read is replaced first: by the newest good backup, or, when there is none, by a new one. A
new one has the conversations and nothing else: schedules, reminders, memories and approvals are lost. When that is
interrupted, run it again.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.engineConfig()
			if err != nil {
				return err
			}
			bar := terminal.NewBar(a.stderr)
			done, err := data.Reindex(cmd.Context(), c, func(read, all int64) {
				if !asJSON {
					bar.Show("conversations", read, all)
				}
			})
			bar.End()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(done)
			}
			return sayReindexed(a.stdout, done)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the numbers as JSON")
	return cmd
}

func sayReindexed(w io.Writer, done data.Reindexed) error {
	switch {
	case done.Damaged == "":
	case done.Backup != "":
		fmt.Fprintf(w, "the database was damaged; the backup %s is in its place\n", done.Backup)
	default:
		fmt.Fprintln(w, "the database was damaged and there is no good backup: it is a new one now, without the schedules, reminders, memories and approvals of the old one")
	}
	_, err := fmt.Fprintf(w, "%s in %s, %s: found by their words now, by meaning when the bot runs and has read them\n",
		terminal.Plural(done.Messages, "message", "messages"), terminal.Plural(done.Chats, "conversation", "conversations"), terminal.Plural(done.Memories, "memory", "memories"))
	if err == nil && done.Kept > 0 {
		_, err = fmt.Fprintf(w, "%s kept that no log had\n", terminal.Plural(done.Kept, "message", "messages"))
	}
	if err == nil && done.Skipped > 0 {
		_, err = fmt.Fprintf(w, "%s skipped that are no records:\n", terminal.Plural(done.Skipped, "line", "lines"))
	}
	for _, fault := range done.Faults {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %s\n", fault)
		}
	}
	return err
}
