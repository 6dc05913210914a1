package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/internal/atomicfile"
)

const (
	// backupFolder holds the automatic backups of a data folder.
	backupFolder = "backups"
	// backupName is the name of an automatic backup, as a time in UTC.
	backupName = "klawbot-20060102T150405Z.db"
	// backupReserve is the space in bytes that a backup leaves to the bot.
	backupReserve = 64 << 20
)

// ErrNoSpace is returned by BackupNow when a backup would take the space that
// the bot itself needs.
var ErrNoSpace = errors.New("not enough free space for a backup")

// BackupFile is an automatic backup.
type BackupFile struct {
	Path string
	At   time.Time
	// Size in bytes.
	Size int64
}

// Backup writes a copy of the database to path, which must not exist, while
// others go on writing. The copy is one file, synced, and checked to the last
// page before Backup returns nil; otherwise there is none.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(path) // the first error tells more
			err = fmt.Errorf("back up to %s: %w", path, err)
		}
	}()
	if err := vacuumInto(ctx, s.path, path); err != nil {
		if Damaged(err) {
			s.condition.note(err)
		}
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	db, err := openDB(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return err
	}
	defer db.Close() // nothing is written
	return verify(ctx, db, path, "")
}

// vacuumInto copies through a connection of its own: those for reading are
// query-only, which SQLite takes to mean the copy too.
func vacuumInto(ctx context.Context, from, to string) error {
	db, err := openDB(from, url.Values{"_query_only": {"false"}})
	if err != nil {
		return err
	}
	defer db.Close() // the copy is synced and checked
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// BackupNow adds an automatic backup to <data>/backups and deletes the oldest
// beyond keep. It leaves some space to the bot: ErrNoSpace.
func (s *Store) BackupNow(ctx context.Context, keep int) (BackupFile, error) {
	dir := filepath.Join(s.dir, backupFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	if err := removeParts(dir); err != nil {
		return BackupFile{}, err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	free, err := FreeSpace(dir)
	if err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	if need := uint64(info.Size()) + backupReserve; free < need {
		return BackupFile{}, fmt.Errorf("%w: %d MiB are free, %d needed in %s", ErrNoSpace, free>>20, need>>20, dir)
	}
	at := now().Truncate(time.Second)
	name := filepath.Join(dir, at.Format(backupName))
	if err := s.Backup(ctx, name+".part"); err != nil {
		return BackupFile{}, err
	}
	if err := atomicfile.Rename(name+".part", name); err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	return newBackupFile(name, at), rotate(s.dir, keep)
}

func newBackupFile(path string, at time.Time) BackupFile {
	b := BackupFile{Path: path, At: at}
	if info, err := os.Stat(path); err == nil { // the size is for people only
		b.Size = info.Size()
	}
	return b
}

// removeParts deletes what a backup left that was not finished.
func removeParts(dir string) error {
	parts, err := filepath.Glob(filepath.Join(dir, "klawbot-*.part*"))
	for _, name := range parts {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// ChangedSince reports whether the database was written after a time. It looks
// at the files, so a change is never missed, but a checkpoint counts as one.
func (s *Store) ChangedSince(t time.Time) bool {
	for _, name := range []string{s.path, s.path + "-wal"} {
		info, err := os.Stat(name)
		if err == nil && !info.ModTime().Before(t) {
			return true
		}
	}
	return false
}

// Backups lists the automatic backups of a data folder, the newest first. Those
// of the future come last: the clock was wrong when they were made, and what was
// made since is newer.
func Backups(dir string) ([]BackupFile, error) {
	entries, err := os.ReadDir(filepath.Join(dir, backupFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []BackupFile
	for _, e := range entries {
		if at, err := time.Parse(backupName, e.Name()); err == nil {
			all = append(all, newBackupFile(filepath.Join(dir, backupFolder, e.Name()), at))
		}
	}
	at := now()
	slices.SortFunc(all, func(a, b BackupFile) int {
		return cmp.Or(compareBool(a.At.After(at), b.At.After(at)), b.At.Compare(a.At))
	})
	return all, nil
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func rotate(dir string, keep int) error {
	all, err := Backups(dir)
	if err != nil {
		return fmt.Errorf("delete old backups: %w", err)
	}
	var faults []error
	for _, old := range all[min(max(keep, 1), len(all)):] {
		faults = append(faults, os.Remove(old.Path))
	}
	return errors.Join(faults...)
}

// Check reads the whole database and reports damage as a *DamagedError. It asks a
// new connection: an older one may remember a full-text index that has changed
// since, which looks like damage.
func (s *Store) Check(ctx context.Context) error {
	err := checkAgain(ctx, s.path, "quick_check")
	if Damaged(err) {
		err = checkAgain(ctx, s.path, "quick_check")
	}
	if Damaged(err) {
		s.condition.damaged(err)
	}
	return err
}

// verify checks that an open file is an undamaged klawbot database that this
// program can use, of the given instance unless that is empty.
func verify(ctx context.Context, db *sql.DB, path, instance string) error {
	var application int
	err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application)
	switch {
	case err != nil:
		return asDamage(path, err)
	case application != applicationID:
		return &DamagedError{path, "is no klawbot database"}
	}
	if err := checkPages(ctx, db, path, "integrity_check"); err != nil {
		return err
	}
	known, err := migrationNames()
	if err != nil {
		return err
	}
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return asDamage(path, err)
	}
	for _, name := range applied {
		if !slices.Contains(known, name) {
			return &DamagedError{path, "was written by a newer klawbot (it has " + name + ")"}
		}
	}
	inside, err := getMeta(ctx, db, "instance")
	switch {
	case err != nil:
		return asDamage(path, err)
	case inside == "":
		return &DamagedError{path, "is empty"}
	case instance != "" && instance != inside:
		return &DamagedError{path, "belongs to another data folder"}
	}
	return nil
}

// checkPages runs one of SQLite's two checks. What it finds counts when a new
// connection finds it too.
func checkPages(ctx context.Context, db *sql.DB, path, check string) error {
	err := checkOnce(ctx, db, path, check)
	if Damaged(err) {
		err = checkAgain(ctx, path, check)
	}
	return err
}

// checkAgain runs a check on a connection of its own.
func checkAgain(ctx context.Context, path, check string) error {
	db, err := openDB(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return err
	}
	defer db.Close() // nothing is written
	return checkOnce(ctx, db, path, check)
}

func checkOnce(ctx context.Context, db *sql.DB, path, check string) error {
	var result string
	err := db.QueryRowContext(ctx, "PRAGMA "+check+"(1)").Scan(&result)
	switch {
	case err != nil:
		return asDamage(path, err)
	case result != "ok":
		return &DamagedError{path, "is damaged: " + strings.Join(strings.Fields(result), " ")}
	}
	return nil
}
