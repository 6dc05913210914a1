package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/modeltest"
)

// spoil writes noise over a page of the database that the bot seldom reads, while
// the bot runs.
func (h *house) spoil() {
	h.t.Helper()
	name := filepath.Join(h.dir, "klawbot.db")
	db, err := sql.Open("sqlite3", name)
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	var busy, in, out, page int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &in, &out); err != nil || busy != 0 {
		h.t.Fatalf("checkpoint: busy %d, %v", busy, err)
	}
	if err := db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'mcp_tools' OR name = 'changes' LIMIT 1").Scan(&page); err != nil {
		h.t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("noise", 819)), int64(page-1)*4096); err != nil {
		h.t.Fatal(err)
	}
}

// reads waits until a chat shows a text that begins so, and returns it.
func (h *house) reads(chat int64, begin string) (text string) {
	h.t.Helper()
	if !h.messenger.wait(10*time.Second, func() bool {
		all := h.messenger.texts(chat)
		i := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, begin) })
		if i >= 0 {
			text = all[i]
		}
		return i >= 0
	}) {
		h.t.Fatalf("chat %d shows %q, want %q", chat, h.messenger.texts(chat), begin)
	}
	return text
}

// TestADamagedDatabaseTakesNoMessages damages the database of a bot that runs and
// has one message without an answer.
func TestADamagedDatabaseTakesNoMessages(t *testing.T) {
	t.Parallel() // it mostly waits
	h := build(t)
	h.settings.Backup.Every, h.settings.Backup.Keep = time.Hour, 3
	release := make(chan struct{})
	defer func() { close(release) }()
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if said(r) == "stuck" {
			<-release
		}
		return modeltest.Text("re: " + said(r))
	})
	h.start()
	h.says(alice, "hello")
	if all, err := archive.Backups(h.dir); err != nil || len(all) != 1 {
		t.Fatalf("with the first message acknowledged there are the backups %v, %v", all, err)
	}
	h.shows(alice, "re: hello")
	h.says(bob, "stuck")
	h.shows(bob, "…")
	h.spoil()
	h.says(alice, "/doctor")
	h.reads(alice, "```\n✗ database: ")
	late := h.next(gateway.Message{Address: private(bob), Sender: gateway.Sender{ID: bob}, Text: "late"})
	for range 2 {
		if err := h.engine.Accept(context.Background(), []gateway.Update{late}); err == nil {
			t.Fatal("a message was acknowledged")
		}
	}
	// The damage may have been noticed before /doctor had its answer.
	if text := h.reads(alice, "My database is damaged"); !regexp.MustCompile(`without an answer: [12]\.`).MatchString(text) || !strings.Contains(text, "`klawbot run`") {
		t.Errorf("the owner reads %q", text)
	}
	if s, err := h.engine.Status(t.Context()); err != nil || s.Healthy || !slices.Contains(s.Faults, "database: damaged") {
		t.Errorf("the status is %+v, %v", s, err)
	}
	h.reads(bob, "Can't save messages right now")

	h.restart()
	if text := h.reads(alice, "My database was damaged"); !strings.Contains(text, "without an answer: 1.") {
		t.Errorf("the owner reads %q", text)
	}
	h.reads(bob, "My database was damaged, and I lost messages from you before I answered (1).")
	if slices.Contains(h.messenger.texts(bob), "…") {
		t.Errorf("the placeholder stays: %q", h.messenger.texts(bob))
	}
	h.accept(late)
	h.reads(bob, "re: late")
	told := 0
	for _, text := range h.messenger.texts(alice) {
		if strings.HasPrefix(text, "My database is damaged") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the owner was told %d times: %q", told, h.messenger.texts(alice))
	}
}

// TestWhatWasSettledMeanwhileHasNothingBesideIt ends a row of the outbox while the
// messenger refuses it. The refusal would take the placeholder away.
func TestWhatWasSettledMeanwhileHasNothingBesideIt(t *testing.T) {
	h := build(t)
	h.slowEcho()
	h.messenger.fail = func(call string) *gateway.SendError {
		if !strings.HasPrefix(call, "edit telegram_11 1 re: hello") {
			return nil
		}
		st, err := store.OpenBeside(t.Context(), store.Config{Dir: h.dir, Log: slog.New(slog.DiscardHandler)})
		if err == nil {
			err = st.Write(t.Context(), func(tx *store.Tx) error {
				o, err := tx.Outbox().OutNamed("turn/1/0")
				o.State = store.OutboxDead
				return errors.Join(err, tx.Outbox().UpdateOut(o))
			})
			err = errors.Join(err, st.Close())
		}
		if err != nil {
			t.Error(err)
		}
		return &gateway.SendError{Kind: gateway.Rejected, Err: errors.New("can't parse entities")}
	}
	h.start().says(alice, "hello")
	h.until("the edit was refused", func() bool { return strings.Contains(h.logs.String(), "reply not out") })
	h.says(bob, "hello")
	h.shows(bob, "re: hello")
	h.until("nothing waits", func() bool { s, err := h.engine.Status(t.Context()); return err == nil && s.Outbox.Waiting == 0 })
	h.shows(alice, "…")
}

// TestTheOwnerHearsOfARestoreThatEndedTooEarly: the process ends after a backup has
// taken the place of the damaged database and before anybody was told.
func TestTheOwnerHearsOfARestoreThatEndedTooEarly(t *testing.T) {
	h := build(t)
	h.echo()
	h.start().says(alice, "one")
	h.shows(alice, "re: one")
	h.end()
	alone := func(do func(*archive.Archive) error) {
		s, beside, err := archive.Open(t.Context(), store.Config{Dir: h.dir, Log: slog.New(slog.DiscardHandler)}, false)
		if err == nil {
			err = errors.Join(do(beside), s.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	alone(func(a *archive.Archive) error { _, err := a.BackupNow(t.Context(), 1); return err })
	if err := os.Truncate(filepath.Join(h.dir, "klawbot.db"), 0); err != nil {
		t.Fatal(err)
	}
	alone(func(a *archive.Archive) error {
		if a.Recovered() == nil {
			return errors.New("nothing was restored")
		}
		return nil
	})
	h.start().reads(alice, "My database was damaged. I restored the backup of 20")
	h.restart()
	h.says(alice, "two")
	h.reads(alice, "re: two")
	told := 0
	for _, text := range h.messenger.texts(alice) {
		if strings.HasPrefix(text, "My database was damaged") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the owner was told %d times: %q", told, h.messenger.texts(alice))
	}
}
