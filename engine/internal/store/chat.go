package store

import "time"

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
	// MovedTo is the new id of a chat that has one, else 0.
	MovedTo int64
}

// SeeChat remembers that a chat wrote at a time, and revives one that died
// before that. An empty name leaves the one that is known.
func (tx ChatsTx) SeeChat(channel string, id int64, name string, at time.Time) error {
	_, err := tx.exec(`INSERT INTO chats (channel, chat, name, seen_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel, chat) DO UPDATE SET name = coalesce(nullif(excluded.name, ''), name), seen_at = excluded.seen_at,
			note = iif(dead_since BETWEEN 1 AND excluded.seen_at, '', note), dead_since = iif(dead_since <= excluded.seen_at, 0, dead_since)`,
		channel, id, name, tx.orNow(at))
	return wrap(err, "see chat %s %d", channel, id)
}

// ReviveChat says that a chat could be reached at a time, now when it is zero. It
// costs nothing for one that is not dead.
func (tx ChatsTx) ReviveChat(channel string, id int64, at time.Time) error {
	_, err := tx.exec(`UPDATE chats SET dead_since = 0, note = ''
		WHERE channel = ? AND chat = ? AND dead_since <> 0 AND dead_since <= ?`, channel, id, tx.orNow(at))
	return wrap(err, "revive chat %s %d", channel, id)
}

// ChatName is the name of a chat, empty for one without.
func (tx ChatsTx) ChatName(channel string, id int64) (string, error) {
	var name string
	err := tx.tx.QueryRow(`SELECT name FROM chats WHERE channel = ? AND chat = ?`, channel, id).Scan(&name)
	return name, wrap(optional(err), "name of chat %s %d", channel, id)
}

// SpeaksTo reports whether a chat gets spoken answers.
func (tx ChatsTx) SpeaksTo(channel string, id int64) (on bool, err error) {
	err = tx.tx.QueryRow(`SELECT voice FROM chats WHERE channel = ? AND chat = ?`, channel, id).Scan(&on)
	return on, wrap(optional(err), "voice of chat %s %d", channel, id)
}

// SetVoice says whether a chat gets spoken answers.
func (tx ChatsTx) SetVoice(channel string, id int64, on bool) error {
	_, err := tx.exec(setVoiceSQL, channel, id, on)
	return wrap(err, "set the voice of chat %s %d", channel, id)
}

// KillChat marks a chat as not reachable and ends what waits to leave for it. It
// reports whether it was alive; a dead one keeps its time and note. A chat that
// never wrote counts as alive.
func (tx ChatsTx) KillChat(channel string, id int64, note string) (was bool, err error) {
	n, err := tx.exec(`INSERT INTO chats (channel, chat, name, seen_at, dead_since, note) VALUES (?, ?, '', 0, ?, ?)
		ON CONFLICT (channel, chat) DO UPDATE SET dead_since = excluded.dead_since, note = excluded.note
			WHERE dead_since = 0`, channel, id, toMillis(tx.now), note)
	if err == nil {
		_, err = tx.exec(endOutOfChatSQL, note, channel, id)
	}
	return n == 1, wrap(err, "kill chat %s %d", channel, id)
}

// MoveChat gives a chat its new id: sessions, turns, approvals, jobs, memories, what
// waits to be answered and what waits to leave. Messages have other ids there, so what was to edit one
// becomes a new message, and what was to answer one stands alone. Doing it again
// changes nothing.
func (tx ChatsTx) MoveChat(channel string, from, to int64) error {
	for _, statement := range []string{
		`INSERT INTO chats (channel, chat, name, seen_at, moved_to) VALUES (?1, ?2, '', 0, ?3)
			ON CONFLICT (channel, chat) DO UPDATE SET moved_to = excluded.moved_to`,
		`INSERT INTO chats (channel, chat, name, seen_at, voice) SELECT channel, ?3, name, seen_at, voice FROM chats WHERE channel = ?1 AND chat = ?2
			ON CONFLICT (channel, chat) DO UPDATE SET voice = max(voice, excluded.voice)`,
		`UPDATE chats SET voice = 0 WHERE channel = ?1 AND chat = ?2`, // it may be off there since
		`UPDATE sessions SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		`UPDATE turns SET placeholder = 'forgotten' WHERE state = 'running' AND channel = ?1 AND chat = ?2`,
		`UPDATE turns SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		`UPDATE inbox SET chat = ?3 WHERE state IN ('new', 'running') AND channel = ?1 AND chat = ?2`,
		askAgainSQL,
		`UPDATE approvals SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		`UPDATE approvals SET home_chat = ?3 WHERE home_channel = ?1 AND home_chat = ?2`,
		`UPDATE memories SET key = '' WHERE channel = ?1 AND chat = ?2 AND key IN (SELECT key FROM memories WHERE channel = ?1 AND chat = ?3)`,
		`UPDATE memories SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		`UPDATE chunks SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		`UPDATE grants SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		`UPDATE jobs SET home_chat = ?3 WHERE home_channel = ?1 AND home_chat = ?2`,
		`UPDATE jobs SET chat = ?3 WHERE channel = ?1 AND chat = ?2`,
		moveOutSQL,
	} {
		if _, err := tx.exec(statement, channel, from, to); err != nil {
			return wrap(err, "move chat %s %d to %d", channel, from, to)
		}
	}
	return nil
}

// Home is the address under which a chat is known today.
func (tx ChatsTx) Home(a Address) (Address, error) {
	to, _, err := tx.whereabouts(a)
	if to != 0 {
		a.Chat.ID = to
	}
	return a, wrap(err, "home of %s", a)
}

// ChatGone says why a chat cannot be reached any more, empty while it can.
func (tx ChatsTx) ChatGone(channel string, id int64) (why string, err error) {
	err = tx.tx.QueryRow(chatGoneSQL, channel, id).Scan(&why)
	return why, optional(err)
}

// whereabouts tells where a chat moved, 0 for nowhere, and whether it is dead.
func (tx ChatsTx) whereabouts(a Address) (movedTo int64, dead bool, err error) {
	err = tx.tx.QueryRow(whereaboutsSQL, a.Chat.Channel, a.Chat.ID).Scan(&movedTo, &dead)
	return movedTo, dead, optional(err)
}

const (
	chatGoneSQL    = `SELECT CASE WHEN note = '' THEN 'gone' ELSE note END FROM chats WHERE channel = ? AND chat = ? AND dead_since <> 0`
	setVoiceSQL    = `INSERT INTO chats (channel, chat, name, seen_at, voice) VALUES (?, ?, '', 0, ?) ON CONFLICT (channel, chat) DO UPDATE SET voice = excluded.voice`
	whereaboutsSQL = `SELECT moved_to, dead_since <> 0 FROM chats WHERE channel = ? AND chat = ?`

	endOutOfChatSQL = `UPDATE outbox SET state = 'dead', note = ? WHERE state IN ('new', 'sending') AND channel = ? AND chat = ?`

	// A question that waits for an answer is asked once more, as a message that may be there.
	askAgainSQL = `UPDATE outbox SET state = 'new', message_id = 0, resent = resent + 1, chat = ?3 WHERE state = 'sent'
		AND key IN (SELECT 'approval/' || id || '/0' FROM approvals WHERE state = 'pending' AND channel = ?1 AND chat = ?2)`

	moveOutSQL = `UPDATE outbox SET chat = ?3, edit = 0, body = CAST(json_remove(CAST(body AS TEXT), '$.reply_to') AS BLOB)
		WHERE state IN ('new', 'sending') AND channel = ?1 AND chat = ?2`
)

// Chats lists all chats, the latest first.
func (tx ChatsTx) Chats() ([]Chat, error) {
	all, err := query(tx, func(r row) (c Chat, err error) {
		err = r.Scan(&c.Channel, &c.ID, &c.Name, millis{&c.DeadSince}, &c.Note, millis{&c.SeenAt}, &c.MovedTo)
		return c, err
	}, `SELECT channel, chat, name, dead_since, note, seen_at, moved_to FROM chats ORDER BY seen_at DESC, id DESC`)
	return all, wrap(err, "list chats")
}
