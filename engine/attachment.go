package engine

import (
	"context"
	"slices"
	"strings"

	"klawbot/engine/internal/media"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
)

// withFiles reads the files of a turn's messages, nil when they have none.
func withFiles(e *Engine, row store.Turn, items []item) func(context.Context) (turn.Prepared, error) {
	if !slices.ContainsFunc(items, func(it item) bool { return media.Has(it.msg) }) {
		return nil
	}
	return func(ctx context.Context) (turn.Prepared, error) {
		all := make([]media.Item, len(items))
		for i, it := range items {
			all[i] = media.Item{Row: it.row, Message: it.msg}
		}
		seen, err := e.media.Prepare(ctx, row, all)
		if err != nil {
			return turn.Prepared{}, err
		}
		p := turn.Prepared{Asked: askedMessages(withAuthors(ctx, e, items), seen), Alone: true}
		for _, it := range items {
			s := seen[it.row.ID]
			for _, fault := range s.Faults {
				if !slices.Contains(p.Notes, fault) {
					p.Notes = append(p.Notes, fault)
				}
			}
			p.Alone = p.Alone && s.Empty && caption(it.msg) == ""
		}
		return p, nil
	}
}

// caption is the text of a message without the description of its files, which is its
// first line.
func caption(m gateway.Message) string {
	if !m.Described {
		return m.Text
	}
	_, rest, _ := strings.Cut(m.Text, "\n")
	return rest
}
