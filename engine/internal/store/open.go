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
)

const (
	// readConnections bounds the reads at one time.
	readConnections = 4
	// walLimit is the size in bytes that the write-ahead log is cut back to
	// after a burst.
	walLimit = 16 << 20
)

func open(ctx context.Context, c Config) (*Store, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, path: newInstance(dir).db, log: c.Log, secrets: c.secrets(), lock: lock}
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

// distrust leaves the word for the next start.
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
	if err := checkPages(ctx, db, s.path, "integrity_check"); err != nil {
		return err
	}
	return os.Remove(s.suspect())
}

// prepare makes the database ready and starts what runs beside it.
func (s *Store) prepare(ctx context.Context) error {
	pair := newInstance(s.dir)
	wal := lookAtWAL(s.path)
	fresh, err := pair.inspect(ctx)
	if err != nil {
		return err
	}
	if fresh {
		if err := createFile(s.path); err != nil {
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
		return errors.Join(explain(s.path, err), db.Close())
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
// in use. clean says that the last stop was an orderly one.
func (s *Store) settle(ctx context.Context, db *sql.DB, pair instance) (clean bool, err error) {
	if err := migrate(ctx, db, s.path); err != nil {
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
	if err := keepWAL(ctx, db); err != nil {
		return nil, errors.Join(explain(pair.db, err), db.Close())
	}
	if err := sameSchema(ctx, db, pair.db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.start(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, db *sql.DB) error {
	readers, err := openDB(s.path, url.Values{"_cache_size": {"-512"}})
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(readConnections)
	readers.SetMaxIdleConns(readConnections)
	s.readers = readers
	s.checking, s.stopCheck = context.WithCancel(context.WithoutCancel(ctx))
	s.condition.confirm = s.confirm
	s.writer = startWriter(ctx, db, s.path, &s.condition, s.secrets, s.log)
	return nil
}

// checkInBackground looks for damage after a stop that was none: SQLite brings
// its own log in order by itself, a dying disk it does not notice.
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
			s.log.Info("database checked after an unclean stop", "path", s.path)
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

// createFile makes the empty database, because SQLite would make it readable
// for everybody. Its other files get the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// openWriter opens the one connection that may write.
func openWriter(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openDB(path, url.Values{
		"_query_only":   {"false"},
		"_txlock":       {"immediate"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_cache_size":   {"-2048"},
	})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := useWAL(ctx, db); err != nil {
		return nil, errors.Join(explain(path, err), db.Close())
	}
	return db, nil
}

func useWAL(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA journal_size_limit = %d", walLimit)); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot keep a write-ahead log (journal mode %s): choose a local data folder", mode)
	}
	return nil
}

// openDB opens an existing file, for reading unless the options say otherwise.
func openDB(path string, options url.Values) (*sql.DB, error) {
	loadVec()
	q := url.Values{
		"mode":             {"rw"},
		"_query_only":      {"true"},
		"_foreign_keys":    {"true"},
		"_busy_timeout":    {"2000"},
		"_stmt_cache_size": {"64"},
	}
	for key, value := range options {
		q[key] = value
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return sql.Open("sqlite3", name.String())
}
