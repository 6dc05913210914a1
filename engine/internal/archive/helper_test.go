package archive_test

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

var anna = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 123}}

// folder is an open data directory.
type folder struct {
	*store.Store
	*archive.Archive
}

func open(t testing.TB, dir string) folder {
	t.Helper()
	s, err := openAs(t, config(dir), false)
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

func openAs(t testing.TB, c store.Config, rebuild bool) (folder, error) {
	t.Helper()
	s, a, err := archive.Open(t.Context(), c, rebuild)
	return folder{s, a}, err
}

func config(dir string) store.Config {
	return store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)}
}

func write(t testing.TB, s folder, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Write(context.WithoutCancel(t.Context()), fn); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s folder, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Read(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// history lists the texts of the current session of an address.
func history(t testing.TB, s folder, a store.Address) []string {
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

// count counts rows on a connection of its own.
func count(t testing.TB, s folder, what string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(s.Dir(), "klawbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM " + what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func addUpdate(id int64) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		_, _, err := tx.Inbox().AddUpdate(store.Update{Update: gateway.Update{Channel: "telegram", Bot: 1, ID: id, Kind: "message", Address: anna, Message: id, From: 123, Raw: []byte(`{}`)}})
		return err
	}
}

var nine = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

func news(name string) store.Job {
	return store.Job{
		Kind: store.JobSchedule, Name: name, Cron: "0 9 * * *", Zone: "Europe/Berlin", Misfire: "run_once", Model: "main",
		Message: "the news", Home: store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 7}, Creator: 11,
		Target: store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}, Policy: "{}", Budget: 5000, Origin: "person", NextRun: nine,
	}
}
