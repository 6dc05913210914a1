package archive_test

import (
	"compress/gzip"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

// someone is who talks in the database of the earlier version.
var someone = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}

// earlier is a data directory of an earlier version: a conversation, a reminder and a
// memory, stopped gracefully. It lacks the steps from 014 on.
func earlier(t *testing.T) (dir, db string) {
	t.Helper()
	dir = t.TempDir()
	db = filepath.Join(dir, "klawbot.db")
	must(t, os.WriteFile(filepath.Join(dir, "instance"), []byte("TCG4GEU2BIO4WCAPQ4B6WU5XYQ\n"), 0o600))
	in, err := os.Open("testdata/before-media.db.gz")
	must(t, err)
	defer in.Close() // it was only read
	unpacked, err := gzip.NewReader(in)
	must(t, err)
	out, err := os.Create(db)
	must(t, err)
	_, err = io.Copy(out, unpacked)
	must(t, err)
	must(t, out.Close())
	return dir, db
}

// steps lists what a database went through; it is not changed.
func steps(t *testing.T, path string) []string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close() // it was only read
	rows, err := db.Query("SELECT name FROM migrations ORDER BY name")
	must(t, err)
	defer rows.Close() // they were only read
	var names []string
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		names = append(names, name)
	}
	must(t, rows.Err())
	return names
}

// kept are the backups from before updates.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "backups", "before-update-*"))
	must(t, err)
	return names
}

// rowsOf is the number of rows of a table.
func rowsOf(t *testing.T, path, table string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close() // it was only read
	must(t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// TestUpdateKeepsDataAndABackup: a database of an earlier version is updated with all
// that it holds. What the earlier version can use again stays in a backup.
func TestUpdateKeepsDataAndABackup(t *testing.T) {
	dir, db := earlier(t)
	was := steps(t, db)
	s := open(t, dir)
	if got := history(t, s, someone); !slices.Equal(got, []string{"say apple", "I say apple"}) {
		t.Errorf("the conversation is %q", got)
	}
	write(t, s, storetest.Say(someone, "after the update"))
	must(t, s.Close())
	all := kept(t, dir)
	if len(all) != 1 {
		t.Fatalf("backups from before the update: %q", all)
	}
	if got := steps(t, all[0]); !slices.Equal(got, was) {
		t.Errorf("the backup has the steps %q, the earlier version has %q", got, was)
	}
	for table, added := range map[string]int{"jobs": 0, "memories": 0, "messages": 1} {
		if before, after := rowsOf(t, all[0], table), rowsOf(t, db, table); before == 0 || after != before+added {
			t.Errorf("%s: %d rows before the update, %d after", table, before, after)
		}
	}
	again := open(t, dir)
	must(t, again.Close())
	if got := kept(t, dir); !slices.Equal(got, all) {
		t.Errorf("a start without an update made %q", got)
	}
}

// TestGoingBackAfterAnUpdate: a version that finds the database of a newer one names the
// backup from before the update, and works with it; the newer database stays.
func TestGoingBackAfterAnUpdate(t *testing.T) {
	dir, db := earlier(t)
	must(t, open(t, dir).Close())
	newer := kept(t, dir)[0]
	// This version is the earlier one now: a newer one adds a step after its own backup.
	mine := filepath.Join(dir, "backups", "before-update-20990101T000000Z.db")
	storetest.Copy(t, db, mine)
	storetest.Raw(t, mine, "UPDATE meta SET value = '0' WHERE key = 'clean'")
	storetest.Raw(t, db, "INSERT INTO migrations VALUES ('999-future', 0)")

	_, _, err := archive.Open(t.Context(), config(dir), false)
	if err == nil || !strings.HasSuffix(err.Error(), "klawbot restore --replace before-update-20990101T000000Z.db") {
		t.Fatalf("Open: %v", err)
	}
	f := archive.Folder{Store: config(dir), Workspace: filepath.Join(dir, "workspace"), Core: filepath.Join(dir, "core.json")}
	if _, err := f.Restore(t.Context(), "before-update-20990101T000000Z.db", false); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Fatalf("Restore over a database: %v", err)
	}
	if _, err := f.Restore(t.Context(), "before-update-20990101T000000Z.db", true); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if got := history(t, s, someone); len(got) != 2 {
		t.Errorf("the conversation is %q", got)
	}
	aside, err := filepath.Glob(db + ".replaced-*")
	must(t, err)
	if len(aside) != 1 || !slices.Contains(steps(t, aside[0]), "999-future") {
		t.Errorf("the newer database is %q", aside)
	}
	all, err := archive.Restorable(dir)
	must(t, err)
	if len(all) != 2 || all[0].Path != mine || all[1].Path != newer {
		t.Errorf("what can be restored is %+v", all)
	}
}

// TestReplaceRefusesAnotherBot: a backup of another data directory never takes the place of
// a database.
func TestReplaceRefusesAnotherBot(t *testing.T) {
	dir, db := earlier(t)
	_, other := used(t)
	before, err := os.ReadFile(db)
	must(t, err)
	if _, err := archive.Restore(t.Context(), dir, other, true); err == nil || !strings.Contains(err.Error(), "another data directory") {
		t.Errorf("Restore: %v", err)
	}
	if after, err := os.ReadFile(db); err != nil || string(after) != string(before) {
		t.Errorf("the database was changed: %v", err)
	}
}

// TestUpdateAfterUpdates keeps the newest three backups.
func TestUpdateAfterUpdates(t *testing.T) {
	dir, _ := earlier(t)
	must(t, os.MkdirAll(filepath.Join(dir, "backups"), 0o700))
	for _, day := range []string{"1", "2", "3"} {
		must(t, os.WriteFile(filepath.Join(dir, "backups", "before-update-2020010"+day+"T000000Z.db"), nil, 0o600))
	}
	must(t, open(t, dir).Close())
	if all := kept(t, dir); len(all) != 3 || strings.HasSuffix(all[0], "20200101T000000Z.db") {
		t.Errorf("the backups are %q", all)
	}
}
