package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// line is a connection in a transaction. A *sql.Tx starts a goroutine for each of its
// statements, to end it with the context; most of ours take less time than that.
type line struct {
	conn *sql.Conn
	// ctx is the transaction's: when it has ended, no further statement runs, and one that
	// may take long ends, too. whole is the same without an end.
	ctx, whole context.Context
	over       bool
}

// beginOn begins a transaction, by a statement, on a connection of a database.
func beginOn(ctx context.Context, db *sql.DB, begin string) (*line, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	l := &line{conn: c, ctx: ctx, whole: context.WithoutCancel(ctx)}
	if _, err := l.Exec(begin); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return l, nil
}

// quick is the context of a statement that is not cut short once it runs.
func (l *line) quick() context.Context {
	if l.ctx.Err() != nil {
		return l.ctx
	}
	return l.whole
}

// Exec runs a statement without rows.
func (l *line) Exec(statement string, args ...any) (sql.Result, error) {
	return l.conn.ExecContext(l.quick(), statement, args...)
}

// Query runs a statement with rows. A long one ends with the context before its first row,
// too.
func (l *line) Query(long bool, statement string, args ...any) (*sql.Rows, error) {
	ctx := l.quick()
	if long {
		ctx = l.ctx
	}
	return l.conn.QueryContext(ctx, statement, args...)
}

// QueryRow runs a statement with at most one row.
func (l *line) QueryRow(statement string, args ...any) *sql.Row {
	return l.conn.QueryRowContext(l.quick(), statement, args...)
}

// Commit ends the transaction and gives the connection back.
func (l *line) Commit() error {
	if _, err := l.Exec("COMMIT"); err != nil {
		l.Rollback()
		return err
	}
	l.over = true
	return l.conn.Close()
}

// Rollback takes back what was changed and gives the connection back. It does nothing
// after Commit.
func (l *line) Rollback() {
	if l.over {
		return
	}
	l.over = true
	// SQLite gives up a transaction by itself when the disk is full; then this fails. A
	// connection that is still in a transaction must not be used again.
	if _, err := l.conn.ExecContext(l.whole, "ROLLBACK"); err != nil {
		_ = l.conn.Raw(func(c any) error { // its error only drops the connection
			if c, ok := c.(*sqlite3.SQLiteConn); ok && c.AutoCommit() {
				return nil
			}
			return driver.ErrBadConn
		})
	}
	_ = l.conn.Close() // it goes back to the pool, or was dropped
}
