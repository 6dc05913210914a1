package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// A rebuilt table is filled while the old one is in use. The last transaction gives it
// the name of the old one, so that a kill leaves all old rows or all new ones.
const rebuiltPrefix = "shadow_"

// rebuiltTables are the tables that a rebuild replaces.
func rebuiltTables() []string { return []string{"messages", "chunks", "chunks_fts"} }

var rebuiltName = regexp.MustCompile(`\b(messages|chunks|chunks_fts)\b`)

// on is a statement on the tables that a transaction is about.
func (tx *conn) on(statement string) string {
	if !tx.rebuilt {
		return statement
	}
	return rebuiltName.ReplaceAllString(statement, rebuiltPrefix+"$1")
}

// indexHead is the beginning of the definition of an index: its name and its
// table, which is in quotes once it was swapped.
var indexHead = regexp.MustCompile(`^(CREATE (?:UNIQUE )?INDEX )(\w+)( ON )"?(\w+)"?`)

// tableHead is that of a table.
var tableHead = regexp.MustCompile(`^(CREATE (?:VIRTUAL )?TABLE )"?(\w+)"?`)

// definitions are the SQL of a table, or of its indexes.
func (tx *Tx) definitions(kind, table string) ([]string, error) {
	all, err := query(tx, single[string],
		`SELECT sql FROM sqlite_schema WHERE type = ? AND tbl_name = ? AND sql IS NOT NULL ORDER BY name`, kind, table)
	return all, wrap(err, "definition of %s", table)
}

// addRebuilt makes empty tables like those that are in use.
func (tx *Tx) addRebuilt() error {
	for _, name := range rebuiltTables() {
		tables, err := tx.definitions("table", name)
		if err != nil {
			return err
		}
		indexes, err := tx.definitions("index", name)
		if err != nil {
			return err
		}
		for _, definition := range tables {
			if _, err := tx.exec(tableHead.ReplaceAllString(definition, "${1}"+rebuiltPrefix+"$2")); err != nil {
				return fmt.Errorf("make the new table of %s: %w", name, err)
			}
		}
		for _, definition := range indexes {
			if _, err := tx.exec(indexHead.ReplaceAllString(definition, "${1}"+rebuiltPrefix+"${2}${3}"+rebuiltPrefix+"$4")); err != nil {
				return fmt.Errorf("make the new index of %s: %w", name, err)
			}
		}
	}
	return nil
}

// useRebuilt puts the rebuilt tables in the places of the old ones. The indexes
// are made again, because SQLite cannot rename them.
func (tx *Tx) useRebuilt() error {
	for _, name := range rebuiltTables() {
		indexes, err := tx.definitions("index", name)
		if err != nil {
			return err
		}
		statements := []string{`DROP TABLE ` + name}
		for _, definition := range indexes {
			statements = append(statements, `DROP INDEX `+rebuiltPrefix+indexHead.FindStringSubmatch(definition)[2])
		}
		statements = append(statements, `ALTER TABLE `+rebuiltPrefix+name+` RENAME TO `+name)
		for _, statement := range slices.Concat(statements, indexes) {
			if _, err := tx.exec(statement); err != nil {
				return fmt.Errorf("swap %s: %w", name, err)
			}
		}
	}
	return nil
}

// dropRebuilt deletes the tables of an unfinished rebuild.
func dropRebuilt(ctx context.Context, db *sql.DB) error {
	for _, name := range rebuiltTables() {
		if _, err := db.ExecContext(ctx, `DROP TABLE IF EXISTS `+rebuiltPrefix+name); err != nil {
			return fmt.Errorf("drop the unfinished table of %s: %w", name, err)
		}
	}
	return nil
}

// Rebuild runs fill, which fills empty copies of the tables with tx.Archive().Rebuilt
// and ends with tx.Archive().FinishRebuild. Until then the old tables stay as they are;
// an error or a kill leaves them. The Store must be alone and otherwise unused.
func (s *Store) Rebuild(ctx context.Context, fill func() error) error {
	if !s.Alone() {
		return errors.New("the data directory is in use")
	}
	db := s.writer.db
	if err := dropRebuilt(ctx, db); err != nil {
		return err
	}
	// The messages point to sessions that are added at the end.
	if _, err := db.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
		return err
	}
	err := s.Write(ctx, (*Tx).addRebuilt)
	if err == nil {
		err = fill()
	}
	if err != nil {
		err = errors.Join(err, dropRebuilt(context.WithoutCancel(ctx), db))
	}
	_, on := db.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = ON")
	return errors.Join(err, on)
}

// Rebuilt is the transaction with its statements on the tables that are being built.
func (tx ArchiveTx) Rebuilt() *Tx {
	c := *tx.conn
	c.changed, c.rebuilt = true, true
	return &Tx{&c}
}

const restSQL = `SELECT ` + saidColumns + ` FROM messages m JOIN sessions s ON s.id = m.session
	WHERE NOT EXISTS (SELECT 1 FROM shadow_messages n WHERE n.uid = m.uid)
	AND m.id > (SELECT coalesce(max(o.id), 0) FROM messages o JOIN shadow_messages n ON n.uid = o.uid WHERE o.session = m.session AND n.logged = 1)
	ORDER BY m.id LIMIT ?`

// Rest lists the messages that a session has after the last one that is rebuilt from
// a log, or all when none is. Those that were rebuilt are left out.
func (tx ArchiveTx) Rest(limit int) ([]Said, error) { return query(tx, scanSaid, restSQL, limit) }

const newIDSQL = `SELECT n.id FROM messages o JOIN shadow_messages n ON n.uid = o.uid WHERE o.id`

// FinishRebuild puts the rebuilt tables to use. What is found of files and of the
// manual has to be read again, and every chunk has another id, so its vector is none.
func (tx ArchiveTx) FinishRebuild() error {
	sets, err := tx.all().Vectors().VectorSets()
	if err != nil {
		return err
	}
	for _, set := range sets {
		// The foreign keys, which would take these along, are off.
		if _, err := tx.exec(`DELETE FROM vector_bits WHERE vectors = ?`, set.ID); err != nil {
			return err
		}
		if err := tx.all().Vectors().DropVectorSet(set.ID); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		`UPDATE summaries SET first = coalesce((` + newIDSQL + ` = first), 0), through = coalesce((` + newIDSQL + ` = through), 0)`,
		`DELETE FROM summaries WHERE through = 0`,
		`DELETE FROM indexed WHERE kind <> 'terms'`,
		`INSERT INTO indexed (kind, source, state) SELECT 'message', '', CAST(max(id) AS TEXT) FROM shadow_messages HAVING max(id) > 0`,
	} {
		if _, err := tx.exec(statement); err != nil {
			return err
		}
	}
	if err := tx.all().useRebuilt(); err != nil {
		return err
	}
	return tx.all().checkReferences()
}

// checkReferences reports rows that point to nothing.
func (tx *Tx) checkReferences() error {
	var table string
	err := tx.tx.QueryRow(`SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	switch {
	case err == sql.ErrNoRows:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("rows of %s point to nothing", table)
}
