package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
)

// Reindexed is what Reindex did.
type Reindexed struct {
	// Messages are those that the database has now, in so many Chats; Kept are
	// those of them that no log had.
	Messages int `json:"messages"`
	Chats    int `json:"chats"`
	Kept     int `json:"kept"`
	// Resets are the beginnings of new conversations.
	Resets int `json:"resets"`
	// Memories are those that were indexed again.
	Memories int `json:"memories"`
	// Skipped counts invalid lines; Faults names some of them.
	Skipped int      `json:"skipped"`
	Faults  []string `json:"faults,omitempty"`
	// Damaged is what was wrong with the database, empty when nothing was. Then
	// Backup is the backup that was taken in its place, empty for a new database.
	Damaged string `json:"damaged,omitempty"`
	Backup  string `json:"backup,omitempty"`
}

// Reindex rebuilds the messages and the search index from the conversation logs, the
// memories and the memory files. Nothing else may run with
// the data directory. A kill leaves everything as it was; after a damaged database was
// replaced it leaves the backup, or a new database, until Reindex runs again, and the
// bot tells the owner so at its next start. progress is told how many
// bytes of the logs are read; nil is not. Vectors are the running bot's to make.
//
// A database that cannot be read is replaced by the newest good backup, or by a new
// one, before the logs are read.
func Reindex(ctx context.Context, c Config, progress func(done, all int64)) (Reindexed, error) {
	done, err := reindex(ctx, c, progress)
	if store.Damaged(err) {
		// It is found damaged on the way; the next start checks all of it.
		done, err = reindex(ctx, c, progress)
	}
	return done, err
}

func reindex(ctx context.Context, c Config, progress func(done, all int64)) (done Reindexed, err error) {
	if err := hasData(c.Dir); err != nil {
		return done, err
	}
	st, beside, err := archive.Open(ctx, c.Store(), true)
	if locked, ok := errors.AsType[*sqlite.LockedError](err); ok {
		return done, fmt.Errorf("%s runs klawbot with the data directory %s: stop the bot first", locked.Who(), locked.Dir)
	}
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	size := memory.ChunkSize{Size: c.Settings().Memory.ChunkSize, Overlap: c.Settings().Memory.ChunkOverlap}
	r, err := beside.Reindex(ctx, archive.Reindexing{
		Message: func(tx *store.Tx, m store.Said) error {
			if !recall.Findable(m.Address) {
				return nil
			}
			return memory.AddMessages(tx, []store.Said{m}, size)
		},
		Memories: func(tx *store.Tx, some []store.Memory) error { return memory.IndexAll(tx, some, size) },
		Progress: func(read, all int64) {
			lifecycle.CrashPoint("reindex.read")
			if progress != nil {
				progress(read, all)
			}
		},
		Ready: func() { lifecycle.CrashPoint("reindex.ready") },
	})
	done = Reindexed{Messages: r.Messages, Chats: r.Chats, Kept: r.Kept, Resets: r.Breaks, Memories: r.Memories, Skipped: r.Skipped, Faults: r.Faults}
	if was := beside.Recovered(); was != nil {
		done.Damaged, done.Backup = was.Reason, was.Backup.Path
	}
	if err != nil {
		return done, err
	}
	lifecycle.CrashPoint("reindex.done")
	if err := beside.RecoveryTold(); err != nil {
		return done, err
	}
	files := memory.Files{Workspace: c.Workspace, Size: func() memory.ChunkSize { return size }}
	if _, err := files.Refresh(ctx, st); err != nil {
		return done, fmt.Errorf("read the memory files: %w", err)
	}
	return done, beside.WriteLog(ctx)
}

// hasData reports a folder that no bot has used.
func hasData(dir string) error {
	for _, name := range []string{"klawbot.db", "conversations"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return noData(dir)
}
