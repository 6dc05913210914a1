package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/condition"
	"klawbot/internal/atomicfile"
)

// applicationID marks a SQLite file as klawbot's: "klaw". The first migration
// writes it.
const applicationID = 0x6b6c6177

// instance guards the pair of the database and the file "instance" beside it,
// which hold the same random id. The file is written after the database has its
// first schema, so where it is the database must have content: a database that
// vanished, was cut to nothing or was swapped is noticed and never replaced by
// an empty one.
type instance struct {
	file string // <dir>/instance
	db   string // <dir>/klawbot.db
}

func newInstance(dir string) instance {
	return instance{file: filepath.Join(dir, "instance"), db: filepath.Join(dir, "klawbot.db")}
}

// id reads the file; "" when there is none.
func (i instance) id() (string, error) {
	text, err := os.ReadFile(i.file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if id == "" {
		return "", fmt.Errorf("%s is empty: remove it to take over the database beside it", i.file)
	}
	return id, nil
}

// Instance is the random id of a data directory, "" when it has none.
func Instance(dir string) (string, error) { return newInstance(dir).id() }

// inspect looks at the database before anything is changed. fresh says that
// there is none and that there never was one.
func (i instance) inspect(ctx context.Context) (fresh bool, err error) {
	id, err := i.id()
	if err != nil {
		return false, err
	}
	file, err := os.Stat(i.db)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return i.nothing(id, "is gone")
	case err != nil:
		return false, err
	case file.Size() == 0:
		// SQLite would delete the write-ahead log of an empty file, which may
		// hold all that is left.
		return i.nothing(id, "is empty")
	}
	db, err := sqlite.Open(i.db, nil)
	if err != nil {
		return false, err
	}
	defer db.Close()            // nothing was written
	_ = sqlite.KeepWAL(ctx, db) // what is wrong with the file is said next
	return i.identify(ctx, db, id)
}

func (i instance) identify(ctx context.Context, db *sql.DB, id string) (fresh bool, err error) {
	var application, tables int
	var meta bool
	err = db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema), (SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'meta')`).Scan(&application, &tables, &meta)
	switch {
	case sqlite.Corrupt(err):
		return false, &sqlite.DamagedError{Path: i.db, Reason: fmt.Sprintf("is damaged or not a klawbot database (%v)", err)}
	case err != nil:
		return false, condition.Explain(i.db, err)
	case application == 0 && tables == 0:
		return i.nothing(id, "is empty")
	case application != applicationID:
		return false, fmt.Errorf("%s is not a klawbot database: move it away, or choose another data directory", i.db)
	case !meta:
		return false, &sqlite.DamagedError{Path: i.db, Reason: "lacks its tables"}
	}
	inside, err := getMeta(ctx, db, "instance")
	if err != nil {
		return false, err
	}
	if id != "" && id != inside {
		return false, fmt.Errorf("%s is not the database that belongs here: put the right one back, or remove %s to take this one over", i.db, i.file)
	}
	return false, nil
}

// nothing is the verdict on a database without content: fresh in a new folder,
// an error where there was one before.
func (i instance) nothing(id, how string) (fresh bool, err error) {
	if id == "" {
		return true, nil
	}
	return false, &sqlite.DamagedError{Path: i.db, Reason: fmt.Sprintf("%s, but this data directory was used before: put it back, or remove %s to start empty", how, i.file)}
}

// pair makes the database and the file hold the same id.
func (i instance) pair(ctx context.Context, db *sql.DB) error {
	id, err := getMeta(ctx, db, "instance")
	if err != nil {
		return err
	}
	if id == "" {
		id = rand.Text()
		if err := setMeta(db, "instance", id); err != nil {
			return err
		}
	}
	if have, err := i.id(); err != nil || have == id {
		return err
	}
	// A database that came from another host has messages that the logs here lack.
	if _, err := db.ExecContext(ctx, `UPDATE messages SET logged = 0`); err != nil {
		return err
	}
	return atomicfile.Write(i.file, []byte(id+"\n"), 0o600)
}

// getMeta reads a fact about the database itself; "" when it is not there.
func getMeta(ctx context.Context, db *sql.DB, key string) (string, error) {
	var value string
	err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if err == sql.ErrNoRows {
		return "", nil
	}
	return value, err
}

func setMeta(db *sql.DB, key, value string) error {
	_, err := db.Exec("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
	return err
}
