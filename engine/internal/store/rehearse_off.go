//go:build !rehearse

package store

import (
	"klawbot/engine/internal/sqlite"
	"klawbot/internal/redact"
)

// rehearse does nothing; make rehearse has another one.
func rehearse(*sqlite.Transaction, *redact.Set, func(*Tx) error) error { return nil }
