package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
)

func markUnclean(t *testing.T, path string) {
	t.Helper()
	storetest.Raw(t, path, "UPDATE meta SET value = '0' WHERE key = 'clean'")
}

// used is a data directory with a message in it, closed.
func used(t *testing.T) (dir, db string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "klawbot.db")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNeverSilentlyEmpty(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, dir, db string)
		want  string
	}{
		"gone":        {func(t *testing.T, _, db string) { must(t, os.Remove(db)) }, "is gone, but this data directory was used before"},
		"zero length": {func(t *testing.T, _, db string) { must(t, os.Truncate(db, 0)) }, "is empty, but this data directory was used before"},
		"text": {func(t *testing.T, _, db string) {
			must(t, os.WriteFile(db, []byte(strings.Repeat("no database ", 100)), 0o600))
		}, "not a klawbot database"},
		"cut short": {func(t *testing.T, _, db string) { must(t, os.Truncate(db, 1000)) }, "klawbot.db"},
		"foreign": {func(t *testing.T, _, db string) {
			must(t, os.Remove(db))
			storetest.Raw(t, db, "CREATE TABLE other (x)")
		}, "not a klawbot database"},
		"swapped": {func(t *testing.T, _, db string) {
			_, other := used(t)
			storetest.Copy(t, other, db)
		}, "not the database that belongs here"},
		"newer": {func(t *testing.T, _, db string) {
			storetest.Raw(t, db, "INSERT INTO migrations VALUES ('999-future', 0)")
		}, "newer klawbot"},
		"foreign in a new folder": {func(t *testing.T, dir, db string) {
			must(t, os.Remove(db))
			must(t, os.Remove(filepath.Join(dir, "instance")))
			storetest.Raw(t, db, "CREATE TABLE other (x)")
		}, "not a klawbot database"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, db := used(t)
			test.spoil(t, dir, db)
			before, _ := os.ReadFile(db) // may be gone
			for range 2 {
				_, _, err := archive.Open(t.Context(), config(dir), false)
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), db) {
					t.Fatalf("Open: %v, want %q and the path", err, test.want)
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("the error has more than one line: %v", err)
				}
			}
			if after, _ := os.ReadFile(db); string(after) != string(before) {
				t.Error("Open changed the file")
			}
		})
	}
}

// TestOpenLeavesNoEmptyFile holds what the check of the size relies on.
func TestOpenLeavesNoEmptyFile(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if info, err := os.Stat(filepath.Join(dir, "klawbot.db")); err != nil || info.Size() == 0 {
		t.Errorf("the database of an open store is empty: %v", err)
	}
}

func TestStartAfterAnyCrashOfTheFirstStart(t *testing.T) {
	t.Run("file made", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "klawbot.db"), nil, 0o600))
		write(t, open(t, dir), storetest.Say(anna, "hello"))
	})
	t.Run("instance not written", func(t *testing.T) {
		dir, db := used(t)
		must(t, os.Remove(filepath.Join(dir, "instance")))
		s := open(t, dir)
		if got := history(t, s, anna); len(got) != 1 {
			t.Errorf("history is %q", got)
		}
		must(t, s.Close())
		must(t, os.Remove(db))
		if _, err := store.Open(t.Context(), config(dir)); err == nil {
			t.Error("the instance file was not written again")
		}
	})
	t.Run("id not stored", func(t *testing.T) {
		dir, db := used(t)
		must(t, os.Remove(filepath.Join(dir, "instance")))
		storetest.Raw(t, db, "DELETE FROM meta")
		write(t, open(t, dir), storetest.Say(anna, "again"))
	})
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := store.Open(t.Context(), config(dir))
	var locked *sqlite.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Dir != dir {
		t.Fatalf("second Open: %v", err)
	}
	for _, want := range []string{strconv.Itoa(os.Getpid()), dir, "stop it first"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	must(t, s.Close())
	write(t, open(t, dir), storetest.Say(anna, "free again"))
}

func TestLockIsReleasedWhenOpenFails(t *testing.T) {
	dir, db := used(t)
	must(t, os.Rename(db, db+".away"))
	if _, err := store.Open(t.Context(), config(dir)); err == nil {
		t.Fatal("Open without its database")
	}
	must(t, os.Rename(db+".away", db))
	if got := history(t, open(t, dir), anna); len(got) != 1 {
		t.Errorf("history is %q", got)
	}
}

func TestOpenBeside(t *testing.T) {
	dir := t.TempDir()
	bot := open(t, dir)
	write(t, bot, storetest.Say(anna, "from the bot"))
	version := func() int64 {
		t.Helper()
		v, err := bot.DataVersion(t.Context())
		must(t, err)
		return v
	}
	before := version()
	write(t, bot, storetest.Say(anna, "own"))
	if got := version(); got != before {
		t.Errorf("own writes changed the version from %d to %d", before, got)
	}
	command, err := store.OpenBeside(t.Context(), config(dir))
	must(t, err)
	write(t, command, storetest.Say(anna, "from the command"))
	if got := version(); got == before {
		t.Error("the command's write did not change the version")
	}
	must(t, archive.Of(command).WriteLog(t.Context()))
	if _, err := os.Stat(filepath.Join(dir, "conversations")); err == nil {
		t.Error("the log was written beside the bot")
	}
	must(t, command.Close())
	if got := history(t, bot, anna); len(got) != 3 || got[2] != "from the command" {
		t.Errorf("history is %q", got)
	}
	if clean := metaText(t, bot, "clean"); clean != "0" {
		t.Errorf("clean is %q while the bot runs", clean)
	}
}

func metaText(t *testing.T, s *store.Store, key string) (value string) {
	t.Helper()
	read(t, s, func(tx *store.Tx) (err error) {
		value, err = tx.Text("SELECT value FROM meta WHERE key = ?", key)
		return err
	})
	return value
}

func TestOpenBesideRefuses(t *testing.T) {
	empty := t.TempDir()
	_, err := store.OpenBeside(t.Context(), config(empty))
	if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "klawbot init") {
		t.Errorf("empty folder: %v", err)
	}
	if entries, _ := os.ReadDir(empty); len(entries) > 0 {
		t.Errorf("OpenBeside made %v", entries)
	}
	for statement, want := range map[string]string{
		"INSERT INTO migrations VALUES ('999-future', 0)": "was written by a newer klawbot (it has 999-future): use that version",
		"DELETE FROM migrations":                          store.ErrOlder.Error(),
	} {
		t.Run(statement, func(t *testing.T) {
			dir, db := used(t)
			storetest.Raw(t, db, statement)
			if _, err := store.OpenBeside(t.Context(), config(dir)); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("OpenBeside: %v", err)
			}
		})
	}
	dir, db := used(t)
	must(t, os.Truncate(db, 0))
	if _, err := store.OpenBeside(t.Context(), config(dir)); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("zero length: %v", err)
	}
}

func TestOpenNamesAFolderThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := store.Open(t.Context(), config(filepath.Join(file, "data"))); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Open: %v", err)
	}
}
