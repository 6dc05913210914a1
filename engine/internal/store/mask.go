package store

import (
	"cmp"

	"klawbot/internal/redact"
)

// exact and exactBytes are arguments that are stored as they are: what is looked up
// again by its value, what must be given back byte by byte, and what is no text.
type (
	exact      string
	exactBytes []byte
)

// masked are the arguments of a statement without secrets. Here all that is written
// passes, so that no row, no backup and nothing that is made of rows holds a secret.
func (tx *conn) masked(args []any) []any {
	clean := args
	for i, arg := range args {
		var now any
		switch v := arg.(type) {
		case string:
			if text := string(tx.secrets.JSON([]byte(v))); text != v {
				now = text
			}
		case []byte:
			if text := tx.secrets.JSON(v); string(text) != string(v) {
				now = text
			}
		}
		if now == nil {
			continue
		}
		if &clean[0] == &args[0] {
			clean = append([]any(nil), args...)
		}
		clean[i] = now
	}
	return clean
}

// secrets are the known ones, or an empty set.
func (c Config) secrets() *redact.Set { return cmp.Or(c.Redact, new(redact.Set)) }
