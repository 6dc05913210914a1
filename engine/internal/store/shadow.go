package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
)

// A shadow table is a table that is built anew while the old one is in use. It
// takes the old one's name in the transaction that ends the work, so that a kill
// leaves either the old rows or the new ones, all of them.
const shadowPrefix = "shadow_"

// shadowed are the tables that Reindex builds anew.
func shadowed() []string { return []string{"messages", "chunks", "chunks_fts"} }

var shadowedName = regexp.MustCompile(`\b(messages|chunks|chunks_fts)\b`)

// on is a statement on the tables that a transaction is about.
func (tx *conn) on(statement string) string {
	if !tx.shadow {
		return statement
	}
	return shadowedName.ReplaceAllString(statement, shadowPrefix+"$1")
}

// inShadow is the transaction with its statements on the shadow tables.
func (tx *Tx) inShadow() *Tx {
	c := *tx.conn
	c.changed, c.shadow = true, true
	return &Tx{&c}
}

// indexHead is the beginning of the definition of an index: its name and its
// table, which is in quotes once it was swapped.
var indexHead = regexp.MustCompile(`^(CREATE (?:UNIQUE )?INDEX )(\w+)( ON )"?(\w+)"?`)

// tableHead is that of a table.
var tableHead = regexp.MustCompile(`^(CREATE (?:VIRTUAL )?TABLE )"?(\w+)"?`)

// definitions are the SQL of a table, or of its indexes.
func (tx *Tx) definitions(kind, table string) ([]string, error) {
	all, err := query(tx, func(r row) (text string, err error) { return text, r.Scan(&text) },
		`SELECT sql FROM sqlite_schema WHERE type = ? AND tbl_name = ? AND sql IS NOT NULL ORDER BY name`, kind, table)
	if err != nil {
		return nil, fmt.Errorf("definition of %s: %w", table, err)
	}
	return all, nil
}

// addShadows makes empty tables like those that are in use.
func (tx *Tx) addShadows() error {
	for _, name := range shadowed() {
		tables, err := tx.definitions("table", name)
		if err != nil {
			return err
		}
		indexes, err := tx.definitions("index", name)
		if err != nil {
			return err
		}
		for _, definition := range tables {
			if _, err := tx.exec(tableHead.ReplaceAllString(definition, "${1}"+shadowPrefix+"$2")); err != nil {
				return fmt.Errorf("make the shadow of %s: %w", name, err)
			}
		}
		for _, definition := range indexes {
			if _, err := tx.exec(indexHead.ReplaceAllString(definition, "${1}"+shadowPrefix+"${2}${3}"+shadowPrefix+"$4")); err != nil {
				return fmt.Errorf("make the shadow of an index of %s: %w", name, err)
			}
		}
	}
	return nil
}

// useShadows puts the shadow tables in the places of the old ones. The indexes
// are made again, because SQLite cannot rename them.
func (tx *Tx) useShadows() error {
	for _, name := range shadowed() {
		indexes, err := tx.definitions("index", name)
		if err != nil {
			return err
		}
		statements := []string{`DROP TABLE ` + name}
		for _, definition := range indexes {
			statements = append(statements, `DROP INDEX `+shadowPrefix+indexHead.FindStringSubmatch(definition)[2])
		}
		statements = append(statements, `ALTER TABLE `+shadowPrefix+name+` RENAME TO `+name)
		for _, statement := range slices.Concat(statements, indexes) {
			if _, err := tx.exec(statement); err != nil {
				return fmt.Errorf("swap %s: %w", name, err)
			}
		}
	}
	return nil
}

// dropShadows deletes what a reindexing left that did not come to its end.
func dropShadows(ctx context.Context, db *sql.DB) error {
	for _, name := range shadowed() {
		if _, err := db.ExecContext(ctx, `DROP TABLE IF EXISTS `+shadowPrefix+name); err != nil {
			return fmt.Errorf("drop the shadow of %s: %w", name, err)
		}
	}
	return nil
}
