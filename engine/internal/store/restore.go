package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"klawbot/internal/atomicfile"
)

// DamagedError says that a file is no database that can be used.
type DamagedError struct {
	Path string
	// Reason completes a sentence about the file: "is gone".
	Reason string
}

func (e *DamagedError) Error() string { return e.Path + " " + e.Reason }

// asDamage makes a *DamagedError of SQLite's word for damage; other errors stay.
func asDamage(path string, err error) error {
	if stateOf(err) == StateDamaged {
		return &DamagedError{path, "is damaged: " + err.Error()}
	}
	return err
}

// Recovery tells how Open replaced a damaged database.
type Recovery struct {
	// Reason is what was wrong.
	Reason string
	// Backup is what stands in its place, zero for an empty database; see
	// Config.Rebuild.
	Backup BackupFile
	// Aside is where the damaged file is now, empty when there was none.
	Aside string
	// Dropped is how many messages waited when the backup was made. They were
	// answered since, or not: nobody knows, so they are not answered again.
	Dropped int
	// At is when that was.
	At time.Time
	// Unanswered are the messages that were stored and not answered, as far as
	// the damaged file can be read; Readable says that it could be to the end.
	Unanswered []Unanswered `json:"-"`
	Readable   bool         `json:"-"`
}

// Unanswered is a message that a damaged database held without its answer.
type Unanswered struct {
	Address Address
	// Placeholder is the message that was to become the answer, 0 for none.
	Placeholder int64
}

// readUnanswered reads a damaged database without changing it. The indexes are left
// alone: one more that can be damaged.
func readUnanswered(ctx context.Context, path string) (all []Unanswered, readable bool) {
	db, err := openDB(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return nil, false
	}
	defer db.Close() // nothing is written
	rows, err := db.QueryContext(ctx, `SELECT i.channel, i.chat, i.thread, coalesce(t.placeholder_id, 0)
		FROM inbox i NOT INDEXED LEFT JOIN turns t ON t.id = i.turn AND t.state = 'running' AND t.placeholder = 'shown'
		WHERE i.state IN ('new', 'running') ORDER BY i.id`)
	if err != nil {
		return nil, false
	}
	defer rows.Close() // they were only read
	for rows.Next() {
		var u Unanswered
		if err := rows.Scan(&u.Address.Chat.Channel, &u.Address.Chat.ID, &u.Address.Thread, &u.Placeholder); err != nil {
			return all, false
		}
		all = append(all, u)
	}
	return all, rows.Err() == nil
}

// Recovered tells what Open had to restore, nil when nothing: this time, or before,
// when nobody has called RecoveryTold since.
func (s *Store) Recovered() *Recovery { return s.recovery }

// RecoveryTold says that people know of what Recovered tells.
func (s *Store) RecoveryTold() error {
	if err := os.Remove(s.untold()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// untold is the file that keeps a Recovery until people know of it: the process may
// end in between.
func (s *Store) untold() string { return s.path + ".recovered" }

// recall reads the Recovery of an earlier start that nobody was told of.
func (s *Store) recall(ctx context.Context) *Recovery {
	text, err := os.ReadFile(s.untold())
	if err != nil {
		return nil
	}
	var r Recovery
	if err := json.Unmarshal(text, &r); err != nil {
		s.log.Warn("what was restored before is not known", "path", s.untold(), "err", err)
		return nil
	}
	if r.Aside != "" {
		r.Unanswered, r.Readable = readUnanswered(ctx, r.Aside)
	}
	return &r
}

// Restore puts a backup into a data folder that has no database, and returns
// how many messages waited in it that are dropped; see settleCopy. The folder's
// lock is held meanwhile: *LockedError.
func Restore(ctx context.Context, dir, backup string) (dropped int, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	pair := newInstance(dir)
	for _, name := range []string{pair.db, pair.db + "-wal", pair.file} {
		info, err := os.Lstat(name)
		if err == nil && name == pair.db+"-wal" && info.Size() == 0 {
			continue // an empty write-ahead log, which a command leaves
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("%s is there already: restore into another data folder (--data), or move it away first", name)
		}
	}
	copied, dropped, err := prepareCopy(ctx, dir, backup, "")
	if err != nil {
		return 0, fmt.Errorf("restore %s: %w", backup, err)
	}
	return dropped, atomicfile.Rename(copied, pair.db)
}

// recover replaces the damaged database by the newest good backup, or by an empty
// one if it may. When it cannot, nothing is changed.
func (s *Store) recover(ctx context.Context, cause error, rebuild bool) (*Recovery, error) {
	id, err := newInstance(s.dir).id()
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	backups, err := Backups(s.dir)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	for _, b := range backups {
		copied, dropped, err := prepareCopy(ctx, s.dir, b.Path, id)
		if Damaged(err) {
			s.log.Warn("backup is of no use", "path", b.Path, "err", err)
			continue
		}
		if err != nil {
			return nil, errors.Join(cause, fmt.Errorf("restore %s: %w", b.Path, err))
		}
		r := &Recovery{Reason: cause.Error(), Backup: b, Dropped: dropped}
		if err := s.replace(ctx, r, copied); err != nil {
			return nil, errors.Join(cause, err)
		}
		s.log.Error("database was damaged, the newest good backup is in use now",
			"reason", r.Reason, "backup", b.Path, "damaged_file", r.Aside, "dropped_messages", dropped,
			"unanswered_messages", len(r.Unanswered), "unanswered_all_known", r.Readable)
		return r, nil
	}
	if !rebuild {
		return nil, fmt.Errorf("%w; %s holds no good backup: klawbot reindex builds a new database from the conversation logs, klawbot restore FILE puts a backup of yours into a new data folder",
			cause, filepath.Join(s.dir, backupFolder))
	}
	empty, err := s.prepareEmpty(ctx, id)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	r := &Recovery{Reason: cause.Error()}
	if err := s.replace(ctx, r, empty); err != nil {
		return nil, errors.Join(cause, err)
	}
	s.log.Error("database was damaged and there is no good backup, an empty database is in use now", "reason", r.Reason, "damaged_file", r.Aside)
	return r, nil
}

// replace puts a prepared database into the place of the damaged one, and completes
// the record of that.
func (s *Store) replace(ctx context.Context, r *Recovery, prepared string) (err error) {
	r.At = now()
	if r.Aside, err = setAside(s.path, r.At); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := errors.Join(atomicfile.Write(s.untold(), text, 0o600), atomicfile.Rename(prepared, s.path)); err != nil {
		return err
	}
	if r.Aside != "" {
		r.Unanswered, r.Readable = readUnanswered(ctx, r.Aside)
	}
	return nil
}

// prepareEmpty makes an empty database that belongs to the folder. It only has to
// be renamed then.
func (s *Store) prepareEmpty(ctx context.Context, instance string) (path string, err error) {
	path = filepath.Join(s.dir, "klawbot.db.restoring")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := createFile(path); err != nil {
		return "", err
	}
	db, err := openWriter(ctx, path)
	if err != nil {
		return "", err
	}
	err = migrate(ctx, db, path)
	if err == nil && instance != "" {
		err = setMeta(db, "instance", instance)
	}
	if err == nil {
		err = setMeta(db, "clean", "1")
	}
	return path, errors.Join(err, db.Close()) // closing it takes its write-ahead log in
}

// setAside renames the database and its other files, as evidence.
func setAside(path string, at time.Time) (string, error) {
	suffix := ".damaged-" + at.Format("20060102T150405Z")
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
	copied = filepath.Join(dir, "klawbot.db.restoring")
	if err := copyFile(backup, copied); err != nil {
		return "", 0, err
	}
	dropped, err = checkCopy(ctx, copied, instance)
	if err != nil {
		_ = os.Remove(copied) // the first error tells more
		var d *DamagedError
		if errors.As(err, &d) && d.Path == copied {
			d.Path = backup // what people know it by
		}
	}
	return copied, dropped, err
}

func checkCopy(ctx context.Context, path, instance string) (dropped int, err error) {
	db, err := openDB(path, url.Values{"_query_only": {"false"}, "_synchronous": {"FULL"}, "_txlock": {"immediate"}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := verify(ctx, db, path, instance); err != nil {
		return 0, err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode); err != nil {
		return 0, err
	}
	return settleCopy(ctx, db)
}

// settleCopy makes the work in a copy fit the present. A copy of a running bot
// is older than what the bot did afterwards: what waited in it was most
// probably answered, so it is ended and not done a second time. In a copy of a
// stopped bot what waited still waits. The conversation logs are written again
// where they lack messages.
func settleCopy(ctx context.Context, db *sql.DB) (dropped int, err error) {
	clean, err := getMeta(ctx, db, "clean")
	if err != nil {
		return 0, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // does nothing after Commit
	if clean != "1" {
		if err := tx.QueryRow(`SELECT count(*) FROM inbox WHERE state IN ('new', 'running')`).Scan(&dropped); err != nil {
			return 0, err
		}
		for _, statement := range []string{
			`DELETE FROM answers`,
			`DELETE FROM calls`,
			`UPDATE turns SET state = 'stopped', note = 'a backup was restored', ended_at = started_at WHERE state = 'running'`,
			`UPDATE outbox SET state = 'unknown', note = 'a backup was restored' WHERE state IN ('new', 'sending')`,
			`UPDATE inbox SET state = 'done', note = 'a backup was restored' WHERE state IN ('new', 'running')`,
			// What was due since has most probably run: jobs go on from now.
			`UPDATE runs SET state = 'running', turn = -1 WHERE state IN ('claimed', 'running', 'retry') AND job IN (SELECT id FROM jobs WHERE kind = 'spawn')`, // they are told as lost
			`UPDATE runs SET state = 'missed', note = 'a backup was restored', ended_at = scheduled_at WHERE state IN ('claimed', 'running', 'retry') AND turn <> -1`,
			`UPDATE jobs SET next_run = 0, settled = 0 WHERE state = 'on'`,
		} {
			if _, err := tx.Exec(statement); err != nil {
				return 0, err
			}
		}
	}
	if _, err := tx.Exec(`UPDATE messages SET logged = 0`); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(`UPDATE meta SET value = '1' WHERE key = 'clean'`); err != nil {
		return 0, err
	}
	return dropped, tx.Commit()
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
