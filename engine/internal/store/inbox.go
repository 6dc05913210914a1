package store

import (
	"encoding/json"
	"fmt"
	"time"

	"klawbot/gateway"
)

// InboxState is how far an update is.
type InboxState string

// The states of an update.
const (
	// InboxNew updates wait for a turn.
	InboxNew InboxState = "new"
	// InboxRunning updates are part of the turn in Update.Turn.
	InboxRunning InboxState = "running"
	// InboxDone updates are answered, or needed no answer.
	InboxDone InboxState = "done"
	// InboxDead updates could not be understood or failed for good.
	InboxDead InboxState = "dead"
)

// Update is an update in the inbox. Of Update, Fault and MovedTo are not stored.
type Update struct {
	gateway.Update
	ID    InboxID
	State InboxState
	Turn  TurnID
	// Note says why a row is dead or done without an answer.
	Note       string
	ReceivedAt time.Time
}

const updateColumns = `id, channel, bot, update_id, kind, chat, thread, message, sender,
	is_group, from_bot, anonymous, raw, state, coalesce(turn, 0), note, received_at`

const (
	newUpdatesSQL = `SELECT ` + updateColumns + ` FROM inbox WHERE state = 'new' ORDER BY id`

	turnUpdatesSQL = `SELECT ` + updateColumns + ` FROM inbox WHERE turn = ? ORDER BY id`

	inboxDepthSQL = `SELECT count(*), coalesce(min(received_at), 0) FROM (
		SELECT received_at FROM inbox WHERE state = 'new'
		UNION ALL
		SELECT received_at FROM inbox WHERE state = 'running')`
)

func scanUpdate(r row) (u Update, err error) {
	err = r.Scan(&u.ID, &u.Channel, &u.Bot, &u.Update.ID, &u.Kind, &u.Address.Chat.ID, &u.Address.Thread,
		&u.Message, &u.From, &u.Group, &u.FromBot, &u.Anonymous, &u.Raw, &u.State, &u.Turn, &u.Note,
		millis{&u.ReceivedAt})
	u.Address.Chat.Channel = u.Channel
	return u, err
}

// AddUpdate stores an update, new unless State says otherwise, received now
// unless ReceivedAt does. added is false when it was there already; id is then
// the one of the row that is there.
func (tx InboxTx) AddUpdate(u Update) (id InboxID, added bool, err error) {
	if u.State == "" {
		u.State = InboxNew
	}
	row, n, err := tx.put(`INSERT INTO inbox (channel, bot, update_id, kind, chat, thread, message, sender,
			is_group, from_bot, anonymous, raw, state, turn, note, received_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?)
		ON CONFLICT (channel, bot, update_id) DO NOTHING`,
		u.Channel, u.Bot, u.Update.ID, u.Kind, u.Address.Chat.ID, u.Address.Thread, u.Message, u.From,
		u.Group, u.FromBot, u.Anonymous, tx.rawOf(u), u.State, u.Turn, u.Note, tx.orNow(u.ReceivedAt))
	if id = InboxID(row); err == nil && n == 0 {
		err = tx.tx.QueryRow(`SELECT id FROM inbox WHERE channel = ? AND bot = ? AND update_id = ?`,
			u.Channel, u.Bot, u.Update.ID).Scan(&id)
	}
	return id, n == 1, wrap(err, "add update %d", u.Update.ID)
}

// rawOf is the raw form of an update as it is stored. The offsets in it stay right.
func (tx InboxTx) rawOf(u Update) exactBytes {
	if u.State == InboxNew || u.State == InboxRunning {
		return tx.waiting(u.Raw)
	}
	return exactBytes(tx.secrets.AlignedJSON(blob(u.Raw)))
}

// waiting is the raw form of an update that is not answered yet. Text that only looks
// like a key stays, because the answer may need it.
func (tx InboxTx) waiting(raw []byte) exactBytes {
	return exactBytes(tx.secrets.AlignedKnownJSON(blob(raw)))
}

// NewUpdates lists what waits, oldest first.
func (tx InboxTx) NewUpdates() ([]Update, error) {
	all, err := query(tx, scanUpdate, newUpdatesSQL)
	return all, wrap(err, "list new updates")
}

// TurnUpdates lists the updates of a turn, oldest first.
func (tx InboxTx) TurnUpdates(t TurnID) ([]Update, error) {
	all, err := query(tx, scanUpdate, turnUpdatesSQL, t)
	return all, wrap(err, "list updates of turn %d", t)
}

// StartUpdates gives updates that wait to a turn. When one of them does not
// wait any more it is ErrNotFound and fn must return it, so that no update is
// answered twice.
func (tx InboxTx) StartUpdates(t TurnID, ids ...InboxID) error {
	n, err := tx.exec(`UPDATE inbox SET state = 'running', turn = ?
		WHERE state = 'new' AND id IN (SELECT value FROM json_each(?))`, t, idList(ids))
	if err == nil && n != int64(len(ids)) {
		err = fmt.Errorf("%d of %d wait: %w", n, len(ids), ErrNotFound)
	}
	return wrap(err, "start updates of turn %d", t)
}

// EndUpdates sets the final state of updates, and takes out of them what has the
// shape of a secret.
func (tx InboxTx) EndUpdates(s InboxState, note string, ids ...InboxID) error {
	rows, err := query(tx, scanUpdate, `UPDATE inbox SET state = ?, note = ? WHERE id IN (SELECT value FROM json_each(?)) RETURNING `+updateColumns,
		tx.masked([]any{s, note, idList(ids)})...)
	tx.changed = true
	for _, u := range rows {
		if raw := tx.rawOf(u); err == nil && string(raw) != string(u.Raw) {
			_, err = tx.exec(`UPDATE inbox SET raw = ? WHERE id = ?`, raw, u.ID)
		}
	}
	return wrap(err, "end updates")
}

// ReplaceUpdate gives an update that still waits the raw form of its edit. It
// returns ErrNotFound when the update does not wait any more.
func (tx InboxTx) ReplaceUpdate(id InboxID, raw []byte) error {
	return wrap(tx.change(`UPDATE inbox SET raw = ? WHERE id = ? AND state = 'new'`, tx.waiting(raw), id), "replace update %d", id)
}

// Taken reports whether another update about the same message waits, belongs to a turn, or
// ended with another note than these.
func (tx InboxTx) Taken(u Update, notes ...string) (taken bool, err error) {
	list, err := json.Marshal(notes)
	if err == nil {
		err = tx.tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM inbox WHERE channel = ? AND bot = ? AND chat = ? AND message = ? AND id <> ?
			AND kind <> 'callback_query' AND (state IN ('new', 'running') OR turn IS NOT NULL OR note NOT IN (SELECT value FROM json_each(?))))`,
			u.Channel, u.Bot, u.Address.Chat.ID, u.Message, u.ID, string(list)).Scan(&taken)
	}
	return taken, wrap(err, "look for message %d", u.Message)
}

// Near lists the messages of a chat that may be of one album with an update, oldest
// first: an album has ten messages at most, and comes at once.
func (tx InboxTx) Near(u Update) ([]Update, error) {
	const reach = 15
	all, err := query(tx, scanUpdate, `SELECT `+updateColumns+` FROM inbox WHERE id > (SELECT max(id) FROM inbox) - 500 AND id <> ?
		AND channel = ? AND bot = ? AND chat = ? AND kind = ? AND message BETWEEN ? AND ? ORDER BY id`,
		u.ID, u.Channel, u.Bot, u.Address.Chat.ID, u.Kind, u.Message-reach, u.Message+reach)
	return all, wrap(err, "list messages near %d", u.Message)
}

// Reopen lets updates wait that ended with a note.
func (tx InboxTx) Reopen(note string, ids ...InboxID) error {
	_, err := tx.exec(`UPDATE inbox SET state = 'new', note = '' WHERE state = 'done' AND note = ? AND id IN (SELECT value FROM json_each(?))`,
		note, idList(ids))
	return wrap(err, "reopen updates")
}

// Depth is how much waits and since when.
type Depth struct {
	Waiting int
	// Oldest is the time of the oldest row, zero when nothing waits.
	Oldest time.Time
}

// InboxDepth counts the rows that are new or running.
func (tx InboxTx) InboxDepth() (Depth, error) {
	d, err := tx.depth(inboxDepthSQL)
	return d, wrap(err, "count inbox")
}
