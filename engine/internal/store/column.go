package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// toMillis is how a time is stored: Unix milliseconds, 0 for the zero time.
func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// millis reads a time back into *t, in UTC.
type millis struct{ t *time.Time }

// Scan implements sql.Scanner.
func (m millis) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("time is a %T", v)
	}
	*m.t = time.Time{}
	if n != 0 {
		*m.t = time.UnixMilli(n).UTC()
	}
	return nil
}

// jsonColumn reads a JSON text into what it points to.
type jsonColumn struct{ into any }

// Scan implements sql.Scanner.
func (j jsonColumn) Scan(v any) error {
	switch text := v.(type) {
	case string:
		return json.Unmarshal([]byte(text), j.into)
	case []byte:
		return json.Unmarshal(text, j.into)
	}
	return fmt.Errorf("JSON is a %T", v)
}

// blob keeps nil from being stored as NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// idList is a list of ids for "IN (SELECT value FROM json_each(?))", so that a
// statement is the same for any number of them and stays prepared.
func idList[ID ~int64](ids []ID) string { return "[" + list(ids) + "]" }

// row is a *sql.Row or the current one of *sql.Rows.
type row interface{ Scan(into ...any) error }

// tables is a Tx, or one of its tables.
type tables interface {
	each(statement string, args []any, do func(row) error) error
}

// each calls do with each row that a statement finds.
func (tx *conn) each(statement string, args []any, do func(row) error) error {
	rows, err := tx.tx.Query(tx.long, tx.on(statement), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := tx.tx.Err(); err != nil {
			return err
		}
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// query lists what scan makes of each row.
func query[T any](tx tables, scan func(row) (T, error), statement string, args ...any) ([]T, error) {
	var all []T
	err := tx.each(statement, args, func(r row) error {
		one, err := scan(r)
		if err == nil {
			all = append(all, one)
		}
		return err
	})
	return all, err
}

// single reads a row of one value.
func single[T any](r row) (value T, err error) {
	err = r.Scan(&value)
	return value, err
}

// put runs a statement that writes: id is that of the last row that one has added, n is
// how many rows it changed.
func (tx *conn) put(statement string, args ...any) (id, n int64, err error) {
	r, err := tx.tx.Exec(tx.on(statement), tx.masked(args)...)
	if err != nil {
		return 0, 0, err
	}
	if n, err = r.RowsAffected(); err == nil {
		id, err = r.LastInsertId()
	}
	tx.changed = tx.changed || n > 0
	return id, n, err
}

// exec runs a statement and returns how many rows it changed.
func (tx *conn) exec(statement string, args ...any) (int64, error) {
	_, n, err := tx.put(statement, args...)
	return n, err
}

// change runs a statement that must change exactly one row, else ErrNotFound.
func (tx *conn) change(statement string, args ...any) error {
	n, err := tx.exec(statement, args...)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// insert runs a statement that adds one row and returns its id.
func (tx *conn) insert(statement string, args ...any) (int64, error) {
	id, _, err := tx.put(statement, args...)
	return id, err
}

// orNow is t, or the time of the transaction when t is zero.
func (tx *conn) orNow(t time.Time) int64 {
	if t.IsZero() {
		t = tx.now
	}
	return toMillis(t)
}

// depth counts waiting rows and finds the time of the oldest.
func (tx *conn) depth(statement string) (Depth, error) {
	var d Depth
	err := tx.tx.QueryRow(statement).Scan(&d.Waiting, millis{&d.Oldest})
	return d, err
}

// notFound turns the driver's word for a missing row into ours.
func notFound(err error) error {
	if err == sql.ErrNoRows {
		return ErrNotFound
	}
	return err
}

// optional is err unless a row is missing.
func optional(err error) error {
	if err == sql.ErrNoRows || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// wrap says what failed when err is not nil. A missing row is ErrNotFound.
func wrap(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), notFound(err))
}
