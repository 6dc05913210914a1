package store

import (
	"fmt"
	"time"
)

// Chat is what is known of a chat.
type Chat struct {
	Channel string
	ID      int64
	Name    string
	// DeadSince is set while the chat cannot be reached; Note says why.
	DeadSince time.Time
	Note      string
	// SeenAt is when the chat last wrote, zero for never.
	SeenAt time.Time
}

// SeeChat remembers that a chat wrote, and revives a dead one. An empty name
// leaves the one that is known.
func (tx *Tx) SeeChat(channel string, id int64, name string) error {
	_, err := tx.exec(`INSERT INTO chats (channel, chat, name, seen_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel, chat) DO UPDATE SET name = coalesce(nullif(excluded.name, ''), name),
			seen_at = excluded.seen_at, dead_since = 0, note = ''`, channel, id, name, toMillis(tx.now))
	if err != nil {
		return fmt.Errorf("see chat %s %d: %w", channel, id, err)
	}
	return nil
}

// KillChat marks a chat as not reachable. It reports whether it was alive; a
// dead one keeps its time and note. A chat that never wrote counts as alive.
func (tx *Tx) KillChat(channel string, id int64, note string) (was bool, err error) {
	n, err := tx.exec(`INSERT INTO chats (channel, chat, name, seen_at, dead_since, note) VALUES (?, ?, '', 0, ?, ?)
		ON CONFLICT (channel, chat) DO UPDATE SET dead_since = excluded.dead_since, note = excluded.note
			WHERE dead_since = 0`, channel, id, toMillis(tx.now), note)
	if err != nil {
		return false, fmt.Errorf("kill chat %s %d: %w", channel, id, err)
	}
	return n == 1, nil
}

// Chats lists all chats, the latest first.
func (tx *Tx) Chats() ([]Chat, error) {
	all, err := query(tx, func(r row) (c Chat, err error) {
		err = r.Scan(&c.Channel, &c.ID, &c.Name, millis{&c.DeadSince}, &c.Note, millis{&c.SeenAt})
		return c, err
	}, `SELECT channel, chat, name, dead_since, note, seen_at FROM chats ORDER BY seen_at DESC, id DESC`)
	if err != nil {
		return nil, fmt.Errorf("list chats: %w", err)
	}
	return all, nil
}
