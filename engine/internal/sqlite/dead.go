//go:build rehearse

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// Dead is a transaction in which every statement fails.
var Dead = sync.OnceValues(func() (*Transaction, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	tx, err := Begin(context.Background(), db, "BEGIN")
	if err != nil {
		return nil, err
	}
	return tx, errors.Join(tx.Commit(), db.Close())
})
