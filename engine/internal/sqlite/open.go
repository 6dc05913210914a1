// Package sqlite opens SQLite files, looks after their write-ahead logs, checks them for
// damage and locks the folder that they lie in. It knows no tables.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
)

// walLimit is the size in bytes that the write-ahead log is cut back to after a burst.
const walLimit = 16 << 20

// CreateFile makes the empty database, because SQLite would make it readable
// for everybody. Its other files get the same mode.
func CreateFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenWriter opens the one connection that may write.
func OpenWriter(ctx context.Context, path string) (*sql.DB, error) {
	db, err := Open(path, url.Values{
		"_query_only":   {"false"},
		"_txlock":       {"immediate"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_cache_size":   {"-2048"},
	})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := useWAL(ctx, db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// replicated is the end of the name of the file that says that another program replicates
// a database and makes its checkpoints. One of ours could take away what that program has
// not read yet.
const replicated = "-replicated"

func useWAL(ctx context.Context, db *sql.DB, path string) error {
	if _, err := os.Stat(path + replicated); err == nil {
		if _, err := db.ExecContext(ctx, "PRAGMA wal_autocheckpoint = 0"); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA journal_size_limit = %d", walLimit)); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot keep a write-ahead log (journal mode %s): choose a local data directory", mode)
	}
	return nil
}

// Open opens an existing file, for reading unless the options say otherwise.
func Open(path string, options url.Values) (*sql.DB, error) {
	loadVec()
	q := url.Values{
		"mode":             {"rw"},
		"_query_only":      {"true"},
		"_foreign_keys":    {"true"},
		"_busy_timeout":    {"2000"},
		"_stmt_cache_size": {"192"},
		"_mutex":           {"no"}, // database/sql gives a connection to one goroutine at a time
	}
	maps.Copy(q, options)
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return sql.Open("sqlite3", name.String())
}
