//go:build rehearse

package store

import (
	"cmp"
	"errors"

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
	dead, err := sqlite.Dead()
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
