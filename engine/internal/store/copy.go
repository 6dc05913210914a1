package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/schema"
)

// CopyTo writes the database into an empty file, while others keep writing. It
// takes a connection of its own: those for reading are query-only, which SQLite takes
// to mean the copy too.
func (s *Store) CopyTo(ctx context.Context, path string) error {
	db, err := sqlite.Open(s.path, url.Values{"_query_only": {"false"}})
	if err != nil {
		return err
	}
	defer db.Close() // nothing is written
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", path)
	if Damaged(err) {
		s.condition.Note(err)
	}
	return err
}

// Unanswered is a message that a damaged database held without its answer.
type Unanswered struct {
	Address Address
	// Placeholder is the message that was to become the answer, 0 for none.
	Placeholder int64
}

// ReadUnanswered lists what a damaged database holds without an answer, and says
// whether it could be read to the end. It does not change the file, and leaves the
// indexes alone: one more that can be damaged.
func ReadUnanswered(ctx context.Context, path string) (all []Unanswered, readable bool) {
	db, err := sqlite.Open(path, url.Values{"mode": {"ro"}})
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

// Adopt checks the copy of a database, of the given instance unless that is empty,
// and makes it fit for use. dropped is how many messages waited in it that are not
// answered any more.
func Adopt(ctx context.Context, path, instance string) (dropped int, err error) {
	db, err := sqlite.Open(path, url.Values{"_query_only": {"false"}, "_synchronous": {"FULL"}, "_txlock": {"immediate"}})
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

// Create makes an empty database of an instance, in the place of one that is there.
func Create(ctx context.Context, path, instance string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := sqlite.CreateFile(path); err != nil {
		return err
	}
	db, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	err = schema.Migrate(ctx, db, path)
	if err == nil && instance != "" {
		err = setMeta(db, "instance", instance)
	}
	if err == nil {
		err = setMeta(db, "clean", "1")
	}
	return errors.Join(err, db.Close()) // closing it takes its write-ahead log in
}
