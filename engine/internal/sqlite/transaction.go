package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// Transaction is a connection in a transaction. A *sql.Tx starts a goroutine for each of its
// statements, to end it with the context; most of ours take less time than that.
type Transaction struct {
	conn *sql.Conn
	// ctx is the transaction's: when it has ended, no further statement runs, and one that
	// may take long ends, too. whole is the same without an end.
	ctx, whole context.Context
	over       bool
}

// Begin begins a transaction, by a statement, on a connection of a database.
func Begin(ctx context.Context, db *sql.DB, begin string) (*Transaction, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &Transaction{conn: c, ctx: ctx, whole: context.WithoutCancel(ctx)}
	if _, err := t.Exec(begin); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return t, nil
}

// Err is why no further statement runs, nil when one does.
func (t *Transaction) Err() error { return t.ctx.Err() }

// quick is the context of a statement that is not cut short once it runs.
func (t *Transaction) quick() context.Context {
	if t.ctx.Err() != nil {
		return t.ctx
	}
	return t.whole
}

// Exec runs a statement without rows.
func (t *Transaction) Exec(statement string, args ...any) (sql.Result, error) {
	return t.conn.ExecContext(t.quick(), statement, args...)
}

// Query runs a statement with rows. A long one ends with the context before its first row,
// too.
func (t *Transaction) Query(long bool, statement string, args ...any) (*sql.Rows, error) {
	ctx := t.quick()
	if long {
		ctx = t.ctx
	}
	return t.conn.QueryContext(ctx, statement, args...)
}

// QueryRow runs a statement with at most one row.
func (t *Transaction) QueryRow(statement string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(t.quick(), statement, args...)
}

// Commit ends the transaction and gives the connection back.
func (t *Transaction) Commit() error {
	if _, err := t.Exec("COMMIT"); err != nil {
		t.Rollback()
		return err
	}
	t.over = true
	return t.conn.Close()
}

// Rollback takes back what was changed and gives the connection back. It does nothing
// after Commit.
func (t *Transaction) Rollback() {
	if t.over {
		return
	}
	t.over = true
	// SQLite gives up a transaction by itself when the disk is full; then this fails. A
	// connection that is still in a transaction must not be used again.
	if _, err := t.conn.ExecContext(t.whole, "ROLLBACK"); err != nil {
		_ = t.conn.Raw(func(c any) error { // its error only drops the connection
			if c, ok := c.(*sqlite3.SQLiteConn); ok && c.AutoCommit() {
				return nil
			}
			return driver.ErrBadConn
		})
	}
	_ = t.conn.Close() // it goes back to the pool, or was dropped
}
