package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"strings"
)

// migrations are the steps to the schema, NNN-name.sql. They run in the order
// of their names, each once and in a transaction of its own, are known by name
// and are never edited.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrationNames lists the steps that this program knows, in order.
func migrationNames() ([]string, error) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".sql"))
	}
	return names, nil
}

// appliedMigrations lists the steps that a database went through, in order.
func appliedMigrations(ctx context.Context, db *sql.DB) ([]string, error) {
	var found bool
	err := db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'migrations'").Scan(&found)
	if err != nil || !found {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT name FROM migrations ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// missingMigrations lists the steps that a database has before it, in order. A step
// that this program does not know is an error.
func missingMigrations(ctx context.Context, db *sql.DB, path string) ([]string, error) {
	known, err := migrationNames()
	if err != nil {
		return nil, err
	}
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, name := range applied {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s was written by a newer klawbot (it has %s): use that version", path, name)
		}
	}
	return slices.DeleteFunc(known, func(name string) bool { return slices.Contains(applied, name) }), nil
}

// migrate brings a database to the schema of this program.
func migrate(ctx context.Context, db *sql.DB, path string) error {
	steps, err := missingMigrations(ctx, db, path)
	if err != nil {
		return err
	}
	for _, name := range steps {
		if err := applyMigration(ctx, db, name); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

func applyMigration(ctx context.Context, db *sql.DB, name string) error {
	script, err := migrations.ReadFile("migrations/" + name + ".sql")
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if _, err := tx.Exec(string(script)); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO migrations (name, applied_at) VALUES (?, ?)", name, toMillis(now())); err != nil {
		return err
	}
	return tx.Commit()
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
