//go:build !rehearse

package store

import (
	"database/sql"

	"klawbot/internal/redact"
)

// rehearse does nothing; make rehearse has another one.
func rehearse(*sql.Tx, *redact.Set, func(*Tx) error) error { return nil }
