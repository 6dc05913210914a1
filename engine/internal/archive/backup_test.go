package archive_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

func TestBackupOfAWorkingStore(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, storetest.Say(anna, "before"))
	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan error, 1)
	go func() {
		for n := int64(0); ctx.Err() == nil; n++ {
			if err := s.Write(context.Background(), addUpdate(n)); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	file := filepath.Join(t.TempDir(), "copy.db")
	must(t, s.Backup(t.Context(), file))
	stop()
	must(t, <-wrote)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v, want it to be the owner's alone", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup to the same file: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "fresh")
	if _, err := archive.Restore(t.Context(), dir, file, false); err != nil {
		t.Fatal(err)
	}
	if got := history(t, open(t, dir), anna); !slices.Equal(got, []string{"before"}) {
		t.Errorf("history is %q", got)
	}
}

func TestBackupThatFailsLeavesNothing(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(ctx, file); err == nil {
		t.Fatal("a cancelled backup succeeded")
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is there: %v", err)
	}
}

func TestBackupNowRotates(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	folder := filepath.Join(dir, "backups")
	must(t, os.MkdirAll(folder, 0o700))
	for _, name := range []string{"klawbot-20200101T000000Z.db", "klawbot-20200102T000000Z.db", "klawbot-20200103T000000Z.db.part", "mine.db"} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte("old"), 0o600))
	}
	made, err := s.BackupNow(t.Context(), 2)
	must(t, err)
	var names []string
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"klawbot-20200102T000000Z.db", filepath.Base(made.Path), "mine.db"}; !slices.Equal(names, want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
	all, err := archive.Backups(dir)
	must(t, err)
	if len(all) != 2 || all[0] != made || made.Size == 0 || time.Since(made.At) > time.Minute {
		t.Errorf("backups are %+v, the new one is %+v", all, made)
	}
}

func TestChangedSince(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, storetest.Say(anna, "hello"))
	if !s.ChangedSince(time.Now().Add(-time.Minute)) {
		t.Error("the write is not seen")
	}
	later := time.Now().Add(time.Minute)
	if s.ChangedSince(later) {
		t.Error("a change of the future is seen")
	}
}

func TestRestoreWantsAFreshFolder(t *testing.T) {
	dir, db := used(t)
	fresh := t.TempDir()
	for name, c := range map[string]struct {
		dir, backup, want string
	}{
		"used folder": {dir, db, "already exists"},
		"no file":     {fresh, filepath.Join(fresh, "none.db"), "no such file"},
		"no database": {fresh, filepath.Join(dir, "instance"), "damaged"},
	} {
		if _, err := archive.Restore(t.Context(), c.dir, c.backup, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	entries, err := os.ReadDir(fresh)
	must(t, err)
	for _, e := range entries {
		if e.Name() != "klawbot.lock" {
			t.Errorf("a failed restore left %s", e.Name())
		}
	}
	s := open(t, fresh)
	if _, err := archive.Restore(t.Context(), fresh, db, false); !errors.As(err, new(*sqlite.LockedError)) {
		t.Errorf("restore below a running bot: %v", err)
	}
	must(t, s.Close())
}

// TestRestoredWork holds that what a running bot did after the backup is not
// done a second time, and that a stopped bot's work goes on.
func TestRestoredWork(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, addUpdate(7))
	write(t, s, func(tx *store.Tx) error {
		return tx.Outbox().AddOut(store.Out{Key: "a/0", Address: anna, Body: []byte("{}")})
	})
	write(t, s, func(tx *store.Tx) error {
		id, err := tx.Jobs().AddJob(news("news"))
		if err == nil {
			_, err = tx.Runs().ClaimRun(store.Run{Job: id, ScheduledAt: nine})
		}
		return err
	})
	running := filepath.Join(t.TempDir(), "running.db")
	must(t, s.Backup(t.Context(), running))
	must(t, s.Close())
	for name, c := range map[string]struct {
		file          string
		dropped, left int
	}{
		"running": {running, 1, 0},
		"stopped": {filepath.Join(dir, "klawbot.db"), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := t.TempDir()
			dropped, err := archive.Restore(t.Context(), fresh, c.file, false)
			must(t, err)
			r := open(t, fresh)
			read(t, r, func(tx *store.Tx) error {
				in, err := tx.Inbox().InboxDepth()
				must(t, err)
				out, err := tx.Outbox().OutboxDepth()
				if dropped != c.dropped || in.Waiting != c.left || out.Waiting != c.left {
					t.Errorf("%d dropped, %d in and %d out wait, want %d and %d", dropped, in.Waiting, out.Waiting, c.dropped, c.left)
				}
				runs, err2 := tx.Runs().OpenRuns()
				j, err3 := tx.Jobs().JobNamed("news")
				if len(runs) != c.left || j.NextRun.IsZero() == (c.left == 1) || j.State != store.JobOn {
					t.Errorf("%d runs wait, the job is due %v", len(runs), j.NextRun)
				}
				return errors.Join(err, err2, err3)
			})
			// The messenger may deliver the update again: it is known.
			write(t, r, func(tx *store.Tx) error {
				_, added, err := tx.Inbox().AddUpdate(store.Update{Update: gateway.Update{Channel: "telegram", Bot: 1, ID: 7, Address: anna}})
				if added {
					t.Error("the update counts as new")
				}
				return err
			})
		})
	}
}

func TestRestoredLogsAreWrittenAgain(t *testing.T) {
	dir, db := used(t)
	_ = dir
	fresh := t.TempDir()
	_, err := archive.Restore(t.Context(), fresh, db, false)
	must(t, err)
	s := open(t, fresh)
	must(t, s.WriteLog(t.Context()))
	files, err := filepath.Glob(filepath.Join(fresh, "conversations", "*", "*.jsonl"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("logs are %q", files)
	}
	if text, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(text), "hello") {
		t.Errorf("the log holds %s, %v", text, err)
	}
}
