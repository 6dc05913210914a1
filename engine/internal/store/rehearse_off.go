//go:build !rehearse

package store

import (
	"database/sql"

	"klawbot/internal/redact"
)

// rehearse runs a write in vain before it is run, for make rehearse. In a normal
// build it is nothing.
func rehearse(*sql.Tx, *redact.Set, func(*Tx) error) error { return nil }
