package engine

import (
	"context"

	"klawbot/engine/internal/store"
)

// ofAlbum makes an album in a group one message: when one part is meant for the bot, as
// by its caption, all are. Parts that came before are taken up again, in order.
func ofAlbum(ctx context.Context, e *Engine, it item) item {
	if !it.msg.Group || it.msg.Album == "" || it.msg.Command != "" {
		return it
	}
	var rows []store.Update
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Inbox().Near(it.row)
		return err
	})
	if err != nil {
		e.log.Error("album not looked up", "chat", it.msg.Address.String(), "err", err)
	}
	var before []item
	for _, row := range rows {
		m, err := e.gateway.Decode(row.Update)
		if err != nil || m.Album != it.msg.Album || m.Sender.ID != it.msg.Sender.ID {
			continue
		}
		it.msg.Addressed = it.msg.Addressed || m.Addressed
		if m.Addressed = true; row.State == store.InboxDone && row.Note == notForBot && row.ID < it.row.ID {
			before = append(before, item{row, m})
		}
	}
	if !it.msg.Addressed || len(before) == 0 {
		return it
	}
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) error { return tx.Inbox().Reopen(notForBot, rowsOf(before)...) },
		e.life.OrLog("album not taken up", it.msg.Address, func() {
			for _, part := range before {
				e.enqueue(ctx, part)
			}
		}))
	return it
}
