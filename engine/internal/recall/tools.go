package recall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/quote"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
	"klawbot/tools"
	"klawbot/tools/guide"
	recalltools "klawbot/tools/recall"
)

// scope is what a call may find: its own chat and what is shared. Owners in private
// and the command line find everything.
func (r *Memory) scope(c tools.Call, kinds ...store.Kind) (store.Scope, error) {
	s := store.Scope{Kinds: kinds}
	if c.Chat == "" {
		return s, nil
	}
	chat, err := gateway.ParseChatID(c.Chat)
	if err != nil {
		return s, err
	}
	if c.Origin == tools.OriginPerson && (chat.ID == 0 || chat.ID == c.User && r.config.Settings().Owns(chat.Channel, c.User)) {
		return s, nil // in a private chat: what an owner finds elsewhere, others read
	}
	s.Channel, s.Chat, s.Shared = chat.Channel, chat.ID, true
	return s, nil
}

// ofFile matches messages that hold what was heard, seen and read in files.
var ofFile = regexp.MustCompile(`(?m)(^|: )\[(voice|video message|audio|photo|picture|document) `)

// mostOfFiles is how many of them are among memories.
const mostOfFiles = 3

// Search finds memories that a call may see, and what files of its chat held.
func (r *Memory) Search(ctx context.Context, c tools.Call, query string, topK int) ([]recalltools.Hit, error) {
	s, err := r.scope(c, store.KindMemory, store.KindFile)
	if err != nil {
		return nil, err
	}
	hits, err := r.Find(ctx, c, memory.Query{Text: query, TopK: topK, Scope: s})
	if err != nil || len(hits) >= topK {
		return hits, err
	}
	most := min(topK, len(hits)+mostOfFiles)
	said, err := r.History(ctx, c, query, topK)
	for _, h := range said {
		if len(hits) < most && ofFile.MatchString(h.Content) {
			h.ID = 0 // no memory, which could be forgotten
			hits = append(hits, h)
		}
	}
	return hits, err
}

// History finds messages of the call's chat.
func (r *Memory) History(ctx context.Context, c tools.Call, query string, topK int) ([]recalltools.Hit, error) {
	s := store.Scope{Kinds: []store.Kind{store.KindMessage}}
	if c.Chat != "" {
		chat, err := gateway.ParseChatID(c.Chat)
		if err != nil {
			return nil, err
		}
		s.Channel, s.Chat = chat.Channel, chat.ID
	}
	return r.Find(ctx, c, memory.Query{Text: query, TopK: topK, Scope: s})
}

// Find searches for a call, and says of each find whether others may have said it.
func (r *Memory) Find(ctx context.Context, c tools.Call, q memory.Query) ([]recalltools.Hit, error) {
	db, err := r.config.Open()
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.ready(ctx, db)
	if _, err := r.files.Refresh(ctx, db); err != nil {
		r.config.Log.Warn("memory files not read", "err", err)
	}
	found, err := r.In(db).Search(ctx, q)
	if err != nil {
		return nil, err
	}
	zone := r.config.Settings().Zone()
	hits := make([]recalltools.Hit, len(found))
	for i, h := range found {
		hits[i] = recalltools.Hit{ID: h.Owner, Source: h.Source, At: h.CreatedAt.In(zone), Score: h.Score, Content: h.Content, Others: OfOthers(ctx, db, h, c.Chat)}
	}
	return hits, nil
}

// OfOthers reports whether a hit may be the words of someone else than the user of a
// private chat: it is from a group, another chat, a file, or a message that quotes
// others.
func OfOthers(ctx context.Context, db *store.Store, h memory.Hit, chat string) bool {
	others := h.Kind == store.KindFile || h.Chat < 0 || h.Channel != "" && gateway.ChatID{Channel: h.Channel, ID: h.Chat}.String() != chat
	if others || h.Kind != store.KindMessage {
		return others
	}
	err := db.Read(ctx, func(tx *store.Tx) error {
		var session store.SessionID
		if _, err := fmt.Sscanf(h.Source, "session %d", &session); err != nil {
			return err
		}
		said, err := tx.Sessions().MessagesAfter(session, store.MessageID(h.Owner)-1, 1)
		others = len(said) == 0 || quote.HoldsOthers(said[0], h.Chat)
		return err
	})
	return others || err != nil
}

// Save remembers a text for the call's chat.
func (r *Memory) Save(ctx context.Context, c tools.Call, e recalltools.Entry) (chunks int, err error) {
	db, err := r.config.Open()
	if err != nil {
		return 0, err
	}
	m := store.Memory{Key: e.Key, Category: e.Category, Source: e.Source, Provenance: provenance(c), Turn: store.TurnID(c.Turn), Content: e.Content}
	if c.Chat != "" {
		chat, err := gateway.ParseChatID(c.Chat)
		if err != nil {
			return 0, err
		}
		m.Channel, m.Chat = chat.Channel, chat.ID
	}
	err = db.Write(ctx, func(tx *store.Tx) error {
		id, n, old, err := memory.Save(tx, m, r.ChunkSize())
		if chunks = n; err != nil || n == 0 {
			return err
		}
		lifecycle.CrashPoint("memory.saving")
		return tx.Memories().AddMemoryChange(id, old)
	})
	if err == nil && chunks > 0 {
		lifecycle.CrashPoint("memory.saved")
		r.kept()
	}
	return chunks, err
}

// provenance says who has a call remember something.
func provenance(c tools.Call) string {
	switch {
	case c.Heard:
		return "tool"
	case c.Turn == 0:
		return "person"
	}
	return "model"
}

// Forget deletes a memory that the call may see.
func (r *Memory) Forget(ctx context.Context, c tools.Call, key string, id int64) error {
	db, err := r.config.Open()
	if errors.Is(err, store.ErrNotFound) {
		return recalltools.ErrNotFound
	}
	if err != nil {
		return err
	}
	s, err := r.scope(c)
	if err != nil {
		return err
	}
	err = db.Write(ctx, func(tx *store.Tx) error {
		m, err := memoryOf(tx, s, c, key, store.MemoryID(id))
		if err != nil {
			return err
		}
		if err := memory.Forget(tx, m.ID); err != nil {
			return err
		}
		return tx.Memories().AddMemoryChange(0, &m)
	})
	if errors.Is(err, store.ErrNotFound) {
		return recalltools.ErrNotFound
	}
	return err
}

// memoryOf finds a memory by its key in the chat of a call, or by its id where
// the scope reaches it.
func memoryOf(tx *store.Tx, s store.Scope, c tools.Call, key string, id store.MemoryID) (store.Memory, error) {
	if key != "" {
		if c.Chat == "" {
			return onlyMemory(tx, key)
		}
		chat, err := gateway.ParseChatID(c.Chat)
		if err != nil {
			return store.Memory{}, err
		}
		m, err := tx.Memories().MemoryByKey(chat.Channel, chat.ID, key)
		if errors.Is(err, store.ErrNotFound) && s.Channel == "" {
			return onlyMemory(tx, key) // an owner finds it, too
		}
		return m, err
	}
	m, err := tx.Memories().Memory(id)
	if err == nil && s.Channel != "" && (m.Channel != s.Channel || m.Chat != s.Chat) {
		err = store.ErrNotFound // it belongs to another chat
	}
	return m, err
}

// onlyMemory finds a memory by its key wherever it is.
func onlyMemory(tx *store.Tx, key string) (store.Memory, error) {
	all, err := tx.Memories().MemoriesByKey(key)
	if err != nil {
		return store.Memory{}, err
	}
	switch len(all) {
	case 0:
		return store.Memory{}, store.ErrNotFound
	case 1:
		return all[0], nil
	}
	var places []string
	for _, m := range all {
		if m.Channel == "" {
			return m, nil
		}
		places = append(places, fmt.Sprintf("%d in %s_%d", m.ID, m.Channel, m.Chat))
	}
	return store.Memory{}, fmt.Errorf("several chats have a memory '%s'; give its id: %s", key, strings.Join(places, ", "))
}

// File reads a memory file of the workspace, or the journal of a day.
func (r *Memory) File(name, day string) (string, error) {
	if day != "" {
		name = path.Join("memory", day+".md")
	}
	root, err := os.OpenRoot(r.files.Workspace)
	if err != nil {
		//lint:ignore ST1005 these are the words of the contract
		return "", errors.New("No workspace set")
	}
	defer root.Close()
	text, err := memory.ReadFile(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", recalltools.ErrNotFound
	case errors.Is(err, memory.ErrNoFile):
		return "", fmt.Errorf("%s is %w", name, err)
	case err != nil:
		return "", fmt.Errorf("%s cannot be read", name)
	}
	return string(text), nil
}

// Today is the present day where the user lives.
func (r *Memory) Today() time.Time { return time.Now().In(r.config.Settings().Zone()) }

// SearchDocs finds sections of the manual; ready is false while they are not in
// the index.
func (r *Memory) SearchDocs(ctx context.Context, query string, topK int) (found []guide.Section, ready bool, err error) {
	db, err := r.config.Open()
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	sections, err := r.sections()
	if err != nil {
		return nil, false, err
	}
	r.ready(ctx, db)
	m := r.In(db)
	if ready, err = m.DocsIndexed(ctx, sections); err != nil || !ready {
		wait.Signal(r.docs)
		return nil, false, err
	}
	hits, err := m.Search(ctx, memory.Query{Text: query, TopK: topK, Scope: store.Scope{Kinds: []store.Kind{store.KindDoc}, Shared: true}})
	for _, h := range hits {
		found = append(found, guide.Section(memory.DocSection(h.Chunk)))
	}
	return found, true, err
}
