package store

import (
	"encoding/json"
	"time"
)

// ChangeID is the id of a Change.
type ChangeID int64

// Change is the record of one change of one file of the workspace, written
// before it is made.
type Change struct {
	ID ChangeID
	// Call, Turn, Chat and Tool say whose change it is.
	Call string
	Turn TurnID // 0 for none
	Chat string
	Tool string
	Path string
	// Before and After are hashes, "" for no file.
	Before, After string
	// Size and Mode are those of the file before. Kept says that its content
	// is stored.
	Size   int64
	Mode   uint32
	Kept   bool
	Undoes []ChangeID
	At     time.Time
}

// What is kept of changes: the newest ones, and of their images so many bytes.
const (
	changesKept = 10_000
	imagesKept  = 64 << 20
)

const (
	changesSQL = `SELECT id, call, turn, chat, tool, path, before, after, size, mode, kept, undoes, at
		FROM changes ORDER BY id DESC LIMIT ?`
)

// AddChange stores a change and what the file held before, which is kept when
// c.Kept is true. It forgets the oldest changes when there are too many or
// their images are too large.
func (tx ChangesTx) AddChange(c Change, image []byte) (ChangeID, error) {
	undoes, err := json.Marshal(c.Undoes)
	if err != nil {
		return 0, err
	}
	id, err := tx.insert(`INSERT INTO changes (call, turn, chat, tool, path, before, after, size, mode, kept, undoes, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, c.Call, c.Turn, c.Chat, c.Tool, exact(c.Path), c.Before, c.After,
		c.Size, c.Mode, c.Kept, string(undoes), tx.orNow(c.At))
	if err == nil && c.Kept {
		_, err = tx.exec(`INSERT INTO images (change, body) VALUES (?, ?)`, id, exactBytes(blob(image)))
	}
	if err == nil {
		err = tx.forgetChanges()
	}
	return ChangeID(id), wrap(err, "record change of %s", c.Path)
}

// forgetChanges deletes the oldest changes that are too many or too much.
func (tx ChangesTx) forgetChanges() error {
	var size int64
	var count int
	err := tx.tx.QueryRow(`SELECT coalesce(sum(size) FILTER (WHERE kept), 0), count(*) FROM changes`).Scan(&size, &count)
	if err != nil || size <= imagesKept && count <= changesKept {
		return err
	}
	_, err = tx.exec(`DELETE FROM changes WHERE id <= (SELECT max(id) FROM
		(SELECT id, sum(size) FILTER (WHERE kept) OVER newer AS size, count(*) OVER newer AS count FROM changes
			WINDOW newer AS (ORDER BY id DESC))
		WHERE size > ? OR count > ?)`, imagesKept, changesKept)
	return err
}

// DropChange deletes the record of a change that was not made.
func (tx ChangesTx) DropChange(id ChangeID) error {
	return wrap(tx.change(`DELETE FROM changes WHERE id = ?`, id), "drop change %d", id)
}

// Changes lists what is recorded, the newest first.
func (tx ChangesTx) Changes() ([]Change, error) {
	all, err := query(tx, func(r row) (c Change, err error) {
		err = r.Scan(&c.ID, &c.Call, &c.Turn, &c.Chat, &c.Tool, &c.Path, &c.Before, &c.After,
			&c.Size, &c.Mode, &c.Kept, jsonColumn{&c.Undoes}, millis{&c.At})
		return c, err
	}, changesSQL, changesKept)
	return all, wrap(err, "list changes")
}

// ChangeImage returns what the file held before a change. A change whose image
// is not kept is ErrNotFound.
func (tx ChangesTx) ChangeImage(id ChangeID) ([]byte, error) {
	var image []byte
	err := tx.tx.QueryRow(`SELECT body FROM images WHERE change = ?`, id).Scan(&image)
	return image, wrap(err, "image of change %d", id)
}
