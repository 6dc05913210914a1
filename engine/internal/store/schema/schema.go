// Package schema brings a database to the schema of this program, step by step.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// migrations are the steps to the schema, NNN-name.sql. They run in the order
// of their names, each once and in a transaction of its own, are known by name
// and are never edited.
//
//go:embed migrations/*.sql
var migrations embed.FS

// known lists the steps that this program knows, in order.
func known() ([]string, error) {
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

// applied lists the steps that a database went through, in order.
func applied(ctx context.Context, db *sql.DB) ([]string, error) {
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

// Missing lists the steps that a database has before it, in order. A step
// that this program does not know is a *NewerError.
func Missing(ctx context.Context, db *sql.DB, path string) ([]string, error) {
	names, err := known()
	if err != nil {
		return nil, err
	}
	done, err := applied(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, name := range done {
		if !slices.Contains(names, name) {
			return nil, &NewerError{Path: path, Step: name, Kept: goBack(ctx, path)}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(done, name) }), nil
}

// NewerError says that a database has a step that this program does not know. Kept is
// the copy from before that step, "" for none.
type NewerError struct{ Path, Step, Kept string }

func (e *NewerError) Error() string {
	text := fmt.Sprintf("%s was written by a newer klawbot (it has %s): use that version", e.Path, e.Step)
	if e.Kept != "" {
		text += ", or go back to the state before the update: klawbot restore --replace " + filepath.Base(e.Kept)
	}
	return text
}

// Migrate brings a database to the schema of this program.
func Migrate(ctx context.Context, db *sql.DB, path string) error {
	steps, err := Missing(ctx, db, path)
	if err != nil {
		return err
	}
	for _, name := range steps {
		if err := apply(ctx, db, name); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

func apply(ctx context.Context, db *sql.DB, name string) error {
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
	if _, err := tx.Exec("INSERT INTO migrations (name, applied_at) VALUES (?, ?)", name, time.Now().UnixMilli()); err != nil {
		return err
	}
	return tx.Commit()
}
