package engine

import (
	"context"
	"crypto/rand"
	"log/slog"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

// chats does what follows when a chat is joined, lost or moved, and writes to owners.
type chats struct {
	store     *store.Store
	life      *lifecycle.Lifecycle
	gateway   *gateway.Gateway
	settings  func() settings.Settings
	queues    *chatqueue.Queues
	muted     muted
	outbox    *outbox.Outbox
	questions *approval.Questions
	memory    *recall.Memory
	log       *slog.Logger
}

// member notes that the bot joined a chat or had to leave it.
func (c *chats) member(ctx context.Context, it chatqueue.Item) {
	c.log.Info("membership changed", "chat", it.Msg.Address.String(), "member", string(it.Msg.Member))
	chat, end := it.Row.Address.Chat, []store.InboxID{it.Row.ID}
	switch it.Msg.Member {
	case gateway.MemberMuted:
		c.Mute(ctx, it.Row.Address, false, "the bot may not send messages")
	case gateway.MemberUnmuted:
		c.muted.lift(it.Row.Address, it.Row.Address.Thread == 0)
	}
	if it.Msg.Member == gateway.MemberLeft {
		c.Lose(ctx, chat, "the bot was removed or blocked", append(end, c.queues.Drop(chat)...)...)
		return
	}
	c.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		if err := tx.Chats().SeeChat(chat.Channel, chat.ID, it.Msg.ChatName(), it.Row.ReceivedAt); err != nil {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "", end...)
	}, c.life.OrLog("membership not stored", it.Msg.Address, nil))
}

// Lose ends what concerns a chat that cannot be reached any more: nothing waits for
// it, its turns end, and the owners are told, once until it comes back. It ends the
// updates that are given, too.
func (c *chats) Lose(ctx context.Context, chat gateway.ChatID, note string, ids ...store.InboxID) {
	id := rand.Text()
	var told []gateway.Address
	var paused []string
	wake := func() {}
	c.queues.Cancel(lifecycle.ErrChatGone, func(a gateway.Address) bool { return a.Chat == chat })
	c.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		told, paused = nil, nil
		if err := tx.Inbox().EndUpdates(store.InboxDone, note, ids...); err != nil {
			return err
		}
		var err error
		if wake, err = c.questions.Unreach(tx, chat); err != nil {
			return err
		}
		was, err := tx.Chats().KillChat(chat.Channel, chat.ID, note)
		if err != nil || !was {
			return err
		}
		if paused, err = tx.Jobs().PauseJobsFor(chat.Channel, chat.ID, note); err != nil {
			return err
		}
		name, err := tx.Chats().ChatName(chat.Channel, chat.ID)
		if err != nil {
			return err
		}
		text := c.say(locale.ChatLost, chat, locale.Ticks(clip.Name(name)), note)
		for _, name := range paused {
			text += "\n" + c.say(locale.JobPaused, name, note)
		}
		told, err = c.addForOwners(tx, chat, "lost/"+id, text)
		return err
	}, c.life.OrLog("dead chat not marked", gateway.Address{Chat: chat}, func() {
		wake()
		c.log.Info("chat lost", "chat", chat.String(), "reason", note, "owners_told", len(told), "jobs_paused", len(paused))
	}))
}

// Move gives a chat its new id, in the allow list first, so that what is stored under
// the new one may leave. It ends the updates that are given, too. Doing it again
// changes nothing.
func (c *chats) Move(ctx context.Context, chat gateway.ChatID, to int64, ids ...store.InboxID) {
	c.gateway.Migrate(chat, to)
	c.outbox.Moved(chat, to)
	c.queues.Move(chat, to)
	c.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		if err := tx.Inbox().EndUpdates(store.InboxDone, "", ids...); err != nil {
			return err
		}
		return tx.Chats().MoveChat(chat.Channel, chat.ID, to)
	}, c.life.OrLog("chat not moved", gateway.Address{Chat: chat}, func() {
		c.log.Info("chat moved", "chat", chat.String(), "to", to)
		c.memory.In(c.store).Reload()
		c.memory.MoveCore(chat, to)
		if err := c.outbox.Rescan(ctx); err != nil {
			c.log.Error("outbox not read", "err", err)
		}
	}))
}

// owners are the private chats of the owners that may be written to: all of them for
// the zero ChatID, else those that can be told about a chat.
func (c *chats) owners(about gateway.ChatID) (all []gateway.Address) {
	for channel, ids := range c.settings().Owners {
		for _, id := range ids {
			owner := gateway.ChatID{Channel: channel, ID: id}
			if (about.Channel == "" || channel == about.Channel) && owner != about && c.gateway.Reachable(owner) == nil {
				all = append(all, gateway.Address{Chat: owner})
			}
		}
	}
	return all
}

// addForOwners stores a message about a chat for each owner that can be told.
func (c *chats) addForOwners(tx *store.Tx, about gateway.ChatID, key, text string) (told []gateway.Address, err error) {
	for _, owner := range c.owners(about) {
		told = append(told, owner)
		rows := outbox.Rows(owner, c.gateway.Render(owner.Chat.Channel, text), key+"/"+owner.String(), 0)
		if err := outbox.Add(tx, rows); err != nil {
			return nil, err
		}
	}
	return told, nil
}

// tellOwners writes to the private chat of every owner that may be written to.
func (c *chats) tellOwners(ctx context.Context, key, text string) {
	for _, to := range c.owners(gateway.ChatID{}) {
		c.outbox.Post(ctx, to, key+"/"+to.String(), text)
	}
}

func (c *chats) say(p locale.Phrase, args ...any) string {
	return locale.Say(c.settings().Language, p, args...)
}
