package store

import (
	"encoding/json"
	"time"
)

// MemoryChangeID is the id of a MemoryChange.
type MemoryChangeID int64

// MemoryChange is a memory that was saved or forgotten, or both: one that took the
// place of another.
type MemoryChange struct {
	ID MemoryChangeID
	At time.Time
	// Saved is the memory that was stored, 0 for none.
	Saved MemoryID
	// Before is the one that went, nil for none.
	Before *Memory
	Undone bool
}

const memoryChangeColumns = `id, at, saved, before, undone`

func scanMemoryChange(r row) (c MemoryChange, err error) {
	var before string
	if err := r.Scan(&c.ID, millis{&c.At}, &c.Saved, &before, &c.Undone); err != nil {
		return c, err
	}
	if before != "" {
		c.Before = new(Memory)
		err = json.Unmarshal([]byte(before), c.Before)
	}
	return c, err
}

// AddMemoryChange stores what was changed.
func (tx MemoriesTx) AddMemoryChange(saved MemoryID, before *Memory) error {
	text := []byte{}
	var err error
	if before != nil {
		if text, err = json.Marshal(before); err != nil {
			return err
		}
	}
	_, err = tx.insert(`INSERT INTO memory_changes (at, saved, before, undone) VALUES (?, ?, ?, 0)`, toMillis(tx.now), saved, string(text))
	return wrap(err, "store the change of a memory")
}

// MemoryChange returns a change, with 0 the newest that was not undone, or
// ErrNotFound.
func (tx MemoriesTx) MemoryChange(id MemoryChangeID) (MemoryChange, error) {
	c, err := scanMemoryChange(tx.tx.QueryRow(`SELECT `+memoryChangeColumns+` FROM memory_changes
		WHERE id = ?1 OR ?1 = 0 AND undone = 0 ORDER BY id DESC LIMIT 1`, id))
	return c, wrap(err, "change of a memory")
}

// MemoryChanges lists the changes, the newest first, at most limit.
func (tx MemoriesTx) MemoryChanges(limit int) ([]MemoryChange, error) {
	all, err := query(tx, scanMemoryChange, `SELECT `+memoryChangeColumns+` FROM memory_changes ORDER BY id DESC LIMIT ?`, limit)
	return all, wrap(err, "list changes of memories")
}

// EndMemoryChange marks a change as undone.
func (tx MemoriesTx) EndMemoryChange(id MemoryChangeID) error {
	return wrap(tx.change(`UPDATE memory_changes SET undone = 1 WHERE id = ?`, id), "end the change of a memory")
}
