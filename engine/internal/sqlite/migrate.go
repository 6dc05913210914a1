package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Migrations are the steps to a schema: files NNN-name.sql in FS. They run in the order of
// their names, each once and in a transaction of its own, are known by name and are never
// edited. The table migrations, which the first step makes, holds those that were applied.
type Migrations struct{ FS fs.FS }

// Names lists the steps that this program knows, in order.
func (m Migrations) Names() ([]string, error) {
	files, err := fs.Glob(m.FS, "*/*.sql")
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".sql")
	}
	slices.Sort(files)
	return files, err
}

// Applied lists the steps that a database went through, in order.
func (m Migrations) Applied(ctx context.Context, db *sql.DB) ([]string, error) {
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

// Missing lists the steps that a database has before it, in order, and those that it went
// through but this program does not know.
func (m Migrations) Missing(ctx context.Context, db *sql.DB) (missing, unknown []string, err error) {
	known, err := m.Names()
	if err != nil {
		return nil, nil, err
	}
	applied, err := m.Applied(ctx, db)
	for _, name := range applied {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	return slices.DeleteFunc(known, func(name string) bool { return slices.Contains(applied, name) }), unknown, err
}

// Apply takes the steps that a database has before it.
func (m Migrations) Apply(ctx context.Context, db *sql.DB, steps []string) error {
	for _, name := range steps {
		if err := m.apply(ctx, db, name); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

func (m Migrations) apply(ctx context.Context, db *sql.DB, name string) error {
	files, err := fs.Glob(m.FS, "*/"+name+".sql")
	if err != nil {
		return err
	}
	script, err := fs.ReadFile(m.FS, strings.Join(files, "")) // the names are unique
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
