package store

import (
	"database/sql"
	"fmt"

	"klawbot/engine/internal/store/vectors"
)

// VectorSetID is the id of a VectorSet.
type VectorSetID int64

// VectorSet is the vectors that one model made.
type VectorSet struct {
	ID         VectorSetID
	Model      string
	Dimensions int
	// State is "building" until every chunk has its vector, then "used".
	State string
}

// The states of a VectorSet.
const (
	SetBuilding = "building"
	SetUsed     = "used"
)

// VectorSets lists the sets, the oldest first.
func (tx VectorsTx) VectorSets() ([]VectorSet, error) {
	all, err := query(tx, func(r row) (v VectorSet, err error) {
		err = r.Scan(&v.ID, &v.Model, &v.Dimensions, &v.State)
		return v, err
	}, `SELECT id, model, dimensions, state FROM vector_sets ORDER BY id`)
	return all, wrap(err, "list vector sets")
}

// AddVectorSet makes an empty set. Single vectors are read from it, never all, so
// its tables have small pages of vectors: SQLite walks to a vector in a large one
// page by page.
func (tx VectorsTx) AddVectorSet(v VectorSet) (VectorSetID, error) {
	id, err := tx.insert(`INSERT INTO vector_sets (model, dimensions, state, created_at) VALUES (?, ?, ?, ?)`,
		v.Model, v.Dimensions, v.State, toMillis(tx.now))
	for _, kind := range Kinds() {
		if err == nil {
			_, err = tx.exec(fmt.Sprintf(`CREATE VIRTUAL TABLE %s USING vec0(embedding float[%d], chunk_size=8)`,
				vectorTable(VectorSetID(id), kind), v.Dimensions))
		}
	}
	return VectorSetID(id), wrap(err, "make vector set")
}

// UseVectorSet puts a set to use and deletes the others.
func (tx VectorsTx) UseVectorSet(id VectorSetID) error {
	sets, err := tx.VectorSets()
	if err != nil {
		return err
	}
	for _, v := range sets {
		if v.ID != id {
			if err := tx.DropVectorSet(v.ID); err != nil {
				return err
			}
		}
	}
	return wrap(tx.change(`UPDATE vector_sets SET state = ? WHERE id = ?`, SetUsed, id), "use vector set %d", id)
}

// DropVectorSet deletes a set.
func (tx VectorsTx) DropVectorSet(id VectorSetID) error {
	_, err := tx.exec(`DELETE FROM vector_sets WHERE id = ?`, id)
	for _, kind := range Kinds() {
		if err == nil {
			_, err = tx.exec(`DROP TABLE IF EXISTS ` + vectorTable(id, kind))
		}
	}
	return wrap(err, "delete vector set %d", id)
}

// vectorTable names the vec0 table of a kind: vec_memory_1, vec_docs_1 and so on.
func vectorTable(id VectorSetID, kind Kind) string {
	name := string(kind)
	if kind != KindMemory {
		name += "s"
	}
	return fmt.Sprintf("vec_%s_%d", name, id)
}

// SetVector stores the vector of a chunk in a set.
func (tx VectorsTx) SetVector(id VectorSetID, kind Kind, chunk ChunkID, vector []float32) error {
	_, err := tx.exec(`INSERT INTO `+vectorTable(id, kind)+` (rowid, embedding) VALUES (?, ?)`, chunk, exactBytes(vectors.Floats(vector)))
	if err == nil {
		_, err = tx.exec(`INSERT INTO vector_bits (vectors, kind, chunk, bits) VALUES (?, ?, ?, ?)`, id, kind, chunk, exactBytes(append(vectors.Signs(vector), vectors.Coarse(vector)...)))
	}
	return wrap(err, "store vector of chunk %d", chunk)
}

// dropVectors deletes the vectors of chunks from all sets.
func (tx VectorsTx) dropVectors(kind Kind, chunks []ChunkID) error {
	sets, err := tx.VectorSets()
	if err != nil {
		return err
	}
	for _, v := range sets {
		var err error
		for _, chunk := range chunks { // "rowid IN" walks through the whole table
			if err == nil {
				_, err = tx.exec(`DELETE FROM `+vectorTable(v.ID, kind)+` WHERE rowid = ?`, chunk)
			}
		}
		if err == nil {
			_, err = tx.exec(`DELETE FROM vector_bits WHERE vectors = ? AND kind = ? AND chunk IN (`+list(chunks)+`)`, v.ID, kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WithoutVector returns chunks after an id that have no vector in a set, in the
// order of their ids, at most limit.
func (tx VectorsTx) WithoutVector(id VectorSetID, after ChunkID, limit int) ([]Chunk, error) {
	all, err := query(tx, scanChunk, withoutVectorSQL, after, id, limit)
	return all, wrap(err, "find chunks without a vector")
}

const withoutVectorSQL = `SELECT ` + chunkColumns + ` FROM chunks c WHERE c.id > ? AND NOT EXISTS
	(SELECT 1 FROM vector_bits b WHERE b.vectors = ? AND b.kind = c.kind AND b.chunk = c.id) ORDER BY c.id LIMIT ?`

// Vectors returns the vectors of chunks of a kind in a set.
func (tx VectorsTx) Vectors(id VectorSetID, kind Kind, chunks []ChunkID) (map[ChunkID][]float32, error) {
	all := make(map[ChunkID][]float32, len(chunks))
	if len(chunks) == 0 {
		return all, nil
	}
	// Of "rowid IN" vec0 makes a walk through the whole table; of a join it makes
	// one look for each row.
	err := tx.eachVector(func(chunk ChunkID, body []byte) { all[chunk] = vectors.FromFloats(body) },
		`SELECT v.rowid, v.embedding FROM chunks c CROSS JOIN `+vectorTable(id, kind)+` v ON v.rowid = c.id WHERE c.id IN (`+list(chunks)+`)`)
	return all, wrap(err, "read vectors")
}

// CoarseVectors returns the vectors of chunks of a kind in a set, each number in
// one of 255 steps: much quicker to read than the exact ones, and good enough to
// choose which of those are worth it. What is not known so is left out.
func (tx VectorsTx) CoarseVectors(set VectorSet, kind Kind, chunks []ChunkID) (map[ChunkID][]float32, error) {
	all := make(map[ChunkID][]float32, len(chunks))
	if len(chunks) == 0 {
		return all, nil
	}
	signs := (set.Dimensions + 7) / 8
	err := tx.eachVector(func(chunk ChunkID, body []byte) {
		if len(body) == signs+4+set.Dimensions {
			all[chunk] = vectors.FromCoarse(body[signs:])
		}
	}, `SELECT chunk, bits FROM vector_bits WHERE vectors = ? AND kind = ? AND chunk IN (`+list(chunks)+`)`, set.ID, kind)
	return all, wrap(err, "read coarse vectors")
}

// CoarseCosines calls found with the cosine of a vector of length 1 and those of
// chunks, each number in one of 255 steps; places are the IDs of their Bits. What is
// not known so, or is gone, is left out.
func (tx VectorsTx) CoarseCosines(set VectorSet, places []int64, vector []float32, found func(chunk ChunkID, cosine float64)) error {
	if len(places) == 0 {
		return nil
	}
	return tx.coarseCosines(set, vector, found, `SELECT chunk, bits FROM vector_bits WHERE id IN (`+list(places)+`)`)
}

// CoarseCosinesOf is CoarseCosines of chunks of a kind.
func (tx VectorsTx) CoarseCosinesOf(set VectorSet, kind Kind, chunks []ChunkID, vector []float32, found func(chunk ChunkID, cosine float64)) error {
	if len(chunks) == 0 {
		return nil
	}
	return tx.coarseCosines(set, vector, found, `SELECT chunk, bits FROM vector_bits WHERE vectors = ? AND kind = ? AND chunk IN (`+list(chunks)+`)`, set.ID, kind)
}

func (tx VectorsTx) coarseCosines(set VectorSet, vector []float32, found func(chunk ChunkID, cosine float64), statement string, args ...any) error {
	signs := (set.Dimensions + 7) / 8
	err := tx.eachVector(func(chunk ChunkID, body []byte) {
		if len(body) == signs+4+len(vector) {
			found(chunk, vectors.Dot(body[signs:], vector))
		}
	}, statement, args...)
	return wrap(err, "read coarse vectors")
}

// eachVector calls do with the id of a chunk and the bytes of its vector, which are
// valid only until do returns.
func (tx VectorsTx) eachVector(do func(chunk ChunkID, body []byte), statement string, args ...any) error {
	return tx.each(statement, args, func(r row) error {
		var chunk ChunkID
		var body sql.RawBytes
		if err := r.Scan(&chunk, &body); err != nil {
			return err
		}
		do(chunk, body)
		return nil
	})
}

// Bits are the signs of the vector of a chunk.
type Bits struct {
	// ID grows with every vector that is stored.
	ID      int64
	Chunk   ChunkID
	Channel string
	Chat    int64
	// Bits are valid only until the next row.
	Bits []byte
}

// EachBits calls add with the signs of the vectors of a set that were stored
// after a row, in their order.
func (tx VectorsTx) EachBits(id VectorSetID, kind Kind, after int64, add func(Bits)) error {
	err := tx.each(bitsSQL, []any{id, id, kind, after}, func(r row) error {
		var b Bits
		if err := r.Scan(&b.ID, &b.Chunk, &b.Channel, &b.Chat, (*sql.RawBytes)(&b.Bits)); err != nil {
			return err
		}
		add(b)
		return nil
	})
	return wrap(err, "read bits")
}

const bitsSQL = `SELECT b.id, b.chunk, c.channel, c.chat, substr(b.bits, 1, (SELECT (dimensions + 7) / 8 FROM vector_sets WHERE id = ?)) FROM vector_bits b JOIN chunks c ON c.id = b.chunk
	WHERE b.vectors = ? AND b.kind = ? AND b.id > ? ORDER BY b.id`

// LastBits is the ID of the newest Bits of all sets, 0 where there are none.
func (tx VectorsTx) LastBits() (id int64, err error) {
	err = tx.tx.QueryRow(`SELECT coalesce(max(id), 0) FROM vector_bits`).Scan(&id)
	return id, wrap(err, "find the newest bits")
}
