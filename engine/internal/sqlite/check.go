package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// Code is the SQLite result code in err, 0 when there is none.
func Code(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// Errno is the operating system's code in err, 0 when there is none.
func Errno(err error) syscall.Errno {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.SystemErrno
	}
	return 0
}

// Busy reports whether an error says that another process holds the file.
func Busy(err error) bool { return Code(err) == sqlite3.ErrBusy || Code(err) == sqlite3.ErrLocked }

// Corrupt reports whether SQLite says that a file is damaged or no database.
func Corrupt(err error) bool {
	return Code(err) == sqlite3.ErrCorrupt || Code(err) == sqlite3.ErrNotADB
}

// DamagedError says that a file is no database that can be used.
type DamagedError struct {
	Path string
	// Reason completes a sentence about the file: "is gone".
	Reason string
}

func (e *DamagedError) Error() string { return e.Path + " " + e.Reason }

// AsDamage makes a *DamagedError of SQLite's word for damage; other errors stay.
func AsDamage(path string, err error) error {
	if Corrupt(err) {
		return &DamagedError{path, "is damaged: " + err.Error()}
	}
	return err
}

// Damaged reports whether an error says that a file is damaged.
func Damaged(err error) bool {
	var d *DamagedError
	return Corrupt(err) || errors.As(err, &d)
}

// CheckPages runs one of SQLite's two checks. What it finds counts when a new
// connection finds it too.
func CheckPages(ctx context.Context, db *sql.DB, path, check string) error {
	err := checkOnce(ctx, db, path, check)
	if Damaged(err) {
		err = Check(ctx, path, check)
	}
	return err
}

// Check runs a check on a connection of its own.
func Check(ctx context.Context, path, check string) error {
	db, err := Open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return err
	}
	defer db.Close() // nothing is written
	return checkOnce(ctx, db, path, check)
}

func checkOnce(ctx context.Context, db *sql.DB, path, check string) error {
	var result string
	err := db.QueryRowContext(ctx, "PRAGMA "+check+"(1)").Scan(&result)
	switch {
	case err != nil:
		return AsDamage(path, err)
	case result != "ok":
		return &DamagedError{path, "is damaged: " + strings.Join(strings.Fields(result), " ")}
	}
	return nil
}
