package store

import (
	"database/sql"
	"time"
)

const saidColumns = messageColumns + `, s.channel, s.chat, s.thread`

func scanSaid(r row) (s Said, err error) {
	err = r.Scan(append(s.fields(), &s.Address.Chat.Channel, &s.Address.Chat.ID, &s.Address.Thread)...)
	return s, err
}

const (
	allSaidSQL = `SELECT ` + saidColumns + ` FROM messages m JOIN sessions s ON s.id = m.session
		ORDER BY s.channel, s.chat, s.thread, s.started_at, s.id, m.id`

	unloggedSQL = `SELECT ` + saidColumns + ` FROM messages m JOIN sessions s ON s.id = m.session
		WHERE m.logged = 0 ORDER BY m.id LIMIT ?`
)

// EachSaid calls do for every message: one conversation after the other, each in order.
func (tx ArchiveTx) EachSaid(do func(Said) error) error {
	return tx.each(allSaidSQL, nil, func(r row) error {
		s, err := scanSaid(r)
		if err != nil {
			return err
		}
		return do(s)
	})
}

// Unlogged lists messages that are not marked as logged, in order.
func (tx ArchiveTx) Unlogged(limit int) ([]Said, error) {
	return query(tx, scanSaid, unloggedSQL, limit)
}

// MarkLogged notes that messages are in the conversation logs.
func (tx ArchiveTx) MarkLogged(ids ...MessageID) error {
	_, err := tx.exec(`UPDATE messages SET logged = 1 WHERE id IN (SELECT value FROM json_each(?))`, idList(ids))
	return err
}

// ByUID finds the session and the turn of a message.
func (tx ArchiveTx) ByUID(uid string) (session SessionID, turn TurnID, found bool, err error) {
	err = tx.tx.QueryRow(tx.on(`SELECT session, coalesce(turn, 0) FROM messages WHERE uid = ?`), uid).Scan(&session, &turn)
	if err == sql.ErrNoRows {
		return 0, 0, false, nil
	}
	return session, turn, err == nil, err
}

// MemoriesAfter lists memories of all chats by id.
func (tx ArchiveTx) MemoriesAfter(after MemoryID, limit int) ([]Memory, error) {
	return query(tx, scanMemory, `SELECT `+memoryColumns+` FROM memories WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
}

// SessionAt is the session of an address that was current at a time, or ErrNotFound.
func (tx ArchiveTx) SessionAt(a Address, at time.Time) (s Session, err error) {
	err = tx.tx.QueryRow(sessionAtSQL, a.Chat.Channel, a.Chat.ID, a.Thread, toMillis(at)).Scan(s.fields()...)
	return s, notFound(err)
}

// SessionsOf lists the sessions of an address, oldest first.
func (tx ArchiveTx) SessionsOf(a Address) ([]Session, error) {
	return query(tx, func(r row) (s Session, err error) {
		err = r.Scan(s.fields()...)
		return s, err
	}, `SELECT `+sessionColumns+` FROM sessions s WHERE s.channel = ? AND s.chat = ? AND s.thread = ? ORDER BY s.started_at, s.id`,
		a.Chat.Channel, a.Chat.ID, a.Thread)
}

// NextSession is an id that no session has.
func (tx ArchiveTx) NextSession() (id SessionID, err error) {
	err = tx.tx.QueryRow(`SELECT coalesce(max(id), 0) + 1 FROM sessions`).Scan(&id)
	return id, err
}

// AddSession stores a session under its id, or a new one when that is 0.
func (tx ArchiveTx) AddSession(s Session) (Session, error) {
	id, err := tx.insert(`INSERT INTO sessions (id, channel, chat, thread, model, started_at) VALUES (nullif(?, 0), ?, ?, ?, ?, ?)`,
		s.ID, s.Address.Chat.Channel, s.Address.Chat.ID, s.Address.Thread, s.Model, toMillis(s.StartedAt))
	s.ID = SessionID(id)
	return s, err
}
