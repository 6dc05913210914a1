package desk

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/gateway/web/control"
	"klawbot/tools/recall"
)

// The bounds of what the page shows of the memory.
const (
	factsShown   = 50
	changesShown = 20
)

// Remembered finds memories, or lists the newest.
func (d *Desk) Remembered(ctx context.Context, text string) (r control.Remembered, err error) {
	r.Model, _ = d.Memory.Model() // an error leaves keyword search
	facts, err := d.Memory.CoreFile().Facts()
	if err != nil {
		r.CoreFault = err.Error()
	} else {
		r.Core, r.CoreChanged = coreParts(facts, d.mask), d.Memory.CoreFile().Changed()
	}
	var hits []recall.Hit
	if text != "" {
		if hits, err = d.Memory.Search(ctx, owner(), text, factsShown); err != nil {
			return r, err
		}
	}
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		r.Facts, r.Changes = nil, nil
		changes, err := tx.Memories().MemoryChanges(changesShown)
		for _, c := range changes {
			one := control.MemoryChange{ID: int64(c.ID), At: d.in(c.At), Saved: c.Saved != 0, Undone: c.Undone}
			if c.Before != nil {
				one.Before = d.mask(c.Before.Content)
			}
			if m, err := tx.Memories().Memory(c.Saved); one.Saved && err == nil { // else it is gone by now
				one.After = d.mask(m.Content)
			}
			r.Changes = append(r.Changes, one)
		}
		if err != nil {
			return err
		}
		if text != "" {
			r.Facts = d.found(tx, hits)
			return nil
		}
		all, err := tx.Memories().Memories(factsShown)
		for _, m := range all {
			r.Facts = append(r.Facts, d.fact(m))
		}
		return err
	})
	return r, err
}

// found are the memories of hits, each once. A hit without a memory is a file.
func (d *Desk) found(tx *store.Tx, hits []recall.Hit) (all []control.Fact) {
	seen := map[int64]bool{}
	for _, h := range hits {
		if h.ID == 0 {
			all = append(all, control.Fact{Source: h.Source, At: d.in(h.At), Content: d.mask(h.Content)})
			continue
		}
		if seen[h.ID] {
			continue
		}
		seen[h.ID] = true
		if m, err := tx.Memories().Memory(store.MemoryID(h.ID)); err == nil { // else it is gone by now
			all = append(all, d.fact(m))
		}
	}
	return all
}

func (d *Desk) fact(m store.Memory) control.Fact {
	f := control.Fact{ID: int64(m.ID), Key: m.Key, Category: m.Category, Source: m.Source, Provenance: m.Provenance, At: d.in(m.CreatedAt), Content: d.mask(m.Content)}
	if m.Channel != "" {
		f.Chat = gateway.ChatID{Channel: m.Channel, ID: m.Chat}.String()
	}
	return f
}

// coreParts are the parts of the core memory, the bot's first.
func coreParts(f corememory.CoreFacts, mask func(string) string) []control.CorePart {
	parts := []control.CorePart{corePart("", "", f.Part, mask)}
	for _, kind := range []struct {
		name string
		of   map[string]corememory.Part
	}{{corememory.KindPeople, f.People}, {corememory.KindChats, f.Chats}} {
		for _, id := range slices.Sorted(maps.Keys(kind.of)) {
			parts = append(parts, corePart(kind.name, id, kind.of[id], mask))
		}
	}
	return parts
}

func corePart(kind, id string, p corememory.Part, mask func(string) string) control.CorePart {
	part := control.CorePart{Kind: kind, ID: id}
	for _, s := range []struct {
		name  string
		facts corememory.Facts
	}{{corememory.SectionUser, p.User}, {corememory.SectionAgent, p.Agent}} {
		for _, key := range slices.Sorted(maps.Keys(s.facts)) {
			part.Facts = append(part.Facts, control.CoreFact{Section: s.name, Key: key, Value: mask(s.facts[key])})
		}
	}
	return part
}

// SaveFact remembers a text for all chats.
func (d *Desk) SaveFact(ctx context.Context, key, content string) error {
	_, err := d.Memory.Save(ctx, owner(), recall.Entry{Content: content, Source: "web", Key: key, Category: "custom"})
	return said(err)
}

// ForgetFact deletes a memory.
func (d *Desk) ForgetFact(ctx context.Context, id int64) (change int64, err error) {
	if err := d.Memory.Forget(ctx, owner(), "", id); err != nil {
		if errors.Is(err, recall.ErrNotFound) {
			err = control.ErrNotFound
		}
		return 0, err
	}
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		changes, err := tx.Memories().MemoryChanges(changesShown)
		for _, c := range changes {
			if c.Before != nil && int64(c.Before.ID) == id && c.Saved == 0 {
				change = int64(c.ID)
				break
			}
		}
		return err
	})
	return change, err
}

// UndoMemory takes back a change of the memories.
func (d *Desk) UndoMemory(ctx context.Context, change int64) error {
	if change <= 0 {
		return control.ErrNotFound
	}
	return said(d.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := memory.Undo(tx, store.MemoryChangeID(change), d.Memory.ChunkSize())
		return err
	}))
}

// maxCoreKey bounds the name of a fact that is typed here.
const maxCoreKey = 60

// SetCore stores a fact of the core memory, or deletes it.
func (d *Desk) SetCore(_ context.Context, kind, id string, f control.CoreFact) error {
	at := corememory.Place{Kind: kind, ID: id}
	if kind != "" && kind != corememory.KindChats && kind != corememory.KindPeople {
		return control.ErrNotFound
	}
	key, value := line(f.Key), strings.TrimSpace(f.Value)
	if key == "" || len([]rune(key)) > maxCoreKey {
		return control.Say("refused.name")
	}
	var err error
	if value == "" {
		err = d.Memory.CoreFile().Delete(at, f.Section, key)
	} else {
		err = d.Memory.CoreFile().Set(at, f.Section, key, value)
	}
	switch {
	case errors.Is(err, corememory.ErrNoKey), errors.Is(err, corememory.ErrSection):
		return control.ErrNotFound
	case err != nil:
		return control.Say(err.Error())
	}
	return nil
}

// UndoCore takes back the last change of the core memory.
func (d *Desk) UndoCore(context.Context) error {
	_, err := d.Memory.CoreFile().Undo()
	if errors.Is(err, corememory.ErrNoChange) {
		return control.Say("refused.undo")
	}
	return err
}
