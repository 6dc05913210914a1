package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"klawbot/engine/internal/sqlite"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

var migrations = sqlite.Migrations{FS: migrationFiles}

// missingMigrations lists the steps that a database has before it, in order. A step
// that this program does not know is an error.
func missingMigrations(ctx context.Context, db *sql.DB, path string) ([]string, error) {
	missing, unknown, err := migrations.Missing(ctx, db)
	if err == nil && len(unknown) > 0 {
		return nil, fmt.Errorf("%s was written by a newer klawbot (it has %s): use that version", path, unknown[0])
	}
	return missing, err
}

// migrate brings a database to the schema of this program.
func migrate(ctx context.Context, db *sql.DB, path string) error {
	steps, err := missingMigrations(ctx, db, path)
	if err != nil {
		return err
	}
	return migrations.Apply(ctx, db, steps)
}

// sameSchema reports ErrOlder, or that the database is newer, unless it went through
// exactly the steps that this program knows.
func sameSchema(ctx context.Context, db *sql.DB, path string) error {
	steps, err := missingMigrations(ctx, db, path)
	if err == nil && len(steps) > 0 {
		return ErrOlder
	}
	return err
}
