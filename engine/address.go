package engine

import (
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// stored is an address as the store keeps it.
func stored(a gateway.Address) store.Address {
	return store.Address{Channel: a.Chat.Channel, Chat: a.Chat.ID, Thread: a.Thread}
}

// reachable is a stored address as the gateway knows it.
func reachable(a store.Address) gateway.Address {
	return gateway.Address{Chat: gateway.ChatID{Channel: a.Channel, ID: a.Chat}, Thread: a.Thread}
}

// storedUpdate is an update as the inbox keeps it.
func storedUpdate(u gateway.Update) store.Update {
	row := store.Update{
		Channel: u.Channel, Bot: u.Bot, Update: u.ID, Kind: u.Kind, Address: stored(u.Address),
		Message: u.Message, From: u.From, Group: u.Group, FromBot: u.FromBot, Anonymous: u.Anonymous,
		Raw: u.Raw, State: store.InboxNew,
	}
	if u.Fault != "" {
		row.State, row.Note = store.InboxDead, u.Fault
	}
	return row
}

// receivedUpdate is what storedUpdate stored.
func receivedUpdate(row store.Update) gateway.Update {
	return gateway.Update{
		Channel: row.Channel, Bot: row.Bot, ID: row.Update, Kind: row.Kind, Address: reachable(row.Address),
		Message: row.Message, From: row.From, Group: row.Group, FromBot: row.FromBot, Anonymous: row.Anonymous,
		Raw: row.Raw,
	}
}
