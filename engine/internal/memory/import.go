package memory

import "klawbot/engine/internal/store"

// SaveAll remembers many texts at once. Those of one place that follow each other
// are neighbours. A memory with the key of another one takes its place.
func SaveAll(tx *store.Tx, all []store.Memory, size ChunkSize) error {
	var row []store.Chunk
	flush := func() error {
		err := Add(tx, row)
		row = nil
		return err
	}
	for _, m := range all {
		if m.Key != "" {
			if err := flush(); err != nil {
				return err
			}
			if _, err := replaced(tx, m); err != nil {
				return err
			}
		}
		id, err := tx.AddMemory(m)
		if err != nil {
			return err
		}
		for _, piece := range Split(m.Content, size.Size, size.Overlap) {
			c := store.Chunk{Kind: store.KindMemory, Owner: int64(id), Channel: m.Channel, Chat: m.Chat, Source: m.Source, Content: piece, CreatedAt: m.CreatedAt}
			if n := len(row); n > 0 && (row[n-1].Source != c.Source || row[n-1].Chat != c.Chat || row[n-1].Channel != c.Channel) {
				if err := flush(); err != nil {
					return err
				}
			}
			row = append(row, c)
		}
	}
	return flush()
}
