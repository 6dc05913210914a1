package store

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"

	"klawbot/engine/internal/llm"
)

// RoleSystem is the role of the bot's own lines. No model gets them.
const RoleSystem llm.Role = "system"

// ByCommand stands for the model of what no model wrote: the call of a tool for a
// command, and what the tool printed.
const ByCommand = "(command)"

// Message is a stored message of a conversation. Messages are never edited.
type Message struct {
	ID MessageID
	// UID is unique over all data directories; empty lets AddMessage mint one.
	UID     string
	Session SessionID
	Turn    TurnID // 0 for none
	Body    llm.Message
	// Sender is the person of a user message.
	Sender     int64
	SenderName string
	// Type is empty, or "session_break", "error", "stopped", "delivered": a
	// line for people that the model does not get as its own words.
	Type string
	// Model is the configured name of the model that wrote it, or ByCommand.
	Model                     string
	InputTokens, OutputTokens int
	// At is when it was said; zero lets AddMessage take the present.
	At time.Time
}

// Bodies are the bodies of messages.
func Bodies(messages []Message) []llm.Message {
	all := make([]llm.Message, len(messages))
	for i, m := range messages {
		all[i] = m.Body
	}
	return all
}

const messageColumns = `m.id, m.uid, m.session, coalesce(m.turn, 0), m.body, m.sender, m.sender_name, m.type,
	m.model, m.input_tokens, m.output_tokens, m.at`

const historySQL = `SELECT ` + messageColumns + ` FROM messages m
	WHERE m.session = ? AND m.type = '' ORDER BY m.id DESC LIMIT ?`

func (m *Message) fields() []any {
	return []any{&m.ID, &m.UID, &m.Session, &m.Turn, jsonColumn{&m.Body}, &m.Sender, &m.SenderName, &m.Type,
		&m.Model, &m.InputTokens, &m.OutputTokens, millis{&m.At}}
}

// AddMessage stores a message at the end of its session.
func (tx SessionsTx) AddMessage(m Message) (MessageID, error) {
	if m.UID == "" {
		m.UID = rand.Text()
	}
	body, err := json.Marshal(m.Body)
	if err != nil {
		return 0, wrap(err, "add message")
	}
	id, err := tx.insert(`INSERT INTO messages (uid, session, turn, body, sender, sender_name, type, model,
			input_tokens, output_tokens, at)
		VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.UID, m.Session, m.Turn, string(body), m.Sender, m.SenderName, m.Type, m.Model,
		m.InputTokens, m.OutputTokens, tx.orNow(m.At))
	tx.changes.Messages = true
	return MessageID(id), wrap(err, "add message")
}

// History returns the newest messages of a session that have no Type, at most
// limit of them, oldest first.
func (tx SessionsTx) History(s SessionID, limit int) ([]Message, error) {
	all, err := query(tx, scanMessage, historySQL, s, limit)
	slices.Reverse(all)
	return all, wrap(err, "history of session %d", s)
}

// recentMessages is how many of the latest messages PersonName looks through.
const recentMessages = 20_000

const personNameSQL = `SELECT sender_name FROM messages
	WHERE sender = ? AND sender_name <> '' AND id > (SELECT max(id) FROM messages) - ? ORDER BY id DESC LIMIT 1`

// PersonName is what a person was called when they last wrote, in whatever chat; empty
// for one who has not written lately.
func (tx SessionsTx) PersonName(id int64) (string, error) {
	var name string
	err := tx.tx.QueryRow(personNameSQL, id, recentMessages).Scan(&name)
	return name, wrap(optional(err), "name of %d", id)
}
