//go:build rehearse

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"

	"klawbot/engine/internal/sqlite"
	"klawbot/internal/redact"
)

// errRehearsed ends a rehearsal that went well.
var errRehearsed = errors.New("rehearsed")

// rehearse runs a write twice without effect, as on a disk that fails at the first
// statement, then at the commit. Whatever fn changes
// besides the database is wrong then, and the tests that run over it notice. Import
// and a rebuild end at the first failure, so what they remember does not matter.
func rehearse(tx *sqlite.Transaction, secrets *redact.Set, fn func(*Tx) error) error {
	dead, err := deadTx()
	if err != nil {
		return err
	}
	_ = fn(newTx(dead, secrets, true)) // it must fail
	failed, err := inSavepoint(tx, func() error {
		return cmp.Or(fn(newTx(tx, secrets, true)), errRehearsed)
	})
	if failed == errRehearsed {
		return err
	}
	return cmp.Or(failed, err)
}

// deadTx is a transaction in which every statement fails.
var deadTx = sync.OnceValues(func() (*sqlite.Transaction, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	tx, err := sqlite.Begin(context.Background(), db, "BEGIN")
	if err != nil {
		return nil, err
	}
	return tx, errors.Join(tx.Commit(), db.Close())
})
