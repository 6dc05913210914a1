package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/condition"
	"klawbot/engine/internal/store/schema"
)

// readConnections bounds the reads at one time.
const readConnections = 4

func open(ctx context.Context, c Config) (*Store, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := sqlite.Lock(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, path: newInstance(dir).db, log: c.Log, secrets: c.secrets(), lock: lock, committed: c.Committed}
	err = s.prepare(ctx)
	if Damaged(err) {
		if err = c.repair(ctx, err); err == nil {
			err = s.prepare(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return s, nil
}

func (c Config) repair(ctx context.Context, cause error) error {
	if c.Repair == nil {
		return cause
	}
	return c.Repair(ctx, cause)
}

// suspect is the file that makes the next start check the database before it
// is used.
func (s *Store) suspect() string { return s.path + ".suspect" }

// distrust makes the next start check the database.
func (s *Store) distrust() {
	if err := os.WriteFile(s.suspect(), nil, 0o600); err != nil {
		s.log.Warn("the next start will not check the database", "err", err)
	}
}

// clear checks a database that the last run found damaged.
func (s *Store) clear(ctx context.Context, db *sql.DB) error {
	if _, err := os.Stat(s.suspect()); err != nil {
		return nil
	}
	if err := sqlite.CheckPages(ctx, db, s.path, "integrity_check"); err != nil {
		return err
	}
	return os.Remove(s.suspect())
}

// prepare makes the database ready and starts what runs beside it.
func (s *Store) prepare(ctx context.Context) error {
	pair := newInstance(s.dir)
	wal := sqlite.LookAtWAL(s.path)
	fresh, err := pair.inspect(ctx)
	if err != nil {
		return err
	}
	if fresh {
		if err := sqlite.CreateFile(s.path); err != nil {
			return err
		}
	}
	db, err := openWriter(ctx, s.path)
	if err != nil {
		return err
	}
	err = s.clear(ctx, db)
	clean := false
	if err == nil {
		clean, err = s.settle(ctx, db, pair)
	}
	if err != nil {
		return errors.Join(condition.Explain(s.path, err), db.Close())
	}
	if err := s.start(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	s.warnOfWAL(wal, clean || fresh)
	if !clean && !fresh {
		s.checkInBackground()
	}
	return nil
}

// settle migrates, pairs the database with its instance file and marks it as
// in use. clean says that the last stop was graceful.
func (s *Store) settle(ctx context.Context, db *sql.DB, pair instance) (clean bool, err error) {
	if err := schema.Update(ctx, db, s.path, s.log); err != nil {
		return false, err
	}
	if err := pair.pair(ctx, db); err != nil {
		return false, err
	}
	if err := dropRebuilt(ctx, db); err != nil {
		return false, err
	}
	was, err := getMeta(ctx, db, "clean")
	if err != nil {
		return false, err
	}
	if err := setMeta(db, "clean", "0"); err != nil {
		return false, err
	}
	// The mark must not be in the write-ahead log alone, which may get lost.
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return was == "1", err
}

func openBeside(ctx context.Context, c Config) (*Store, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	pair := newInstance(dir)
	if _, err := os.Stat(pair.db); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no klawbot data in %s (%w): run klawbot init", dir, ErrNotFound)
	}
	fresh, err := pair.inspect(ctx)
	if err != nil {
		return nil, err
	}
	if fresh {
		return nil, fmt.Errorf("no klawbot data in %s (%w): run klawbot init", dir, ErrNotFound)
	}
	db, err := openWriter(ctx, pair.db)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, path: pair.db, log: c.Log, secrets: c.secrets()}
	if err := sqlite.KeepWAL(ctx, db); err != nil {
		return nil, errors.Join(condition.Explain(pair.db, err), db.Close())
	}
	// It must have gone through exactly the steps that this program knows.
	missing, err := schema.Missing(ctx, db, pair.db)
	if err == nil && len(missing) > 0 {
		err = ErrOlder
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.start(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, db *sql.DB) error {
	readers, err := sqlite.Open(s.path, url.Values{"_cache_size": {"-512"}})
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(readConnections)
	readers.SetMaxIdleConns(readConnections)
	s.readers = readers
	s.checking, s.stopCheck = context.WithCancel(context.WithoutCancel(ctx))
	s.condition.Confirm = s.confirm
	s.writer = &writer{db: db, path: s.path, secrets: s.secrets, log: s.log, condition: &s.condition}
	return nil
}

// checkInBackground looks for damage after an unclean shutdown. SQLite recovers its
// own log, but does not notice a dying disk.
func (s *Store) checkInBackground() {
	s.background.Go(func() {
		err := s.Check(s.checking)
		switch {
		case s.checking.Err() != nil:
		case Damaged(err):
			s.distrust()
			s.log.Error("database is damaged: restart the bot, it restores the newest backup", "path", s.path, "err", err)
		case err != nil:
			s.log.Error("database check failed", "path", s.path, "err", err)
		default:
			s.log.Info("database checked after an unclean shutdown", "path", s.path)
		}
	})
}

// confirm checks the database after an error that tells of damage. When the check
// cannot end because the store is closed, the damage is believed: the next start
// checks again.
func (s *Store) confirm() (is, known bool) {
	err := s.Check(s.checking)
	switch {
	case Damaged(err):
		return true, true
	case s.checking.Err() != nil:
		return true, false
	case err == nil:
		s.log.Warn("a statement failed as if the database were damaged, but a check of all of it finds nothing", "path", s.path)
	}
	return false, err == nil
}

// openWriter opens the one connection that may write.
func openWriter(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sqlite.OpenWriter(ctx, path)
	return db, condition.Explain(path, err)
}

// warnOfWAL logs what a damaged write-ahead log may have cost. After a graceful stop
// all of it was in the database.
func (s *Store) warnOfWAL(r sqlite.WAL, clean bool) {
	if r.Fault == "" || clean {
		return
	}
	s.log.Warn("the last messages may be lost: the bot did not stop gracefully, and the write-ahead log "+r.Fault+
		"; klawbot reindex brings back what the conversation logs have", "path", s.path+"-wal", "since", r.Since.UTC().Format(time.RFC3339))
}
