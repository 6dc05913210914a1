package desk

import (
	"context"
	"fmt"
	"strconv"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/gateway/web/control"
)

// People are the chats that may talk to the bot, and those that knocked.
func (d *Desk) People(ctx context.Context) (p control.People, err error) {
	allowed := map[gateway.ChatID]bool{}
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		p = control.People{}
		chats, err := tx.Chats().Chats()
		if err != nil {
			return err
		}
		known := map[gateway.ChatID]store.Chat{}
		for _, c := range chats {
			known[gateway.ChatID{Channel: c.Channel, ID: c.ID}] = c
		}
		for _, chat := range d.Around.Allowed() {
			allowed[chat] = true
			c := known[chat]
			p.Allowed = append(p.Allowed, control.Person{
				Chat: chat.String(), ID: chat.ID, Name: d.mask(d.nameOf(tx, chat, c.Name)), Owner: d.Settings().Owns(chat.Channel, chat.ID), LastAt: d.in(c.SeenAt),
			})
		}
		if p.Knocked, err = d.knocked(tx, store.StrangerWaits, allowed); err == nil {
			p.Ignored, err = d.knocked(tx, store.StrangerIgnored, allowed)
		}
		return err
	})
	if fixed := d.Around.Fixed(); fixed != nil {
		p.Fixed = fixed.Error()
	}
	return p, err
}

// nameOf is the title of a chat, or who writes there.
func (d *Desk) nameOf(tx *store.Tx, chat gateway.ChatID, title string) string {
	if title == "" && chat.ID > 0 {
		title, _ = tx.Sessions().PersonName(chat.ID) // a name is for display only
	}
	return title
}

// knocked are the unknown senders in a state, but for those that are allowed now.
func (d *Desk) knocked(tx *store.Tx, state store.StrangerState, allowed map[gateway.ChatID]bool) (all []control.Person, err error) {
	rows, err := tx.Chats().Strangers(state)
	for _, r := range rows {
		chat := gateway.ChatID{Channel: r.Channel, ID: r.ID}
		if !allowed[chat] {
			all = append(all, control.Person{Chat: chat.String(), ID: r.ID, Name: d.mask(r.Name), Times: r.Times, LastAt: d.in(r.LastAt)})
		}
	}
	return all, err
}

// Allow puts a chat on the allow list.
func (d *Desk) Allow(ctx context.Context, chat string) error {
	return d.settle(ctx, chat, store.StrangerAllowed)
}

// Ignore lets a chat that knocked wait for good.
func (d *Desk) Ignore(ctx context.Context, chat string) error {
	return d.settle(ctx, chat, store.StrangerIgnored)
}

// Unignore has the owners asked again about a chat.
func (d *Desk) Unignore(ctx context.Context, chat string) error {
	return d.settle(ctx, chat, store.StrangerWaits)
}

func (d *Desk) settle(ctx context.Context, chat string, state store.StrangerState) error {
	id, err := chatOf(chat)
	if err != nil {
		return err
	}
	err = d.Strangers.Settle(ctx, id, state, byPage)
	if state == store.StrangerAllowed {
		err = d.changed(err, "allow", id)
	}
	return said(err)
}

// changed is the error of a change of the allow list, in words: why no change is possible,
// or which command says more.
func (d *Desk) changed(err error, verb string, chat gateway.ChatID) error {
	if err == nil {
		return nil
	}
	if fixed := d.Around.Fixed(); fixed != nil {
		return control.Say(fixed.Error())
	}
	d.Logger.Error("allow list not changed", "chat", chat.String(), "err", err)
	return control.Say(fmt.Sprintf("config.yaml cannot be written; klawbot %s %d", verb, chat.ID))
}

// Deny takes a chat off the allow list.
func (d *Desk) Deny(_ context.Context, chat string) error {
	id, err := chatOf(chat)
	if err != nil {
		return err
	}
	err = d.changed(d.Around.Deny(id), "deny", id)
	if err == nil {
		d.Logger.Info("chat denied", "chat", id.String(), "by", byPage)
	}
	return err
}

// chatOf reads a chat that a person typed: 555, telegram_555.
func chatOf(text string) (gateway.ChatID, error) {
	if number, err := strconv.ParseInt(text, 10, 64); err == nil && number != 0 {
		return gateway.ChatID{Channel: "telegram", ID: number}, nil
	}
	id, err := gateway.ParseChatID(text)
	if err != nil {
		return id, control.Say("refused.chat")
	}
	if id.ID == 0 {
		return id, control.Say("refused.telegram")
	}
	return id, nil
}
