package store

import (
	"context"
	"database/sql"
	"net/url"
	"slices"
	"strings"
)

// DamagedError says that a file is no database that can be used.
type DamagedError struct {
	Path string
	// Reason completes a sentence about the file: "is gone".
	Reason string
}

func (e *DamagedError) Error() string { return e.Path + " " + e.Reason }

// asDamage makes a *DamagedError of SQLite's word for damage; other errors stay.
func asDamage(path string, err error) error {
	if stateOf(err) == StateDamaged {
		return &DamagedError{path, "is damaged: " + err.Error()}
	}
	return err
}

// Check reads the whole database and reports damage as a *DamagedError. It asks a
// new connection: an older one may remember a full-text index that has changed
// since, which looks like damage.
func (s *Store) Check(ctx context.Context) error {
	err := checkAgain(ctx, s.path, "quick_check")
	if Damaged(err) {
		err = checkAgain(ctx, s.path, "quick_check")
	}
	if Damaged(err) {
		s.condition.damaged(err)
	}
	return err
}

// Verify checks a file as verify does.
func Verify(ctx context.Context, path string) error {
	db, err := openDB(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return err
	}
	defer db.Close() // nothing is written
	return verify(ctx, db, path, "")
}

// verify checks that an open file is an undamaged klawbot database that this
// program can use, of the given instance unless that is empty.
func verify(ctx context.Context, db *sql.DB, path, instance string) error {
	var application int
	err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application)
	switch {
	case err != nil:
		return asDamage(path, err)
	case application != applicationID:
		return &DamagedError{path, "is no klawbot database"}
	}
	if err := checkPages(ctx, db, path, "integrity_check"); err != nil {
		return err
	}
	known, err := migrationNames()
	if err != nil {
		return err
	}
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return asDamage(path, err)
	}
	for _, name := range applied {
		if !slices.Contains(known, name) {
			return &DamagedError{path, "was written by a newer klawbot (it has " + name + ")"}
		}
	}
	inside, err := getMeta(ctx, db, "instance")
	switch {
	case err != nil:
		return asDamage(path, err)
	case inside == "":
		return &DamagedError{path, "is empty"}
	case instance != "" && instance != inside:
		return &DamagedError{path, "belongs to another data folder"}
	}
	return nil
}

// checkPages runs one of SQLite's two checks. What it finds counts when a new
// connection finds it too.
func checkPages(ctx context.Context, db *sql.DB, path, check string) error {
	err := checkOnce(ctx, db, path, check)
	if Damaged(err) {
		err = checkAgain(ctx, path, check)
	}
	return err
}

// checkAgain runs a check on a connection of its own.
func checkAgain(ctx context.Context, path, check string) error {
	db, err := openDB(path, url.Values{"mode": {"ro"}})
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
		return asDamage(path, err)
	case result != "ok":
		return &DamagedError{path, "is damaged: " + strings.Join(strings.Fields(result), " ")}
	}
	return nil
}
