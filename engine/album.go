package engine

import (
	"context"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/store"
)

// ofAlbum makes an album in a group one message: when one part is meant for the bot, as
// by its caption, all are. Parts that came before are taken up again, in order.
func ofAlbum(ctx context.Context, e *Engine, it chatqueue.Item) chatqueue.Item {
	if !it.Msg.Group || it.Msg.Album == "" || it.Msg.Command != "" {
		return it
	}
	var rows []store.Update
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Inbox().Near(it.Row)
		return err
	})
	if err != nil {
		e.log.Error("album not looked up", "chat", it.Msg.Address.String(), "err", err)
	}
	var before []chatqueue.Item
	for _, row := range rows {
		m, err := e.gateway.Decode(row.Update)
		if err != nil || m.Album != it.Msg.Album || m.Sender.ID != it.Msg.Sender.ID {
			continue
		}
		it.Msg.Addressed = it.Msg.Addressed || m.Addressed
		if m.Addressed = true; row.State == store.InboxDone && row.Note == notForBot && row.ID < it.Row.ID {
			before = append(before, chatqueue.Item{Row: row, Msg: m})
		}
	}
	if !it.Msg.Addressed || len(before) == 0 {
		return it
	}
	e.life.Eventually(ctx, it.Row.Address, func(tx *store.Tx) error { return tx.Inbox().Reopen(notForBot, chatqueue.Rows(before)...) },
		e.life.OrLog("album not taken up", it.Msg.Address, func() {
			for _, part := range before {
				e.enqueue(ctx, part)
			}
		}))
	return it
}
