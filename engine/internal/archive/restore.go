package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
)

// Recovery tells how Open replaced a damaged database.
type Recovery struct {
	// Reason is what was wrong.
	Reason string
	// Backup is what stands in its place, zero for an empty database; see
	// Open.
	Backup BackupFile
	// Aside is where the damaged file is now, empty when there was none.
	Aside string
	// Dropped is how many messages waited when the backup was made. They were
	// answered since or not; because that is unknown they are not answered again.
	Dropped int
	// At is when that was.
	At time.Time
	// Unanswered are the messages that were stored and not answered, as far as
	// the damaged file can be read; Readable says that it could be to the end.
	Unanswered []store.Unanswered `json:"-"`
	Readable   bool               `json:"-"`
}

// Recovered tells what Open had to restore, nil when nothing: this time, or before,
// when RecoveryTold was not called since.
func (a *Archive) Recovered() *Recovery { return a.recovery }

// RecoveryTold says that people know of what Recovered tells.
func (a *Archive) RecoveryTold() error {
	if err := os.Remove(untoldOf(a.store.Dir())); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func databaseOf(dir string) string { return filepath.Join(dir, "klawbot.db") }

// untoldOf is the file that keeps a Recovery until people know of it: the process may
// end in between.
func untoldOf(dir string) string { return databaseOf(dir) + ".recovered" }

// restorer repairs the database of a data directory.
type restorer struct {
	dir     string
	log     *slog.Logger
	rebuild bool // lets an empty database be made
	done    *Recovery
}

// recall reads the Recovery of an earlier start that was not reported yet.
func (r *restorer) recall(ctx context.Context) *Recovery {
	text, err := os.ReadFile(untoldOf(r.dir))
	if err != nil {
		return nil
	}
	var was Recovery
	if err := json.Unmarshal(text, &was); err != nil {
		r.log.Warn("what was restored before is not known", "path", untoldOf(r.dir), "err", err)
		return nil
	}
	if was.Aside != "" {
		was.Unanswered, was.Readable = store.ReadUnanswered(ctx, was.Aside)
	}
	return &was
}

// Restore puts a backup into a data directory that has no database, and returns
// how many messages waited in it that are dropped; see store.Adopt. If it may replace
// the database of the folder, the backup must be of the same bot, and the database stays
// beside it under another name. The folder's lock is held: *LockedError.
func Restore(ctx context.Context, dir, backup string, replace bool) (dropped int, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	lock, err := sqlite.Lock(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	db, id := databaseOf(dir), ""
	if replace {
		id, err = store.Instance(dir)
	} else {
		err = vacant(dir)
	}
	if err != nil {
		return 0, err
	}
	copied, dropped, err := prepareCopy(ctx, dir, backup, id)
	if err != nil {
		return 0, fmt.Errorf("restore %s: %w", backup, err)
	}
	if replace {
		_, err = setAside(db, "replaced", time.Now().UTC())
	}
	if err == nil {
		err = errors.Join(os.Rename(copied, db), syncDir(dir))
	}
	return dropped, err
}

// vacant refuses a data directory that has a database.
func vacant(dir string) error {
	db := databaseOf(dir)
	for _, name := range []string{db, db + "-wal", filepath.Join(dir, "instance")} {
		info, err := os.Lstat(name)
		if err == nil && name == db+"-wal" && info.Size() == 0 {
			continue // an empty write-ahead log, which a command leaves
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s already exists: restore into another data directory (--data), move it away first, or replace it by an automatic backup (--replace)", name)
		}
	}
	return nil
}

// repair replaces the damaged database by the newest good backup, or by an empty one if
// it may. When it cannot, nothing is changed.
func (r *restorer) repair(ctx context.Context, cause error) error {
	id, err := store.Instance(r.dir)
	if err != nil {
		return errors.Join(cause, err)
	}
	backups, err := Backups(r.dir)
	if err != nil {
		return errors.Join(cause, err)
	}
	for _, b := range backups {
		copied, dropped, err := prepareCopy(ctx, r.dir, b.Path, id)
		if store.Damaged(err) {
			r.log.Warn("backup is of no use", "path", b.Path, "err", err)
			continue
		}
		if err != nil {
			return errors.Join(cause, fmt.Errorf("restore %s: %w", b.Path, err))
		}
		now := &Recovery{Reason: cause.Error(), Backup: b, Dropped: dropped}
		if err := r.replace(ctx, now, copied); err != nil {
			return errors.Join(cause, err)
		}
		r.log.Error("database was damaged, the newest good backup is in use now",
			"reason", now.Reason, "backup", b.Path, "damaged_file", now.Aside, "dropped_messages", dropped,
			"unanswered_messages", len(now.Unanswered), "unanswered_all_known", now.Readable)
		return nil
	}
	if !r.rebuild {
		return fmt.Errorf("%w; %s holds no good backup: klawbot reindex builds a new database from the conversation logs, klawbot restore FILE puts a backup of yours into a new data directory",
			cause, filepath.Join(r.dir, backupFolder))
	}
	empty := restoringOf(r.dir)
	if err := store.Create(ctx, empty, id); err != nil {
		return errors.Join(cause, err)
	}
	now := &Recovery{Reason: cause.Error()}
	if err := r.replace(ctx, now, empty); err != nil {
		return errors.Join(cause, err)
	}
	r.log.Error("database was damaged and there is no good backup, an empty database is in use now", "reason", now.Reason, "damaged_file", now.Aside)
	return nil
}

// restoringOf is the file that takes the place of the database when it is complete.
func restoringOf(dir string) string { return databaseOf(dir) + ".restoring" }

// replace puts a prepared database into the place of the damaged one, and completes
// the record of that.
func (r *restorer) replace(ctx context.Context, done *Recovery, prepared string) (err error) {
	db := databaseOf(r.dir)
	done.At = time.Now().UTC().Truncate(time.Millisecond)
	if done.Aside, err = setAside(db, "damaged", done.At); err != nil {
		return err
	}
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	if err := errors.Join(writeFile(untoldOf(r.dir), string(text)), os.Rename(prepared, db), syncDir(r.dir)); err != nil {
		return err
	}
	if done.Aside != "" {
		done.Unanswered, done.Readable = store.ReadUnanswered(ctx, done.Aside)
	}
	r.done = done
	return nil
}

// setAside renames the database and its other files; as says why.
func setAside(path, as string, at time.Time) (string, error) {
	suffix := "." + as + "-" + at.Format("20060102T150405Z")
	aside := ""
	// The database last: while it is there, a start finds it damaged again.
	for _, end := range []string{"-wal", "-shm", ""} {
		err := os.Rename(path+end, path+suffix+end)
		switch {
		case err == nil && end == "":
			aside = path + suffix
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return aside, nil
}

// prepareCopy copies a backup into the folder, checks the copy and settles it.
// It only has to be renamed then.
func prepareCopy(ctx context.Context, dir, backup, instance string) (copied string, dropped int, err error) {
	copied = restoringOf(dir)
	if err := copyFile(backup, copied); err != nil {
		return "", 0, err
	}
	dropped, err = store.Adopt(ctx, copied, instance)
	if err != nil {
		_ = os.Remove(copied) // the first error tells more
		var d *sqlite.DamagedError
		if errors.As(err, &d) && d.Path == copied {
			d.Path = backup // what people know it by
		}
	}
	return copied, dropped, err
}

// copyFile copies and syncs; the copy is the owner's alone.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // nothing is written
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		_ = os.Remove(to) // the first error tells more
	}
	return err
}

// writeFile writes a file that is there in full or not at all.
func writeFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".recovered-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error tells more
	}
	return err
}
