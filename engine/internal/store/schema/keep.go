package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"klawbot/engine/internal/sqlite"
)

const (
	// KeptName is the name of a copy from before an update, as a time in UTC. It is in the
	// folder of the automatic backups, but none of them: no rotation deletes it.
	KeptName = "before-update-20060102T150405Z.db"
	// keptCopies is how many such copies stay.
	keptCopies = 3
	// keptReserve is the space in bytes that a copy leaves to the bot.
	keptReserve = 64 << 20
)

// Update brings a database to the schema of this program, and keeps a copy of it first,
// so that the program before can be used again. Without the space for a copy it warns:
// the hourly backups are from before the update too.
func Update(ctx context.Context, db *sql.DB, path string, log *slog.Logger) error {
	done, err := applied(ctx, db)
	if err != nil {
		return err
	}
	steps, err := Missing(ctx, db, path)
	if err != nil {
		return err
	}
	if len(done) > 0 && len(steps) > 0 {
		kept, err := keep(ctx, db, path)
		if err != nil {
			log.Warn("no backup before the update", "err", err)
		} else {
			log.Info("backup made before the update: klawbot restore --replace goes back to it", "path", kept, "steps", steps)
		}
	}
	return Migrate(ctx, db, path)
}

// keep writes a checked copy of a database beside the automatic backups.
func keep(ctx context.Context, db *sql.DB, path string) (name string, err error) {
	dir := filepath.Join(filepath.Dir(path), "backups")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if free, err := sqlite.FreeSpace(dir); err != nil || free < uint64(info.Size())+keptReserve {
		return "", errors.Join(err, fmt.Errorf("%d MiB are free, %d needed in %s", free>>20, (info.Size()+keptReserve)>>20, dir))
	}
	name = filepath.Join(dir, time.Now().UTC().Format(KeptName))
	part := name + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", part)
	if err == nil {
		err = used(ctx, part)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		_ = os.Remove(part) // the first error tells more
		return "", err
	}
	all := Kept(filepath.Dir(path))
	for _, old := range all[min(keptCopies, len(all)):] {
		err = errors.Join(err, os.Remove(old))
	}
	return name, err
}

// used checks a copy, and marks it as that of a bot which ran on: what waited in it is
// answered by the program after the update, and not a second time.
func used(ctx context.Context, path string) (err error) {
	db, err := sqlite.Open(path, url.Values{"_query_only": {"false"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "UPDATE meta SET value = '0' WHERE key = 'clean'"); err != nil {
		return err
	}
	return sqlite.CheckPages(ctx, db, path, "integrity_check")
}

// Kept lists the copies from before updates of a data directory, the newest first.
func Kept(dir string) []string {
	all, _ := filepath.Glob(filepath.Join(dir, "backups", "before-update-*Z.db")) // the pattern is a good one
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// goBack is the newest copy from before an update that this program can use, "" for none.
func goBack(ctx context.Context, path string) string {
	names, err := known()
	if err != nil {
		return ""
	}
	for _, kept := range Kept(filepath.Dir(path)) {
		if done, err := stepsOf(ctx, kept); err == nil && !slices.ContainsFunc(done, func(name string) bool { return !slices.Contains(names, name) }) {
			return kept
		}
	}
	return ""
}

func stepsOf(ctx context.Context, path string) ([]string, error) {
	db, err := sqlite.Open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return nil, err
	}
	defer db.Close() // it was only read
	return applied(ctx, db)
}
