package store

import (
	"encoding/json"
	"errors"
	"time"

	"klawbot/engine/internal/llm"
)

// Session is a segment of a conversation: from one /new to the next.
type Session struct {
	ID      SessionID
	Address Address
	// Model is the name of the model that the chat chose, empty for the default.
	Model     string
	StartedAt time.Time
}

// TypeBreak is the Message.Type that marks the start of a segment.
const TypeBreak = "session_break"

const sessionColumns = `s.id, s.channel, s.chat, s.thread, s.model, s.started_at`

const (
	sessionSQL = `SELECT ` + sessionColumns + ` FROM sessions s
		WHERE s.channel = ? AND s.chat = ? AND s.thread = ? ORDER BY s.started_at DESC, s.id DESC LIMIT 1`

	sessionAtSQL = `SELECT ` + sessionColumns + ` FROM sessions s
		WHERE s.channel = ? AND s.chat = ? AND s.thread = ? AND s.started_at <= ?
		ORDER BY s.started_at DESC, s.id DESC LIMIT 1`

	sessionsSQL = `SELECT ` + sessionColumns + `,
			(SELECT count(*) FROM messages m WHERE m.session = s.id AND m.type = '') AS messages,
			coalesce((SELECT m.at FROM messages m WHERE m.session = s.id AND m.type = '' ORDER BY m.id DESC LIMIT 1),
				s.started_at) AS last_at
		FROM sessions s
		WHERE NOT EXISTS (SELECT 1 FROM sessions n WHERE n.channel = s.channel AND n.chat = s.chat AND n.thread = s.thread
			AND (n.started_at, n.id) > (s.started_at, s.id))
		ORDER BY last_at DESC, s.id DESC`
)

func (s *Session) fields() []any {
	return []any{&s.ID, &s.Address.Chat.Channel, &s.Address.Chat.ID, &s.Address.Thread, &s.Model, millis{&s.StartedAt}}
}

// Session returns the current session of an address and starts the first one.
// (In a read transaction a missing one is ErrNotFound.)
func (tx SessionsTx) Session(a Address) (Session, error) {
	s, err := tx.currentSession(a)
	if errors.Is(err, ErrNotFound) && tx.write {
		s, err = tx.all().Archive().AddSession(Session{Address: a, StartedAt: tx.now})
	}
	return s, wrap(err, "session of %s", a)
}

func (tx SessionsTx) currentSession(a Address) (s Session, err error) {
	err = tx.tx.QueryRow(sessionSQL, a.Chat.Channel, a.Chat.ID, a.Thread).Scan(s.fields()...)
	return s, notFound(err)
}

// StartSession begins a new segment, which keeps the model of the last one. The
// break is its first message, so that logs show it and an import finds it.
func (tx SessionsTx) StartSession(a Address) (Session, error) {
	last, err := tx.currentSession(a)
	if optional(err) != nil {
		return Session{}, wrap(err, "start session of %s", a)
	}
	s := Session{Address: a, Model: last.Model, StartedAt: tx.now}
	if s.StartedAt.Before(last.StartedAt) {
		s.StartedAt = last.StartedAt // the clock went back; the new one is the current one all the same
	}
	if s, err = tx.all().Archive().AddSession(s); err == nil {
		_, err = tx.AddMessage(Message{Session: s.ID, Type: TypeBreak, Model: s.Model, Body: llm.Message{Role: RoleSystem}})
	}
	return s, wrap(err, "start session of %s", a)
}

// SetModel sets the model of a session.
func (tx SessionsTx) SetModel(id SessionID, model string) error {
	return wrap(tx.change(`UPDATE sessions SET model = ? WHERE id = ?`, model, id), "set model of session %d", id)
}

// SessionInfo is a row of the list of sessions.
type SessionInfo struct {
	Session
	// Messages counts what History can return.
	Messages int
	// LastAt is the time of the last one, or of the start.
	LastAt time.Time
}

// Sessions lists the current session of every address, the latest first.
func (tx SessionsTx) Sessions() ([]SessionInfo, error) {
	all, err := query(tx, func(r row) (s SessionInfo, err error) {
		err = r.Scan(append(s.fields(), &s.Messages, millis{&s.LastAt})...)
		return s, err
	}, sessionsSQL)
	return all, wrap(err, "list sessions")
}

// ShownTools are the tools that a conversation shows its model beside those that are
// always shown. They are kept in the order in which they came, so that requests begin
// like the ones before and providers find them in their caches.
type ShownTools struct {
	// Since is the id of the summary that the list belongs to: with the next one the
	// conversation begins another.
	Since int64       `json:"since"`
	Tools []ShownTool `json:"tools"`
}

// ShownTool is one of them, with how often it was called.
type ShownTool struct {
	Name  string `json:"name"`
	Calls int    `json:"calls,omitempty"`
}

// ShownTools returns those of a session.
func (tx SessionsTx) ShownTools(id SessionID) (s ShownTools, err error) {
	var source string
	if err = tx.tx.QueryRow(`SELECT shown FROM sessions WHERE id = ?`, id).Scan(&source); err == nil && source != "" {
		err = json.Unmarshal([]byte(source), &s)
	}
	return s, wrap(err, "shown tools of session %d", id)
}

// SetShownTools stores those of a session.
func (tx SessionsTx) SetShownTools(id SessionID, s ShownTools) error {
	source, err := json.Marshal(s)
	if err == nil {
		err = tx.change(`UPDATE sessions SET shown = ? WHERE id = ?`, string(source), id)
	}
	return wrap(err, "shown tools of session %d", id)
}
