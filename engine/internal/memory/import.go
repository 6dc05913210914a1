package memory

import "klawbot/engine/internal/store"

// SaveAll remembers many texts at once. Those of one place that follow each other
// are neighbours. A memory with the key of another one takes its place, which can
// be undone.
func SaveAll(tx *store.Tx, all []store.Memory, size ChunkSize) error {
	r := row{tx: tx}
	for _, m := range all {
		var old *store.Memory
		var err error
		if m.Key != "" {
			if err = r.flush(); err != nil {
				return err
			}
			if old, err = replaced(tx, m); err != nil {
				return err
			}
		}
		if m.ID, err = tx.Memories().AddMemory(m); err != nil {
			return err
		}
		if old != nil {
			if err := tx.Memories().AddMemoryChange(m.ID, old); err != nil {
				return err
			}
		}
		if err := r.add(chunksOfMemory(m, size)); err != nil {
			return err
		}
	}
	return r.flush()
}

// IndexAll indexes stored memories.
func IndexAll(tx *store.Tx, all []store.Memory, size ChunkSize) error {
	r := row{tx: tx}
	for _, m := range all {
		if err := r.add(chunksOfMemory(m, size)); err != nil {
			return err
		}
	}
	return r.flush()
}

// row collects chunks of one place that follow each other, so that they are added
// at once.
type row struct {
	tx     *store.Tx
	chunks []store.Chunk
}

func (r *row) add(chunks []store.Chunk) error {
	for _, c := range chunks {
		if n := len(r.chunks); n > 0 && !samePlace(r.chunks[n-1], c) {
			if err := r.flush(); err != nil {
				return err
			}
		}
		r.chunks = append(r.chunks, c)
	}
	return nil
}

func (r *row) flush() error {
	err := Add(r.tx, r.chunks)
	r.chunks = nil
	return err
}

func samePlace(a, b store.Chunk) bool {
	return a.Kind == b.Kind && a.Channel == b.Channel && a.Chat == b.Chat && a.Source == b.Source
}
