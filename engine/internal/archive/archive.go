// Package archive keeps what lies beside the database of a data directory: the automatic
// backups, and the conversation logs as lines that people and other programs can read.
// It restores a backup in the place of a damaged database, exports and imports
// conversations, and rebuilds the messages from their logs. It writes a whole data directory
// into one file and restores it.
package archive

import (
	"context"
	"path/filepath"

	"klawbot/engine/internal/store"
)

// Archive is what lies beside an open database. Its methods may be called from several
// goroutines.
type Archive struct {
	store *store.Store
	logs  logs
	// recovery is what Open had to restore, nil when nothing.
	recovery *Recovery
}

// Of is the archive beside a store. A store has one.
func Of(s *store.Store) *Archive { return &Archive{store: s} }

// Open opens the store of a data directory. A database that is damaged or gone is replaced
// by the newest good backup of the folder, which Recovered and the log tell. Without one
// it is replaced by an empty one if it may be rebuilt, and else a *sqlite.DamagedError.
func Open(ctx context.Context, c store.Config, rebuild bool) (*store.Store, *Archive, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, nil, err
	}
	r := &restorer{dir: dir, log: c.Log, rebuild: rebuild}
	c.Repair = r.repair
	s, err := store.Open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	a := Of(s)
	if a.recovery = r.done; a.recovery == nil {
		a.recovery = r.recall(ctx)
	}
	return s, a, nil
}
