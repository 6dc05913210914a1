package data

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/recall"
)

// MemoryQuery is what the command line looks for.
type MemoryQuery struct {
	Text string
	// TopK is how much is found at most; 0 is what the settings say.
	TopK int
	// Mode is hybrid, keyword or vector; empty is hybrid.
	Mode string
	// Chat, in text form, finds what that chat finds; empty finds everything.
	Chat string
	// Source finds what is of one source.
	Source string
	// Since and Until bound the time, zero for no bound.
	Since, Until time.Time
	// Messages finds message history instead of memories.
	Messages bool
}

// scope is where a query looks.
func (q MemoryQuery) scope() (store.Scope, error) {
	s := store.Scope{Kinds: []store.Kind{store.KindMemory, store.KindFile}, Source: q.Source, Since: q.Since, Until: q.Until}
	if q.Messages {
		s.Kinds = []store.Kind{store.KindMessage}
	}
	if q.Chat == "" {
		return s, nil
	}
	chat, err := gateway.ParseChatID(q.Chat)
	s.Channel, s.Chat, s.Shared = chat.Channel, chat.ID, !q.Messages
	return s, err
}

// SearchMemory finds what was remembered, the best first.
func (d *Data) SearchMemory(ctx context.Context, q MemoryQuery) ([]recall.Hit, error) {
	s, err := q.scope()
	if err != nil {
		return nil, err
	}
	mode := memory.Mode(cmp.Or(q.Mode, string(memory.Hybrid)))
	if d.missing == nil {
		d.memory.Choose(ctx, d.store)
	}
	if mode == memory.Vector {
		if _, err := d.memory.Model(); err != nil {
			return nil, err
		}
	}
	topK := cmp.Or(q.TopK, d.settings().Memory.TopK)
	return d.memory.Find(ctx, tools.Call{}, memory.Query{Text: q.Text, TopK: topK, Mode: mode, Scope: s})
}

// KeptMemory is a memory as its owner sees it. Its JSON form is stable.
type KeptMemory struct {
	ID int64 `json:"id"`
	// Chat is the one that may find it, empty for all.
	Chat     string `json:"chat,omitempty"`
	Key      string `json:"key,omitempty"`
	Category string `json:"category"`
	Source   string `json:"source"`
	// Provenance says who had it stored: person, model, tool or import. With tool
	// the model had read something from outside.
	Provenance string    `json:"provenance"`
	CreatedAt  time.Time `json:"created_at"`
	Content    string    `json:"content"`
}

// ListMemories lists the memories of all chats that were stored last, the newest
// first, at most limit.
func (d *Data) ListMemories(ctx context.Context, limit int) (list []KeptMemory, err error) {
	if d.missing != nil {
		return nil, nil
	}
	zone := d.settings().Zone()
	err = d.store.Read(ctx, func(tx *store.Tx) error {
		all, err := tx.Memories().Memories(limit)
		for _, m := range all {
			k := KeptMemory{
				ID: int64(m.ID), Key: m.Key, Category: m.Category, Source: m.Source, Provenance: m.Provenance,
				CreatedAt: m.CreatedAt.In(zone), Content: m.Content,
			}
			if m.Channel != "" {
				k.Chat = gateway.ChatID{Channel: m.Channel, ID: m.Chat}.String()
			}
			list = append(list, k)
		}
		return err
	})
	return list, err
}

// SaveMemory remembers a text for all chats and returns in how many pieces.
func (d *Data) SaveMemory(ctx context.Context, e recall.Entry) (chunks int, err error) {
	if err := d.ready(ctx); err != nil {
		return 0, err
	}
	return d.memory.Save(ctx, tools.Call{}, e)
}

// ForgetMemory deletes a memory by its key, or by its id when the key is empty.
// One that is not there is recall.ErrNotFound.
func (d *Data) ForgetMemory(ctx context.Context, key string, id int64) error {
	return d.memory.Forget(ctx, tools.Call{}, key, id)
}

// ready makes the database when the bot has never run.
func (d *Data) ready(ctx context.Context) error {
	if d.missing == nil {
		return nil
	}
	return d.begin(ctx)
}

// CoreMemory is the core memory as prompts have it, and its file.
func (d *Data) CoreMemory() (text, file string, err error) {
	facts, err := d.memory.CoreFile().Facts()
	return facts.String(), d.memory.CoreFile().Path(), err
}

// CoreMemoryFile is the file of the core memory. It is made when it is not there.
func (d *Data) CoreMemoryFile() (string, error) {
	return d.memory.CoreFile().Path(), d.memory.CoreFile().Ensure()
}

// EmbedMemory gives what is new its vectors, for a data directory without a running
// bot, and calls progress with how many were done.
func (d *Data) EmbedMemory(ctx context.Context, progress func(done int)) error {
	if d.missing != nil {
		return nil
	}
	d.memory.Choose(ctx, d.store)
	return d.memory.In(d.store).Embed(ctx, progress)
}

// MemoryImport is what an import of memories did.
type MemoryImport struct {
	Added int
	// Known are lines that an earlier import brought already, as after a kill.
	Known int
	// Faults name the lines that were left out, at most ten of them; More is how
	// many others there were.
	Faults []string
	More   int
}

// importedMemory is a line of an import.
type importedMemory struct {
	Content   string `json:"content"`
	Source    string `json:"source"`
	Key       string `json:"key"`
	Category  string `json:"category"`
	CreatedAt moment `json:"created_at"`
}

// moment is a time, or a day, which begins at midnight UTC.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(text []byte) error {
	if day, err := time.Parse(`"`+time.DateOnly+`"`, string(text)); err == nil {
		m.Time = day
		return nil
	}
	return m.Time.UnmarshalJSON(text)
}

// The bounds of an import: rows of a transaction, bytes of a line, faults that are
// named.
const (
	memoryBatch     = 500
	maxMemoryLine   = 1 << 20
	maxImportFaults = 10
)

// ImportMemories remembers the lines of a file, each a JSON object with content
// and perhaps source, created_at, key and category, for all chats. Lines of one
// source that follow each other are neighbours. Lines that cannot be read are left
// out, and those that an earlier import brought. progress is called with how many
// were added.
func (d *Data) ImportMemories(ctx context.Context, r io.Reader, progress func(done int)) (done MemoryImport, err error) {
	if err := d.ready(ctx); err != nil {
		return done, err
	}
	known, err := importedBefore(ctx, d.store)
	if err != nil {
		return done, err
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var batch []store.Memory
	flush := func() error {
		err := d.store.Write(ctx, func(tx *store.Tx) error { return memory.SaveAll(tx, batch, d.memory.ChunkSize()) })
		if err == nil {
			done.Added += len(batch)
			progress(done.Added)
		}
		batch = batch[:0]
		return err
	}
	for line := 1; ; line++ {
		text, _, err := archive.ReadLine(in, maxMemoryLine)
		switch {
		case errors.Is(err, archive.ErrLongLine):
			done.fault(line, fmt.Errorf("longer than %d bytes", maxMemoryLine))
			continue
		case err == io.EOF:
			return done, flush()
		case err != nil:
			return done, errors.Join(fmt.Errorf("after %d memories: %w", done.Added+len(batch), err), flush())
		}
		if text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark)); len(text) == 0 {
			continue
		}
		m, err := importedRow(text)
		if err != nil {
			done.fault(line, err)
			continue
		}
		if known.take(m) {
			done.Known++
			continue
		}
		if batch = append(batch, m); len(batch) == memoryBatch {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
}

// imported counts the memories that earlier imports brought, by what they say: an
// import that broke off can be run again. A line that stands twice in a file is
// remembered twice all the same.
type imported struct {
	seed  maphash.Seed
	count map[uint64]int
}

func importedBefore(ctx context.Context, s *store.Store) (imported, error) {
	i := imported{maphash.MakeSeed(), map[uint64]int{}}
	err := s.Read(ctx, func(tx *store.Tx) error {
		return tx.Memories().ImportedMemories(func(m store.Memory) {
			i.count[i.sum(m)]++
			m.CreatedAt = time.Time{}
			i.count[i.sum(m)]++
		})
	})
	return i, err
}

// take reports whether a memory is there already, and counts it off. One without a
// time is the same as one with any.
func (i imported) take(m store.Memory) bool {
	sum := i.sum(m)
	if i.count[sum] == 0 {
		return false
	}
	i.count[sum]--
	return true
}

func (i imported) sum(m store.Memory) uint64 {
	var at int64
	if !m.CreatedAt.IsZero() {
		at = m.CreatedAt.UnixMilli()
	}
	return maphash.Comparable(i.seed, [...]any{m.Content, m.Source, m.Key, m.Category, at})
}

// byteOrderMark is what some programs put before a text.
var byteOrderMark = []byte("\ufeff")

func (i *MemoryImport) fault(line int, err error) {
	if len(i.Faults) == maxImportFaults {
		i.More++
		return
	}
	i.Faults = append(i.Faults, fmt.Sprintf("line %d: %v", line, err))
}

func importedRow(text []byte) (store.Memory, error) {
	var row importedMemory
	if err := json.Unmarshal(text, &row); err != nil {
		return store.Memory{}, errors.New("no JSON object with content, source, created_at (such as 2026-01-31 or 2026-01-31T12:00:00Z) and key")
	}
	if strings.TrimSpace(row.Content) == "" {
		return store.Memory{}, errors.New("content is missing")
	}
	return store.Memory{
		Content: row.Content, Source: cmp.Or(row.Source, "import"), Key: row.Key, Category: cmp.Or(row.Category, "custom"),
		CreatedAt: row.CreatedAt.Time, Provenance: "import",
	}, nil
}

// MemoryChange is a change of the memory that can be undone. Its JSON form is
// stable.
type MemoryChange struct {
	ID int64     `json:"id"`
	At time.Time `json:"at"`
	// Saved says that a memory was stored, Before is the one that went.
	Saved  bool   `json:"saved"`
	Before string `json:"before,omitempty"`
	Undone bool   `json:"undone"`
}

// MemoryChanges lists the newest changes of the memory.
func (d *Data) MemoryChanges(ctx context.Context) ([]MemoryChange, error) {
	if d.missing != nil {
		return nil, nil
	}
	var rows []store.MemoryChange
	err := d.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Memories().MemoryChanges(changesListed)
		return err
	})
	all := make([]MemoryChange, len(rows))
	for i, r := range rows {
		all[i] = MemoryChange{ID: int64(r.ID), At: r.At, Saved: r.Saved != 0, Undone: r.Undone}
		if r.Before != nil {
			all[i].Before = r.Before.Content
		}
	}
	return all, err
}

const changesListed = 50

// UndoMemory takes back a change of the memory, with 0 the newest. One that is not
// there, or was undone, is recall.ErrNotFound.
func (d *Data) UndoMemory(ctx context.Context, id int64) (undone MemoryChange, err error) {
	if d.missing != nil {
		return undone, recall.ErrNotFound
	}
	err = d.store.Write(ctx, func(tx *store.Tx) error {
		c, err := memory.Undo(tx, store.MemoryChangeID(id), d.memory.ChunkSize())
		undone = MemoryChange{ID: int64(c.ID), At: c.At, Saved: c.Saved != 0}
		if c.Before != nil {
			undone.Before = c.Before.Content
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = recall.ErrNotFound
	}
	return undone, err
}

// UndoCore takes back the last change of the core memory, and returns its facts as
// a prompt has them.
func (d *Data) UndoCore() (string, error) {
	facts, err := d.memory.CoreFile().Undo()
	return facts.String(), err
}
