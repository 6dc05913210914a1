package store

import (
	"context"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/condition"
)

// Condition reports the health of the database as the last write that changed
// something, a read or a check found it. It does no I/O.
func (s *Store) Condition() condition.Condition { return s.condition.Now() }

// Probe writes something, so that Condition tells the present.
func (s *Store) Probe(ctx context.Context) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec("INSERT INTO meta (key, value) VALUES ('probe', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1", toMillis(tx.now))
		return err
	})
}

// Unwritable reports whether an error of Write is the disk's, so that the same
// write can succeed later.
func Unwritable(err error) bool { return condition.Unwritable(err) }

// Damaged reports whether an error says that the database is damaged.
func Damaged(err error) bool { return sqlite.Damaged(err) }
