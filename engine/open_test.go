package engine_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"klawbot/engine/data"
	"klawbot/engine/internal/store"
	"klawbot/tools/recall"
)

// older makes the database of a house, as a klawbot before the newest step of the
// schema left it.
func older(t *testing.T, h *house) {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{Dir: h.dir, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, "klawbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"ALTER TABLE approvals DROP COLUMN question",
		"DELETE FROM migrations WHERE name = '011-questions'",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommandsBringAnOlderDatabaseUpToDate(t *testing.T) {
	h := build(t)
	older(t, h)
	d := openData(t, h)
	if all, err := d.Sessions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("sessions: %v, %v", all, err)
	}
}

func TestCommandsLeaveTheDatabaseOfARunningBot(t *testing.T) {
	h := build(t)
	older(t, h)
	lock, err := os.OpenFile(filepath.Join(h.dir, "klawbot.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	c := dataConfig(t, h)
	synctest.Test(t, func(t *testing.T) { // it waits whether the other one is done soon
		if _, err := data.Open(t.Context(), c); !errors.Is(err, store.ErrOlder) {
			t.Errorf("open: %v, want %v", err, store.ErrOlder)
		}
	})
}

// TestCommandsBeginTheDataTogether: of several first commands in an empty folder, one
// makes the database and the others wait for it.
func TestCommandsBeginTheDataTogether(t *testing.T) {
	h := build(t)
	var all sync.WaitGroup
	for range 4 {
		c := dataConfig(t, h)
		all.Go(func() {
			d, err := data.Open(t.Context(), c)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = d.SaveMemory(t.Context(), recall.Entry{Content: "one of four"})
			if err := errors.Join(err, d.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
