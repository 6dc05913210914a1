package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/schema"
)

// Check reads the whole database and reports damage as a *sqlite.DamagedError. It asks a
// new connection: an older one may remember a full-text index that has changed
// since, which looks like damage.
func (s *Store) Check(ctx context.Context) error {
	err := sqlite.Check(ctx, s.path, "quick_check")
	if Damaged(err) {
		err = sqlite.Check(ctx, s.path, "quick_check")
	}
	if Damaged(err) {
		s.condition.Damage(err)
	}
	return err
}

// Verify checks a file as verify does.
func Verify(ctx context.Context, path string) error {
	db, err := sqlite.Open(path, url.Values{"mode": {"ro"}})
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
		return sqlite.AsDamage(path, err)
	case application != applicationID:
		return &sqlite.DamagedError{Path: path, Reason: "is not a klawbot database"}
	}
	if err := sqlite.CheckPages(ctx, db, path, "integrity_check"); err != nil {
		return err
	}
	if _, err := schema.Missing(ctx, db, path); err != nil {
		if newer, is := errors.AsType[*schema.NewerError](err); is {
			return &sqlite.DamagedError{Path: path, Reason: "was written by a newer klawbot (it has " + newer.Step + ")"}
		}
		return sqlite.AsDamage(path, err)
	}
	inside, err := getMeta(ctx, db, "instance")
	switch {
	case err != nil:
		return sqlite.AsDamage(path, err)
	case inside == "":
		return &sqlite.DamagedError{Path: path, Reason: "is empty"}
	case instance != "" && instance != inside:
		return &sqlite.DamagedError{Path: path, Reason: "belongs to another data directory"}
	}
	return nil
}
