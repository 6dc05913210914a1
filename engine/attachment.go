package engine

import (
	"context"
	"slices"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/readers"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
)

// MediaMain is the first call of main: in a child that reads a foreign file, it does not
// return.
func MediaMain() { readers.Main() }

// withFiles reads the files of a turn's messages, nil when they have none. Owners who are
// not heard are offered what the bot lacks.
func withFiles(e *Engine, row store.Turn, items []chatqueue.Item, owned bool) func(context.Context, func(n, all int)) (turn.Prepared, error) {
	if !slices.ContainsFunc(items, func(it chatqueue.Item) bool { return media.Has(it.Msg) }) {
		return nil
	}
	return func(ctx context.Context, tell func(n, all int)) (turn.Prepared, error) {
		all := make([]media.Item, len(items))
		for i, it := range items {
			all[i] = media.Item{Row: it.Row, Message: it.Msg}
		}
		seen, err := e.media.Prepare(ctx, row, all, tell)
		if err != nil {
			return turn.Prepared{}, err
		}
		p := turn.Prepared{Asked: askedMessages(withAuthors(ctx, e, items), seen), Aloud: media.Spoken(seen)}
		p.Notes, p.Alone = media.Faults(all, seen)
		if p.Alone && e.config.Learn != nil && slices.Equal(p.Notes, []string{e.say(locale.NoEars)}) && owned && e.gateway.Buttons(row.Address.Chat) {
			p.Notes, p.Buttons = []string{e.say(locale.OfferEars)}, e.buttons.ears.Buttons(row.ID)
		}
		for _, it := range items {
			p.Kept = append(p.Kept, seen[it.Row.ID].Kept...)
		}
		return p, nil
	}
}
