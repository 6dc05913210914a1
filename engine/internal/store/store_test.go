package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

var anna = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 123}}

func config(dir string) store.Config {
	return store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)}
}

func open(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), config(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func write(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Write(context.WithoutCancel(t.Context()), fn); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Read(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition of another goroutine or process.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

func update(id int64) store.Update {
	return store.Update{Update: gateway.Update{Channel: "telegram", Bot: 1, ID: id, Kind: "message", Address: anna, Message: id, From: 123, Raw: []byte(`{}`)}}
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data ?#%")
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "hello"))
	for name, want := range map[string]os.FileMode{"": 0o700, "klawbot.db": 0o600, "klawbot.db-wal": 0o600, "klawbot.lock": 0o600, "instance": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := s.Write(t.Context(), storetest.Say(anna, "late")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	s = open(t, dir)
	if got := history(t, s, anna); len(got) != 1 || got[0] != "hello" {
		t.Errorf("history is %q", got)
	}
}

func TestExtensions(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, func(tx *store.Tx) error {
		version, err := tx.Text("SELECT vec_version()")
		if err != nil || !strings.HasPrefix(version, "v") {
			return fmt.Errorf("vec_version is %q: %w", version, err)
		}
		if err := tx.Exec("CREATE VIRTUAL TABLE v USING vec0 (e float[2])"); err != nil {
			return err
		}
		return tx.Exec("CREATE VIRTUAL TABLE f USING fts5 (text)")
	})
	read(t, s, func(tx *store.Tx) error {
		got, err := tx.Text("SELECT vec_distance_l2('[0,0]', '[3,4]')")
		if got != "5" {
			t.Errorf("distance is %s", got)
		}
		return err
	})
}

// TestOneProcessForOneFolder lets no second one in, even after someone deletes the
// lock file, or when the first one is an older klawbot, which locks only that.
func TestOneProcessForOneFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "klawbot.lock")
	s := open(t, dir)
	second := func(want string) {
		t.Helper()
		_, err := store.Open(t.Context(), config(dir))
		if !errors.As(err, new(*sqlite.LockedError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("a second process: %v, want %q", err, want)
		}
		if _, err := archive.Restore(t.Context(), dir, "none.db", false); !errors.As(err, new(*sqlite.LockedError)) {
			t.Errorf("restore: %v", err)
		}
	}
	second(fmt.Sprintf("process %d already runs", os.Getpid()))
	must(t, os.Remove(file))
	second("another process already runs")
	must(t, os.WriteFile(file, nil, 0o600))
	second("another process already runs")
	must(t, s.Close())

	older, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	must(t, syscall.Flock(int(older.Fd()), syscall.LOCK_EX))
	second("already runs")
	must(t, older.Close())
	open(t, dir)
}

func TestPragmas(t *testing.T) {
	s := open(t, t.TempDir())
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "query_only": "0"}
	check := func(tx *store.Tx) error {
		for name, want := range want {
			if got, err := tx.Text("PRAGMA " + name); err != nil || got != want {
				t.Errorf("%s is %s (%v), want %s", name, got, err, want)
			}
		}
		return nil
	}
	write(t, s, check)
	want["query_only"] = "1"
	delete(want, "synchronous")
	read(t, s, check)
	if err := s.Read(t.Context(), storetest.Say(anna, "no")); err == nil {
		t.Error("a read could write")
	}
}

func TestUncleanStopIsChecked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "hello"))
	copied := t.TempDir() // as if the process had died here
	for _, name := range []string{"klawbot.db", "klawbot.db-wal", "instance"} {
		storetest.Copy(t, filepath.Join(dir, name), filepath.Join(copied, name))
	}
	var log storetest.Log
	c := store.Config{Dir: copied, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the check", func() bool { return strings.Contains(log.String(), "checked after an unclean shutdown") })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := log.String()
	if s, err = store.Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if log.String() != before {
		t.Errorf("a clean stop was checked: %s", log.String())
	}
}

func TestDamageIsReported(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, func(tx *store.Tx) error {
		for range 200 {
			if err := storetest.Say(anna, strings.Repeat("long ", 200))(tx); err != nil {
				return err
			}
		}
		return tx.Exec("INSERT INTO meta VALUES ('x', 'y')")
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "klawbot.db")
	markUnclean(t, path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 8192), info.Size()/8192*4096); err != nil {
		t.Fatal(err)
	}
	var log storetest.Log
	s, err = store.Open(t.Context(), store.Config{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	until(t, "the report", func() bool { return strings.Contains(log.String(), "level=ERROR") })
}

// history lists the texts of the current session of an address.
func history(t testing.TB, s *store.Store, a store.Address) []string {
	t.Helper()
	var texts []string
	read(t, s, func(tx *store.Tx) error {
		current, err := tx.Sessions().Session(a)
		if err != nil {
			return err
		}
		all, err := tx.Sessions().History(current.ID, 1000)
		for _, m := range all {
			texts = append(texts, m.Body.PlainText())
		}
		return err
	})
	return texts
}
