package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ChunkID is the id of a Chunk.
type ChunkID int64

// Kind says what a chunk is a piece of.
type Kind string

// The kinds of chunks.
const (
	KindMemory  Kind = "memory"
	KindMessage Kind = "message"
	KindDoc     Kind = "doc"
	KindFile    Kind = "file"
)

// Kinds are all kinds of chunks.
func Kinds() []Kind { return []Kind{KindMemory, KindMessage, KindDoc, KindFile} }

// Chunk is a piece of text that can be found.
type Chunk struct {
	ID   ChunkID
	Kind Kind
	// Owner is the id of its memory or message, 0 for pages and files.
	Owner int64
	// Channel and Chat are the chat that may find it; an empty Channel is every chat.
	Channel string
	Chat    int64
	// Source is the memory's source, the message's session, the path of a page or
	// a file.
	Source    string
	Content   string
	CreatedAt time.Time
}

const chunkColumns = `c.id, c.kind, c.owner, c.channel, c.chat, c.source, c.content, c.created_at`

func scanChunk(r row) (c Chunk, err error) {
	err = r.Scan(&c.ID, &c.Kind, &c.Owner, &c.Channel, &c.Chat, &c.Source, &c.Content, millis{&c.CreatedAt})
	return c, err
}

// AddChunk stores a chunk without its terms, and returns it with its id and time.
func (tx IndexTx) AddChunk(c Chunk) (Chunk, error) {
	at := tx.orNow(c.CreatedAt)
	id, err := tx.insert(`INSERT INTO chunks (kind, owner, channel, chat, source, content, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		c.Kind, c.Owner, c.Channel, c.Chat, exact(c.Source), c.Content, at)
	if err != nil {
		return c, fmt.Errorf("store chunk: %w", err)
	}
	c.ID, c.CreatedAt = ChunkID(id), time.UnixMilli(at).UTC()
	return c, nil
}

// SetTerms stores the words that a chunk is found by, in place of those before.
func (tx IndexTx) SetTerms(id ChunkID, terms string) error {
	_, err := tx.exec(`INSERT OR REPLACE INTO chunks_fts (rowid, terms) VALUES (?, ?)`, id, terms)
	return wrap(err, "store terms of chunk %d", id)
}

// DropChunks deletes the chunks of a memory or a message.
func (tx IndexTx) DropChunks(kind Kind, owner int64) error {
	return tx.dropChunks(`SELECT id FROM chunks WHERE kind = ? AND owner = ?`, kind, owner)
}

// DropSource deletes the chunks of a page, a file or a session.
func (tx IndexTx) DropSource(kind Kind, source string) error {
	return tx.dropChunks(`SELECT id FROM chunks WHERE kind = ? AND channel = '' AND chat = 0 AND source = ?`, kind, source)
}

func (tx IndexTx) dropChunks(which string, kind Kind, arg any) error {
	ids, err := query(tx, single[ChunkID], which, kind, arg)
	if err == nil && len(ids) > 0 {
		if err = tx.all().Vectors().dropVectors(kind, ids); err == nil {
			_, err = tx.exec(`DELETE FROM chunks_fts WHERE rowid IN (` + list(ids) + `)`)
		}
		if err == nil {
			_, err = tx.exec(`DELETE FROM chunks WHERE id IN (` + list(ids) + `)`)
		}
	}
	return wrap(err, "delete chunks")
}

// list writes ids as SQL. They are numbers, so there is nothing to quote.
func list[T ~int64](ids []T) string {
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(b)
}

// ChunksBefore returns at most limit chunks of the same place before a chunk, in order.
func (tx IndexTx) ChunksBefore(c Chunk, limit int) ([]Chunk, error) {
	before, err := tx.beside(`c.id < ? ORDER BY c.id DESC`, c, limit)
	slices.Reverse(before)
	return before, err
}

// ChunksAfter returns at most limit chunks of the same place after a chunk, in order.
func (tx IndexTx) ChunksAfter(c Chunk, limit int) ([]Chunk, error) {
	return tx.beside(`c.id > ? ORDER BY c.id`, c, limit)
}

func (tx IndexTx) beside(side string, c Chunk, limit int) ([]Chunk, error) {
	all, err := query(tx, scanChunk, `SELECT `+chunkColumns+` FROM chunks c WHERE c.kind = ? AND c.channel = ? AND c.chat = ? AND c.source = ? AND `+side+` LIMIT ?`,
		c.Kind, c.Channel, c.Chat, c.Source, c.ID, limit)
	return all, wrap(err, "chunks beside chunk %d", c.ID)
}

// Beside is the id of a chunk beside another one, so many steps away.
type Beside struct {
	ID    ChunkID
	Steps int
}

// neighbourhood is within what time chunks of one place are neighbours.
const neighbourhood = time.Hour

// NeighbourIDs are the neighbours of chunks: of the up to reach chunks of the same
// place on each side those of the same hour. For each chunk first come those before
// it, then those after it, the nearest first.
func (tx IndexTx) NeighbourIDs(chunks []ChunkID, reach int) (map[ChunkID][]Beside, error) {
	all := make(map[ChunkID][]Beside, len(chunks))
	err := tx.each(fmt.Sprintf(neighbourIDsSQL, list(chunks)), []any{neighbourhood.Milliseconds(), reach}, func(r row) error {
		var of ChunkID
		var before, after string
		if err := r.Scan(&of, &before, &after); err != nil {
			return err
		}
		previous, next := ids(before), ids(after)
		slices.Reverse(previous)
		for _, side := range [][]ChunkID{previous, next} {
			for i, id := range side {
				all[of] = append(all[of], Beside{id, i + 1})
			}
		}
		return nil
	})
	return all, wrap(err, "neighbours of chunks")
}

// ids are the ids of a list as group_concat makes it, the smallest first.
func ids(list string) []ChunkID {
	var all []ChunkID
	for id := range strings.SplitSeq(list, ",") {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			all = append(all, ChunkID(n))
		}
	}
	slices.Sort(all)
	return all
}

// One row a chunk costs half of what a row a neighbour does. The rows beside come
// first, their times are looked at then: to look for the next row of the hour would
// read all of the place where there is none.
const neighbourIDsSQL = `SELECT c.id,
	coalesce((SELECT group_concat(id) FROM (SELECT b.id, b.created_at FROM chunks b
		WHERE b.kind = c.kind AND b.channel = c.channel AND b.chat = c.chat AND b.source = c.source AND b.id < c.id
		ORDER BY b.id DESC LIMIT ?2) WHERE created_at BETWEEN c.created_at - ?1 AND c.created_at + ?1), ''),
	coalesce((SELECT group_concat(id) FROM (SELECT b.id, b.created_at FROM chunks b
		WHERE b.kind = c.kind AND b.channel = c.channel AND b.chat = c.chat AND b.source = c.source AND b.id > c.id
		ORDER BY b.id LIMIT ?2) WHERE created_at BETWEEN c.created_at - ?1 AND c.created_at + ?1), '')
	FROM chunks c WHERE c.id IN (%s)`

// Scope says which chunks a search may find. The zero value is all of them.
type Scope struct {
	// Kinds are the kinds to find, none for all.
	Kinds []Kind
	// Channel and Chat let only chunks of that chat be found, and with Shared
	// those of every chat. An empty Channel with Shared is those of every chat
	// alone; without it, all.
	Channel string
	Chat    int64
	Shared  bool
	// Source is the source to find, empty for any.
	Source string
	// Before lets only be found what belongs to a smaller owner, 0 for any.
	Before int64
	// Since and Until bound CreatedAt, zero for no bound.
	Since, Until time.Time
}

// where is the scope as a condition on chunks c, with its arguments.
func (s Scope) where() (string, []any) {
	conditions, args := []string{"1"}, []any(nil)
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if len(s.Kinds) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(s.Kinds)), ",")
		add("c.kind IN (" + marks + ")")
		for _, k := range s.Kinds {
			args = append(args, k)
		}
	}
	switch {
	case s.Channel != "" && s.Shared:
		add("(c.channel = '' OR c.channel = ? AND c.chat = ?)", s.Channel, s.Chat)
	case s.Channel != "":
		add("c.channel = ? AND c.chat = ?", s.Channel, s.Chat)
	case s.Shared:
		add("c.channel = ''")
	}
	if s.Source != "" {
		add("c.source = ?", s.Source)
	}
	if s.Before != 0 {
		add("c.owner < ?", s.Before)
	}
	if !s.Since.IsZero() {
		add("c.created_at >= ?", toMillis(s.Since))
	}
	if !s.Until.IsZero() {
		add("c.created_at < ?", toMillis(s.Until))
	}
	return strings.Join(conditions, " AND "), args
}

// Match is a chunk that has some of the words of a query, and how well: the
// higher the better.
type Match struct {
	ID    ChunkID
	Score float64
}

// CountTerm returns how many chunks have a term; it counts no further than limit.
func (tx IndexTx) CountTerm(term string, limit int) (n int, err error) {
	err = tx.tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)`, quotedTerm(term), limit).Scan(&n)
	return n, wrap(err, "count a word")
}

// LastChunk is the newest chunk, 0 where there is none.
func (tx IndexTx) LastChunk() (id ChunkID, err error) {
	err = tx.tx.QueryRow(`SELECT coalesce(max(id), 0) FROM chunks`).Scan(&id)
	return id, wrap(err, "find the newest chunk")
}

// CountChunks returns how many chunks there are.
func (tx IndexTx) CountChunks() (n int, err error) {
	err = tx.tx.QueryRow(`SELECT count(*) FROM chunks`).Scan(&n)
	return n, wrap(err, "count chunks")
}

// AnyEnd stands at the end of a term that is only the beginning of a word.
const AnyEnd = "*"

// quotedTerm is a term as a string of FTS5, in which nothing is an operator but the
// mark behind it.
func quotedTerm(t string) string {
	begun := strings.TrimSuffix(t, AnyEnd)
	return `"` + strings.ReplaceAll(begun, `"`, `""`) + `"` + t[len(begun):]
}

// Any reports whether there is a chunk of a scope.
func (tx IndexTx) Any(s Scope) (is bool, err error) {
	where, args := s.where()
	err = tx.tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM chunks c WHERE `+where+`)`, args...).Scan(&is)
	return is, wrap(err, "look for chunks")
}

// MatchTerms finds the chunks that have any of the terms, by BM25, the best
// first, at most limit. It weighs no more than most chunks, the newest ones.
func (tx IndexTx) MatchTerms(terms []string, s Scope, limit, most int) ([]Match, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = quotedTerm(t)
	}
	where, args := s.where()
	found, err := query(tx.slowly(), func(r row) (m Match, err error) {
		err = r.Scan(&m.ID, &m.Score)
		return m, err
	}, `SELECT id, score FROM (SELECT c.id, -bm25(chunks_fts) AS score FROM chunks_fts CROSS JOIN chunks c ON c.id = chunks_fts.rowid
		WHERE chunks_fts MATCH ? AND `+where+` ORDER BY chunks_fts.rowid DESC LIMIT ?) ORDER BY score DESC, id DESC LIMIT ?`,
		append(append([]any{strings.Join(quoted, " OR ")}, args...), most, limit)...)
	return found, wrap(err, "search words")
}

// Chunks returns chunks in the order of their ids. One that is gone is left out.
func (tx IndexTx) Chunks(ids []ChunkID) ([]Chunk, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := query(tx, scanChunk, `SELECT `+chunkColumns+` FROM chunks c
		WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id`, idList(ids))
	return all, wrap(err, "read chunks")
}

// ChunksFrom returns the chunks after an id, in the order of their ids, at most limit.
func (tx IndexTx) ChunksFrom(after ChunkID, limit int) ([]Chunk, error) {
	all, err := query(tx, scanChunk, `SELECT `+chunkColumns+` FROM chunks c WHERE c.id > ? ORDER BY c.id LIMIT ?`, after, limit)
	return all, wrap(err, "read chunks")
}

// NewestTexts returns the newest chunks of all kinds but the manual, at most limit.
func (tx IndexTx) NewestTexts(limit int) ([]string, error) {
	all, err := query(tx, single[string], `SELECT content FROM chunks WHERE kind <> 'doc' ORDER BY id DESC LIMIT ?`, limit)
	return all, wrap(err, "read chunks")
}

// ChunksOf returns the chunks of a memory or a message, in the order of their ids.
func (tx IndexTx) ChunksOf(kind Kind, owner int64) ([]Chunk, error) {
	all, err := query(tx, scanChunk, `SELECT `+chunkColumns+` FROM chunks c WHERE c.kind = ? AND c.owner = ? ORDER BY c.id`, kind, owner)
	return all, wrap(err, "read chunks")
}

// ChunkIDs returns the ids of all chunks of a scope.
func (tx IndexTx) ChunkIDs(s Scope) ([]ChunkID, error) { return tx.chunkIDs(s, "WHERE ") }

// ChunkIDsAmong returns which of some chunks are of a scope. It goes from row to row:
// any index of the scope's columns leads through much more.
func (tx IndexTx) ChunkIDsAmong(s Scope, ids []ChunkID) ([]ChunkID, error) {
	return tx.chunkIDs(s, `NOT INDEXED WHERE c.id IN (`+list(ids)+`) AND `)
}

func (tx IndexTx) chunkIDs(s Scope, from string) ([]ChunkID, error) {
	where, args := s.where()
	all, err := query(tx, single[ChunkID], `SELECT c.id FROM chunks c `+from+where, args...)
	return all, wrap(err, "read chunks")
}
