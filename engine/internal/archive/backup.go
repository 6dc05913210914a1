package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/schema"
)

const (
	// backupFolder holds the automatic backups of a data directory.
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
// others keep writing. The copy is one file, synced, and checked to the last
// page before Backup returns nil; otherwise there is none.
func (a *Archive) Backup(ctx context.Context, path string) (err error) {
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
	if err := errors.Join(a.store.CopyTo(ctx, path), f.Sync()); err != nil {
		return err
	}
	return store.Verify(ctx, path)
}

// BackupNow adds an automatic backup to <data>/backups and deletes the oldest
// beyond keep. It leaves some space to the bot: ErrNoSpace.
func (a *Archive) BackupNow(ctx context.Context, keep int) (BackupFile, error) {
	dir := filepath.Join(a.store.Dir(), backupFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	if err := removeParts(dir); err != nil {
		return BackupFile{}, err
	}
	info, err := os.Stat(databaseOf(a.store.Dir()))
	if err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	free, err := sqlite.FreeSpace(dir)
	if err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	if need := uint64(info.Size()) + backupReserve; free < need {
		return BackupFile{}, fmt.Errorf("%w: %d MiB are free, %d needed in %s", ErrNoSpace, free>>20, need>>20, dir)
	}
	at := time.Now().UTC().Truncate(time.Second)
	name := filepath.Join(dir, at.Format(backupName))
	if err := a.Backup(ctx, name+".part"); err != nil {
		return BackupFile{}, err
	}
	if err := errors.Join(os.Rename(name+".part", name), syncDir(dir)); err != nil {
		return BackupFile{}, fmt.Errorf("back up: %w", err)
	}
	return newBackupFile(name, at), rotate(a.store.Dir(), keep)
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
func (a *Archive) ChangedSince(t time.Time) bool {
	path := databaseOf(a.store.Dir())
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err == nil && !info.ModTime().Before(t) {
			return true
		}
	}
	return false
}

// Backups lists the automatic backups of a data directory, the newest first. Those
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
	at := time.Now()
	late := func(b BackupFile) int {
		if b.At.After(at) {
			return 1
		}
		return 0
	}
	slices.SortFunc(all, func(a, b BackupFile) int { return cmp.Or(late(a)-late(b), b.At.Compare(a.At)) })
	return all, nil
}

// Restorable lists what Restore can put in place of the database: the automatic backups
// and the copies from before updates, each the newest first.
func Restorable(dir string) ([]BackupFile, error) {
	all, err := Backups(dir)
	for _, name := range schema.Kept(dir) {
		if at, err := time.Parse(schema.KeptName, filepath.Base(name)); err == nil {
			all = append(all, newBackupFile(name, at))
		}
	}
	return all, err
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

// syncDir makes renames in a folder last.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
