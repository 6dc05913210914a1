package memory

import (
	"errors"
	"fmt"
	"strings"

	"klawbot/engine/internal/store"
)

// ChunkSize says how texts are cut, in tokens.
type ChunkSize struct{ Size, Overlap int }

// Save remembers a text in chunks, so that it can be found when the transaction
// is committed. A memory of the chat with the same key is replaced; old is that
// one, if there was one. A text without words is no memory: saved is 0.
func Save(tx *store.Tx, m store.Memory, size ChunkSize) (id store.MemoryID, saved int, old *store.Memory, err error) {
	if strings.TrimSpace(m.Content) == "" {
		return 0, 0, nil, nil
	}
	if m.Key != "" {
		if old, err = replaced(tx, m); err != nil {
			return 0, 0, nil, err
		}
	}
	if id, err = tx.Memories().AddMemory(m); err != nil {
		return 0, 0, nil, err
	}
	m.ID = id
	chunks := chunksOfMemory(m, size)
	return id, len(chunks), old, Add(tx, chunks)
}

func chunksOfMemory(m store.Memory, size ChunkSize) []store.Chunk {
	pieces := Split(m.Content, size.Size, size.Overlap)
	chunks := make([]store.Chunk, len(pieces))
	for i, piece := range pieces {
		chunks[i] = store.Chunk{Kind: store.KindMemory, Owner: int64(m.ID), Channel: m.Channel, Chat: m.Chat,
			Source: m.Source, Content: piece, CreatedAt: m.CreatedAt}
	}
	return chunks
}

// replaced forgets the memory of the same key.
func replaced(tx *store.Tx, m store.Memory) (*store.Memory, error) {
	old, err := tx.Memories().MemoryByKey(m.Channel, m.Chat, m.Key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &old, Forget(tx, old.ID)
}

// Forget deletes a memory, so that nothing finds it any more. One that is not
// there is store.ErrNotFound.
func Forget(tx *store.Tx, id store.MemoryID) error {
	if err := Drop(tx, store.KindMemory, int64(id)); err != nil {
		return fmt.Errorf("forget memory %d: %w", id, err)
	}
	return tx.Memories().DropMemory(id)
}

// Undo takes back a change of the memories, with 0 the newest, and returns it. One that
// is not there, or was undone, is store.ErrNotFound.
func Undo(tx *store.Tx, id store.MemoryChangeID, size ChunkSize) (c store.MemoryChange, err error) {
	c, err = tx.Memories().MemoryChange(id)
	if err == nil && c.Undone {
		err = store.ErrNotFound
	}
	if err != nil {
		return c, err
	}
	if c.Saved != 0 {
		if err := Forget(tx, c.Saved); err != nil && !errors.Is(err, store.ErrNotFound) {
			return c, err
		}
	}
	if c.Before != nil {
		id, _, newer, err := Save(tx, *c.Before, size)
		if err != nil {
			return c, err
		}
		if newer != nil { // saved since under the same key: it can come back, too
			if err := tx.Memories().AddMemoryChange(id, newer); err != nil {
				return c, err
			}
		}
	}
	return c, tx.Memories().EndMemoryChange(c.ID)
}
