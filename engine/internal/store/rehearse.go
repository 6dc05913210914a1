//go:build rehearse

package store

import (
	"cmp"

	"klawbot/engine/internal/sqlite"
	"klawbot/internal/redact"
)

// rehearse runs a write twice without effect, as on a disk that fails at the first
// statement, then at the commit. Whatever fn changes
// besides the database is wrong then, and the tests that run over it notice. Import
// and a rebuild end at the first failure, so what they remember does not matter.
func rehearse(tx *sqlite.Transaction, secrets *redact.Set, fn func(*Tx) error) error {
	dead, err := sqlite.Dead()
	if err != nil {
		return err
	}
	_ = fn(newTx(dead, secrets, true)) // it must fail
	if _, err := tx.Exec("SAVEPOINT rehearsal"); err != nil {
		return err
	}
	failed := fn(newTx(tx, secrets, true))
	_, err = tx.Exec("ROLLBACK TO rehearsal")
	if err == nil {
		_, err = tx.Exec("RELEASE rehearsal")
	}
	return cmp.Or(failed, err)
}
