package store

import (
	"fmt"
	"time"
)

// OutboxState is how far a row of the outbox is.
type OutboxState string

// The states of a row.
const (
	// OutboxNew rows are not sent, for certain.
	OutboxNew OutboxState = "new"
	// OutboxSending rows were given to the channel; after a crash their delivery is
	// unconfirmed.
	OutboxSending OutboxState = "sending"
	// OutboxSent rows arrived; Out.MessageID is theirs.
	OutboxSent OutboxState = "sent"
	// OutboxUnknown rows may have arrived and are not tried again.
	OutboxUnknown OutboxState = "unknown"
	// OutboxDead rows will never arrive; Note says why.
	OutboxDead OutboxState = "dead"
)

// Out is a row of the outbox: one rendered message on its way out.
type Out struct {
	ID OutboxID
	// Key is unique: "turn/12/0" is the first row of the answer of turn 12.
	// Adding the same key again is no error and changes nothing.
	Key     string
	Turn    TurnID // 0 for none
	Address Address
	// Body is the message as JSON.
	Body []byte
	// Edit is the message that the row replaces, 0 to send a new one.
	Edit     int64
	State    OutboxState
	Attempts int
	// Resent is how often the row went out again after an unclear attempt;
	// from the first time on it is marked so.
	Resent    int
	MessageID int64
	NotBefore time.Time
	Note      string
	CreatedAt time.Time
	SentAt    time.Time
}

const outColumns = `id, key, coalesce(turn, 0), channel, chat, thread, body, edit, state, attempts,
	resent, message_id, not_before, note, created_at, sent_at`

const (
	pendingOutSQL = `SELECT ` + outColumns + ` FROM outbox
		WHERE state IN ('new', 'sending') ORDER BY id LIMIT ?`

	pendingOutAtSQL = `SELECT ` + outColumns + ` FROM outbox
		WHERE state IN ('new', 'sending') AND channel = ? AND chat = ? AND thread = ? ORDER BY id LIMIT ?`

	updateOutSQL = `UPDATE outbox SET body = ?, edit = ?, state = ?, attempts = ?, resent = ?, message_id = ?,
		not_before = ?, note = ?, sent_at = ?, channel = ?, chat = ?, thread = ? WHERE id = ?`

	outNamedSQL = `SELECT ` + outColumns + ` FROM outbox WHERE key = ?`

	outsSinceSQL = `SELECT EXISTS (SELECT 1 FROM outbox
			WHERE state IN ('new', 'sending') AND channel = ?1 AND chat = ?2 AND thread = ?3 AND edit = 0)
		OR EXISTS (SELECT 1 FROM outbox
			WHERE state IN ('sent', 'unknown', 'dead') AND created_at >= ?4 AND channel = ?1 AND chat = ?2 AND thread = ?3
				AND edit = 0 AND (state = 'unknown' OR state = 'sent' AND message_id > ?5))`

	outsOfMessageSQL = `SELECT ` + outColumns + ` FROM outbox WHERE channel = ? AND chat = ? AND (message_id = ? OR edit = ?)`

	lastOutSQL = `SELECT coalesce(max(id), 0) FROM outbox`

	putOutBehindSQL = `UPDATE outbox SET id = id + ?
		WHERE state IN ('new', 'sending') AND channel = ? AND chat = ? AND thread = ? AND id > ? AND id <= ?`

	outboxDepthSQL = `SELECT count(*), coalesce(min(created_at), 0) FROM outbox WHERE state IN ('new', 'sending')`
)

func scanOut(r row) (o Out, err error) {
	err = r.Scan(&o.ID, &o.Key, &o.Turn, &o.Address.Chat.Channel, &o.Address.Chat.ID, &o.Address.Thread, &o.Body,
		&o.Edit, &o.State, &o.Attempts, &o.Resent, &o.MessageID, millis{&o.NotBefore}, &o.Note,
		millis{&o.CreatedAt}, millis{&o.SentAt})
	return o, err
}

// AddOut stores a row to deliver, new unless State says otherwise. A row
// whose key is there already is not stored again. What is for a chat that has
// moved goes to its new id as a new message; what is for a dead one ends here.
func (tx OutboxTx) AddOut(o Out) error {
	if o.State == "" {
		o.State = OutboxNew
	}
	movedTo, dead, err := tx.all().Chats().whereabouts(o.Address)
	switch {
	case err != nil:
		return fmt.Errorf("add out %s: %w", o.Key, err)
	case dead:
		o.State, o.Note = OutboxDead, "the chat cannot be reached"
	}
	_, err = tx.exec(`INSERT INTO outbox (key, turn, channel, chat, thread, body, edit, state, attempts,
			resent, message_id, not_before, note, created_at, sent_at)
		VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO NOTHING`,
		o.Key, o.Turn, o.Address.Chat.Channel, o.Address.Chat.ID, o.Address.Thread, blob(o.Body), o.Edit, o.State,
		o.Attempts, o.Resent, o.MessageID, toMillis(o.NotBefore), o.Note, tx.orNow(o.CreatedAt), toMillis(o.SentAt))
	if err == nil && movedTo != 0 {
		_, err = tx.exec(moveOutSQL, o.Address.Chat.Channel, o.Address.Chat.ID, movedTo)
		o.Address.Chat.ID = movedTo
	}
	if err != nil {
		return fmt.Errorf("add out %s: %w", o.Key, err)
	}
	next := Out{Address: o.Address}
	waiting, err := tx.PendingOut(&o.Address, 1)
	if len(waiting) == 1 && waiting[0].Key == o.Key {
		next = waiting[0] // as it was stored
	}
	tx.changes.Out = append(tx.changes.Out, next)
	return err
}

// AddOutsBehind stores rows that leave directly behind another one: what waited
// behind it at its address leaves after them.
func (tx OutboxTx) AddOutsBehind(o Out, outs []Out) error {
	if len(outs) == 0 {
		return nil
	}
	var before, last OutboxID
	err := tx.tx.QueryRow(lastOutSQL).Scan(&before)
	for _, out := range outs {
		if err == nil {
			err = tx.AddOut(out)
		}
	}
	if err == nil {
		err = tx.tx.QueryRow(lastOutSQL).Scan(&last)
	}
	if err == nil {
		_, err = tx.exec(putOutBehindSQL, last-o.ID, o.Address.Chat.Channel, o.Address.Chat.ID, o.Address.Thread, o.ID, before)
	}
	return wrap(err, "put out behind %s", o.Key)
}

// OutsSince reports whether a message has left for an address behind another one of
// the bot, or may have, or will. They were stored after a time.
func (tx OutboxTx) OutsSince(a Address, message int64, after time.Time) (is bool, err error) {
	err = tx.tx.QueryRow(outsSinceSQL, a.Chat.Channel, a.Chat.ID, a.Thread, toMillis(after), message).Scan(&is)
	return is, wrap(err, "messages since %d", message)
}

// PendingOut lists what is new or sending, oldest first, also what must not be
// sent before a later time. With an address only that one's, else all.
func (tx OutboxTx) PendingOut(a *Address, limit int) ([]Out, error) {
	statement, args := pendingOutSQL, []any{limit}
	if a != nil {
		statement, args = pendingOutAtSQL, []any{a.Chat.Channel, a.Chat.ID, a.Thread, limit}
	}
	all, err := query(tx, scanOut, statement, args...)
	return all, wrap(err, "list pending out")
}

// UpdateOutAt is UpdateOut for a row that waits at an address, or whose message has arrived.
// done is false for another row, which stays as it is.
func (tx OutboxTx) UpdateOutAt(a Address, o Out) (done bool, err error) {
	n, err := tx.exec(updateOutSQL+` AND channel = ? AND chat = ? AND thread = ? AND (state IN ('new', 'sending') OR ?)`,
		append(o.updated(), a.Chat.Channel, a.Chat.ID, a.Thread, o.State == OutboxSent)...)
	return n == 1, wrap(err, "update out %d", o.ID)
}

// updated are the values of updateOutSQL.
func (o *Out) updated() []any {
	return []any{o.Body, o.Edit, o.State, o.Attempts, o.Resent, o.MessageID, toMillis(o.NotBefore), o.Note, toMillis(o.SentAt),
		o.Address.Chat.Channel, o.Address.Chat.ID, o.Address.Thread, o.ID}
}

// UpdateOut writes back the fields that delivery changes: Body, Edit, State,
// Attempts, Resent, MessageID, NotBefore, Note, SentAt, Address.
func (tx OutboxTx) UpdateOut(o Out) error {
	return wrap(tx.change(updateOutSQL, o.updated()...), "update out %d", o.ID)
}

// OutNamed returns the row with a key, or ErrNotFound.
func (tx OutboxTx) OutNamed(key string) (Out, error) {
	o, err := scanOut(tx.tx.QueryRow(outNamedSQL, key))
	return o, wrap(err, "out %s", key)
}

// OutsOf are the rows that a message of the bot has shown, as far as they are kept.
func (tx OutboxTx) OutsOf(a Address, message int64) ([]Out, error) {
	all, err := query(tx, scanOut, outsOfMessageSQL, a.Chat.Channel, a.Chat.ID, message, message)
	return all, wrap(err, "rows of message %d", message)
}

// OutboxDepth counts the rows that are new or sending.
func (tx OutboxTx) OutboxDepth() (Depth, error) {
	d, err := tx.depth(outboxDepthSQL)
	return d, wrap(err, "count outbox")
}
