package engine

import (
	"context"
	"errors"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// errGone: the chat of a turn cannot be reached any more. The turn ends without
// a word.
var errGone = errors.New("the chat cannot be reached any more")

// dispatchMember takes note that the bot came into a chat or had to leave it.
func (e *Engine) dispatchMember(ctx context.Context, it item) {
	e.log.Info("membership changed", "chat", it.msg.Address.String(), "member", string(it.msg.Member))
	a, end := it.row.Address, []store.InboxID{it.row.ID}
	if it.msg.Member == gateway.MemberLeft {
		e.loseChat(ctx, a, "the bot was removed or blocked", append(end, e.dropChat(a)...)...)
		return
	}
	e.eventually(ctx, store.Address{}, func(tx *store.Tx) error {
		if err := tx.SeeChat(a.Channel, a.Chat, it.msg.ChatName(), it.row.ReceivedAt); err != nil {
			return err
		}
		return tx.EndUpdates(store.InboxDone, "", end...)
	}, func(err error) {
		if err != nil {
			e.log.Error("membership not stored", "chat", it.msg.Address.String(), "err", err)
		}
	})
}

// gone says why a chat cannot be reached any more, empty while it can.
func (e *Engine) gone(ctx context.Context, id gateway.ChatID) (string, error) {
	return goneIn(ctx, e.store, id)
}

// loseChat takes leave of a chat that is gone or has blocked the bot: nothing
// waits for it any more, its turns end, and the owners are told, once until it
// comes back. It ends the updates that are given, too.
func (e *Engine) loseChat(ctx context.Context, a store.Address, note string, ids ...store.InboxID) {
	chat, id := reachable(a).Chat, newID()
	var told []store.Address
	var paused []string
	wake := func() {}
	e.cancelChat(a, errGone)
	e.eventually(ctx, store.Address{}, func(tx *store.Tx) error {
		told, paused = nil, nil
		if err := tx.EndUpdates(store.InboxDone, note, ids...); err != nil {
			return err
		}
		var err error
		if wake, err = e.unreach(tx, a); err != nil {
			return err
		}
		was, err := tx.KillChat(a.Channel, a.Chat, note)
		if err != nil || !was {
			return err
		}
		if paused, err = tx.PauseJobsFor(a.Channel, a.Chat, note); err != nil {
			return err
		}
		name, err := tx.ChatName(a.Channel, a.Chat)
		if err != nil {
			return err
		}
		for _, owner := range e.ownersBeside(chat) {
			told = append(told, stored(owner))
			text := e.say(sayChatLost, chat, inTicks(asName(name)), note)
			for _, name := range paused {
				text += "\n" + e.say(sayJobPaused, name, note)
			}
			if err := addOuts(tx, outsFor(owner, e.gateway.Render(a.Channel, text), "lost/"+id+"/"+owner.String(), 0)); err != nil {
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
		if len(paused) > 0 {
			e.jobs.Changed()
		}
		for _, owner := range told {
			e.delivery.notify(owner)
		}
	})
}

// ownersBeside are the private chats of the owners that can be told about a chat.
func (e *Engine) ownersBeside(chat gateway.ChatID) []gateway.Address {
	var all []gateway.Address
	for _, id := range e.settings().Owners[chat.Channel] {
		owner := gateway.ChatID{Channel: chat.Channel, ID: id}
		if owner != chat && e.gateway.Reachable(owner) == nil {
			all = append(all, gateway.Address{Chat: owner})
		}
	}
	return all
}

// cancelChat cancels the running turns of a chat, whatever their topic.
func (e *Engine) cancelChat(a store.Address, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		if sameChat(l.address, a) && l.stop != nil {
			l.stop(cause)
		}
	}
}

// dropChat takes what waits in the lanes of a chat away and returns its rows.
func (e *Engine) dropChat(a store.Address) []store.InboxID {
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
		now := store.Address{Channel: chat.Channel, Chat: to, Thread: a.Thread}
		if reachable(a).Chat != chat || e.lanes[now] != nil {
			continue
		}
		delete(e.lanes, a)
		e.lanes[now], l.address = l, now
		for i := range l.items {
			l.items[i].row.Address = now
		}
	}
}

func sameChat(a, b store.Address) bool { return a.Channel == b.Channel && a.Chat == b.Chat }

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
	e.delivery.moved(chat, to)
	e.moveLanes(chat, to)
	e.eventually(ctx, store.Address{}, func(tx *store.Tx) error {
		if err := tx.EndUpdates(store.InboxDone, "", ids...); err != nil {
			return err
		}
		return tx.MoveChat(chat.Channel, chat.ID, to)
	}, func(err error) {
		if err != nil {
			e.log.Error("chat not moved", "chat", chat.String(), "to", to, "err", err)
			return
		}
		e.log.Info("chat moved", "chat", chat.String(), "to", to)
		e.memory.memory(e.store).Reload()
		e.memory.moveCore(chat, to)
		if err := e.delivery.rescan(ctx); err != nil {
			e.log.Error("outbox not read", "err", err)
		}
	})
}
