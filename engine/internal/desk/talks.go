package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/gateway/web/control"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/recall"
)

const (
	// saidFound is how many messages a search finds, saidAround how many are shown
	// before one of them.
	saidFound  = 30
	saidAround = 10
	// mostSaid bounds the messages on a page, callShown the arguments of a call.
	mostSaid  = 2000
	callShown = 120
)

// Talks lists the current conversation of every chat, the latest first.
func (d *Desk) Talks(ctx context.Context) (all []control.Talk, err error) {
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Sessions().Sessions()
		all = nil
		for _, r := range rows {
			if r.Address.Chat.Channel == store.JobChannel {
				continue // the page of its schedule shows it
			}
			t := d.talk(tx, r.Session)
			t.Messages, t.LastAt = r.Messages, d.in(r.LastAt)
			all = append(all, t)
		}
		return err
	})
	return all, err
}

func (d *Desk) talk(tx *store.Tx, s store.Session) control.Talk {
	title, _ := tx.Chats().ChatName(s.Address.Chat.Channel, s.Address.Chat.ID) // a name is for display only
	return control.Talk{
		ID: int64(s.ID), Chat: s.Address.String(), Name: d.mask(d.nameOf(tx, s.Address.Chat, title)),
		Model: cmp.Or(s.Model, d.Settings().Models.Default), LastAt: d.in(s.StartedAt),
	}
}

// FindSaid finds messages of all chats.
func (d *Desk) FindSaid(ctx context.Context, text string) (all []control.Found, err error) {
	hits, err := d.Memory.History(ctx, owner(), text, saidFound)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		all = nil
		places, err := sessions(tx)
		for _, h := range withWords(hits, text) {
			if f, ok := d.hit(tx, places, h); ok {
				all = append(all, f)
			}
		}
		return err
	})
	return all, err
}

// withWords are the hits that have a word of a text, its ending aside; all of them when
// none has, because the meaning found them. A search also finds what was said next to a word.
func withWords(hits []recall.Hit, text string) []recall.Hit {
	words := strings.Fields(strings.ToLower(text))
	for i, w := range words {
		runes := []rune(w)
		words[i] = string(runes[:max(len(runes)-2, min(len(runes), 3))])
	}
	with := slices.DeleteFunc(slices.Clone(hits), func(h recall.Hit) bool {
		said := strings.ToLower(h.Content)
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	})
	if len(with) == 0 {
		return hits
	}
	return with
}

func (d *Desk) hit(tx *store.Tx, places map[store.SessionID]store.Session, h recall.Hit) (f control.Found, ok bool) {
	var id store.SessionID
	if _, err := fmt.Sscanf(h.Source, "session %d", &id); err != nil {
		return f, false
	}
	s, ok := places[id]
	t := d.talk(tx, s)
	content := h.Content
	if said, is := strings.CutPrefix(content, string(llm.RoleAssistant)+": "); is {
		content = "klawbot: " + strings.TrimLeft(said, "# ")
	}
	return control.Found{Session: int64(id), Message: h.ID, Chat: t.Chat, Name: t.Name, Text: d.mask(content), At: d.in(h.At)}, ok
}

// sessions are all sessions of all chats.
func sessions(tx *store.Tx) (map[store.SessionID]store.Session, error) {
	all := map[store.SessionID]store.Session{}
	current, err := tx.Sessions().Sessions()
	for _, c := range current {
		of, err := tx.Archive().SessionsOf(c.Address)
		if err != nil {
			return nil, err
		}
		for _, s := range of {
			all[s.ID] = s
		}
	}
	return all, err
}

// Transcript reads a part of a conversation.
func (d *Desk) Transcript(ctx context.Context, session, at int64, most int) (t control.Transcript, err error) {
	most = min(max(most, 1), mostSaid)
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		places, err := sessions(tx)
		if err != nil {
			return err
		}
		s, ok := places[store.SessionID(session)]
		if !ok {
			return store.ErrNotFound
		}
		t = control.Transcript{Talk: d.talk(tx, s)}
		if t.Earlier, t.Later, err = beside(tx, s); err != nil {
			return err
		}
		history, err := tx.Sessions().History(s.ID, most+1)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(history, func(m store.Message) bool { return int64(m.ID) == at }); at != 0 && i < 0 {
			history, err = tx.Sessions().MessagesAfter(s.ID, store.MessageID(max(at-saidAround, 1)-1), most)
			t.Older = most * 4
		} else if len(history) > most {
			history, t.Older = history[1:], most*2
		}
		for _, m := range history {
			t.Said = append(t.Said, d.message(m))
		}
		t.Messages = len(t.Said)
		return err
	})
	return t, said(err)
}

// beside are the sessions of the same chat before and after one.
func beside(tx *store.Tx, s store.Session) (earlier, later int64, err error) {
	all, err := tx.Archive().SessionsOf(s.Address)
	i := slices.IndexFunc(all, func(o store.Session) bool { return o.ID == s.ID })
	if i > 0 {
		earlier = int64(all[i-1].ID)
	}
	if i >= 0 && i+1 < len(all) {
		later = int64(all[i+1].ID)
	}
	return earlier, later, err
}

func (d *Desk) message(m store.Message) control.Said {
	one := control.Said{
		ID: int64(m.ID), Role: string(m.Body.Role), Name: d.mask(m.SenderName), Text: d.mask(m.Body.PlainText()),
		Type: m.Type, Model: m.Model, At: d.in(m.At),
	}
	for _, c := range m.Body.Calls() {
		one.Calls = append(one.Calls, d.mask(c.Name+" "+clip.Runes(line(c.Arguments), callShown)))
	}
	for _, b := range m.Body.Blocks {
		if b.Result != nil && m.Body.Role == llm.RoleTool {
			one.Calls = append(one.Calls, b.Result.Name)
			one.Text += d.mask(tools.Bare(b.Result.Text))
		}
	}
	return one
}
