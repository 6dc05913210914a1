package engine

import (
	"context"
	"crypto/rand"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

// dispatchMember takes note that the bot came into a chat or had to leave it.
func (e *Engine) dispatchMember(ctx context.Context, it item) {
	e.log.Info("membership changed", "chat", it.msg.Address.String(), "member", string(it.msg.Member))
	a, end := it.row.Address, []store.InboxID{it.row.ID}
	if it.msg.Member == gateway.MemberLeft {
		e.loseChat(ctx, a, "the bot was removed or blocked", append(end, e.dropChat(a)...)...)
		return
	}
	e.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		if err := tx.Chats().SeeChat(a.Chat.Channel, a.Chat.ID, it.msg.ChatName(), it.row.ReceivedAt); err != nil {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "", end...)
	}, func(err error) {
		if err != nil {
			e.log.Error("membership not stored", "chat", it.msg.Address.String(), "err", err)
		}
	})
}

// chats takes what the messenger says of chats when something is sent there.
type chats struct{ e *Engine }

// Lose takes leave of a chat that is gone or has blocked the bot.
func (c chats) Lose(ctx context.Context, a gateway.Address, why string) { c.e.loseChat(ctx, a, why) }

// Move gives a chat its new id.
func (c chats) Move(ctx context.Context, chat gateway.ChatID, to int64) { c.e.moveChat(ctx, chat, to) }

// loseChat takes leave of a chat that is gone or has blocked the bot: nothing
// waits for it any more, its turns end, and the owners are told, once until it
// comes back. It ends the updates that are given, too.
func (e *Engine) loseChat(ctx context.Context, a gateway.Address, note string, ids ...store.InboxID) {
	chat, id := a.Chat, rand.Text()
	var told []gateway.Address
	var paused []string
	wake := func() {}
	e.cancelChat(a, lifecycle.ErrChatGone)
	e.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		told, paused = nil, nil
		if err := tx.Inbox().EndUpdates(store.InboxDone, note, ids...); err != nil {
			return err
		}
		var err error
		if wake, err = e.questions.Unreach(tx, chat); err != nil {
			return err
		}
		was, err := tx.Chats().KillChat(a.Chat.Channel, a.Chat.ID, note)
		if err != nil || !was {
			return err
		}
		if paused, err = tx.Jobs().PauseJobsFor(a.Chat.Channel, a.Chat.ID, note); err != nil {
			return err
		}
		name, err := tx.Chats().ChatName(a.Chat.Channel, a.Chat.ID)
		if err != nil {
			return err
		}
		for _, owner := range e.ownersBeside(chat) {
			told = append(told, owner)
			text := e.say(locale.ChatLost, chat, locale.Ticks(clip.Name(name)), note)
			for _, name := range paused {
				text += "\n" + e.say(locale.JobPaused, name, note)
			}
			if err := outbox.Add(tx, outbox.Rows(owner, e.gateway.Render(a.Chat.Channel, text), "lost/"+id+"/"+owner.String(), 0)); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			e.log.Error("dead chat not marked", "chat", chat.String(), "err", err)
			return
		}
		wake()
		e.log.Info("chat lost", "chat", chat.String(), "reason", note, "owners_told", len(told), "jobs_paused", len(paused))
	})
}

// ownersBeside are the private chats of the owners that may be written to: all of them,
// or those that can be told about a chat.
func (e *Engine) ownersBeside(chat gateway.ChatID) (all []gateway.Address) {
	for channel, ids := range e.settings().Owners {
		for _, id := range ids {
			owner := gateway.ChatID{Channel: channel, ID: id}
			if (chat.Channel == "" || channel == chat.Channel) && owner != chat && e.gateway.Reachable(owner) == nil {
				all = append(all, gateway.Address{Chat: owner})
			}
		}
	}
	return all
}

// cancelChat cancels the running turns of a chat, whatever their topic.
func (e *Engine) cancelChat(a gateway.Address, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		if sameChat(l.address, a) && l.stop != nil {
			l.stop(cause)
		}
	}
}

// dropChat takes what waits in the lanes of a chat away and returns its rows.
func (e *Engine) dropChat(a gateway.Address) []store.InboxID {
	e.mu.Lock()
	defer e.mu.Unlock()
	var ids []store.InboxID
	for _, l := range e.lanes {
		if sameChat(l.address, a) {
			ids = append(ids, rowsOf(l.items)...)
			l.items = nil
		}
	}
	return ids
}

// moveLanes gives the lanes of a chat its new id, so that what is written there waits
// behind what was written before, and can stop it.
func (e *Engine) moveLanes(chat gateway.ChatID, to int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for a, l := range e.lanes {
		now := gateway.Address{Chat: gateway.ChatID{Channel: chat.Channel, ID: to}, Thread: a.Thread}
		if a.Chat != chat || e.lanes[now] != nil {
			continue
		}
		delete(e.lanes, a)
		e.lanes[now], l.address = l, now
		for i := range l.items {
			l.items[i].row.Address = now
		}
	}
}

func sameChat(a, b gateway.Address) bool {
	return a.Chat.Channel == b.Chat.Channel && a.Chat.ID == b.Chat.ID
}

func rowsOf(items []item) []store.InboxID {
	ids := make([]store.InboxID, len(items))
	for i, it := range items {
		ids[i] = it.row.ID
	}
	return ids
}

// moveChat gives a chat its new id, in the whitelist first, so that whatever is
// stored under the new one may leave. It ends the updates that are given, too.
// Doing it again changes nothing.
func (e *Engine) moveChat(ctx context.Context, chat gateway.ChatID, to int64, ids ...store.InboxID) {
	e.gateway.Migrate(chat, to)
	e.outbox.Moved(chat, to)
	e.moveLanes(chat, to)
	e.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		if err := tx.Inbox().EndUpdates(store.InboxDone, "", ids...); err != nil {
			return err
		}
		return tx.Chats().MoveChat(chat.Channel, chat.ID, to)
	}, func(err error) {
		if err != nil {
			e.log.Error("chat not moved", "chat", chat.String(), "to", to, "err", err)
			return
		}
		e.log.Info("chat moved", "chat", chat.String(), "to", to)
		e.memory.In(e.store).Reload()
		e.memory.MoveCore(chat, to)
		if err := e.outbox.Rescan(ctx); err != nil {
			e.log.Error("outbox not read", "err", err)
		}
	})
}
