package store

import (
	"errors"
	"fmt"
	"time"
)

// MemoryID is the id of a Memory.
type MemoryID int64

// Memory is something to be remembered.
type Memory struct {
	ID MemoryID
	// Channel and Chat are the chat that may know it; an empty Channel is every
	// chat.
	Channel string
	Chat    int64
	// Key names it, empty for none. A new one replaces the old one of the chat.
	Key string
	// Category is a label: core, daily or custom.
	Category string
	// Source says where it comes from, in one word or a path.
	Source string
	// Provenance says who had it stored: person, model, tool, import or file.
	Provenance string
	Turn       TurnID // 0 for none
	Content    string
	// CreatedAt is when it was said, ChangedAt when it was stored last.
	CreatedAt, ChangedAt time.Time
}

const memoryColumns = `id, channel, chat, key, category, source, provenance, turn, content, created_at, changed_at`

func scanMemory(r row) (m Memory, err error) {
	err = r.Scan(&m.ID, &m.Channel, &m.Chat, &m.Key, &m.Category, &m.Source, &m.Provenance, &m.Turn, &m.Content,
		millis{&m.CreatedAt}, millis{&m.ChangedAt})
	return m, err
}

// AddMemory stores a memory without its chunks.
func (tx MemoriesTx) AddMemory(m Memory) (MemoryID, error) {
	id, err := tx.insert(`INSERT INTO memories (channel, chat, key, category, source, provenance, turn, content, created_at, changed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, m.Channel, m.Chat, tx.secrets.Text(m.Key), m.Category, m.Source, m.Provenance, m.Turn, m.Content,
		tx.orNow(m.CreatedAt), tx.orNow(m.ChangedAt))
	return MemoryID(id), wrap(err, "store memory")
}

// Memory returns one memory, or ErrNotFound.
func (tx MemoriesTx) Memory(id MemoryID) (Memory, error) {
	m, err := scanMemory(tx.tx.QueryRow(`SELECT `+memoryColumns+` FROM memories WHERE id = ?`, id))
	return m, wrap(err, "memory %d", id)
}

// MemoryByKey returns the memory of a chat that has a key, or ErrNotFound.
func (tx MemoriesTx) MemoryByKey(channel string, chat int64, key string) (Memory, error) {
	m, err := scanMemory(tx.tx.QueryRow(`SELECT `+memoryColumns+` FROM memories
		WHERE channel = ? AND chat = ? AND key = ? AND key <> ''`, channel, chat, tx.secrets.Text(key)))
	return m, wrap(err, "memory %q", key)
}

// MemoriesByKey returns the memories of all chats that have a key.
func (tx MemoriesTx) MemoriesByKey(key string) ([]Memory, error) {
	all, err := query(tx, scanMemory, `SELECT `+memoryColumns+` FROM memories WHERE key = ? AND key <> '' ORDER BY id`, tx.secrets.Text(key))
	return all, wrap(err, "memories %q", key)
}

// Memories lists memories, the newest first, at most limit.
func (tx MemoriesTx) Memories(limit int) ([]Memory, error) {
	all, err := query(tx, scanMemory, `SELECT `+memoryColumns+` FROM memories ORDER BY id DESC LIMIT ?`, limit)
	return all, wrap(err, "list memories")
}

// ImportedMemories calls seen with every memory that was imported for all chats.
func (tx MemoriesTx) ImportedMemories(seen func(Memory)) error {
	err := tx.each(`SELECT `+memoryColumns+` FROM memories WHERE channel = '' AND provenance = 'import' ORDER BY id`, nil, func(r row) error {
		m, err := scanMemory(r)
		if err == nil {
			seen(m)
		}
		return err
	})
	return wrap(err, "list memories")
}

// MemoryCount is how much is remembered: memories, chunks of all kinds, and those
// that have a vector in the newest set.
type MemoryCount struct{ Memories, Chunks, Vectors int }

// CountMemory counts what is remembered.
func (tx MemoriesTx) CountMemory() (n MemoryCount, err error) {
	err = tx.tx.QueryRow(`SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM chunks),
		(SELECT count(*) FROM vector_bits WHERE vectors = (SELECT max(id) FROM vector_sets))`).Scan(&n.Memories, &n.Chunks, &n.Vectors)
	return n, wrap(err, "count memories")
}

// DropMemory deletes a memory and its chunks, or returns ErrNotFound.
func (tx MemoriesTx) DropMemory(id MemoryID) error {
	err := tx.change(`DELETE FROM memories WHERE id = ?`, id)
	if err == nil {
		err = tx.all().Index().DropChunks(KindMemory, int64(id))
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("forget memory %d: %w", id, err)
	}
	return err
}
