package store

import (
	"slices"
	"time"
)

// Summary stands for the oldest messages of a session.
type Summary struct {
	ID      int64
	Session SessionID
	// First and Through are the first and the last message that it stands for.
	First, Through MessageID
	Text           string
	// Outside says that it sums up text that a tool brought from outside.
	Outside bool
	// Model is the configured name of the model that wrote it.
	Model string
	At    time.Time
}

// Past is what a session holds for a model: the last summary, and the messages
// after it.
type Past struct {
	// Summary is zero when there is none.
	Summary Summary
	// Messages are the newest ones after the summary, oldest first, and Count is
	// how many there are.
	Messages []Message
	Count    int
}

const (
	summarySQL = `SELECT id, session, first, through, text, outside, model, created_at FROM summaries
		WHERE session = ? ORDER BY through DESC, id DESC LIMIT 1`

	historyAfterSQL = `SELECT ` + messageColumns + ` FROM messages m
		WHERE m.session = ? AND m.type = '' AND m.id > ? ORDER BY m.id DESC LIMIT ?`

	historyFromSQL = `SELECT ` + messageColumns + ` FROM messages m
		WHERE m.session = ? AND m.type = '' AND m.id > ? ORDER BY m.id LIMIT ?`

	countAfterSQL = `SELECT count(*) FROM messages m WHERE m.session = ? AND m.type = '' AND m.id > ?`
)

// LastSummary returns the summary of a session that holds all others, or
// ErrNotFound.
func (tx SessionsTx) LastSummary(id SessionID) (s Summary, err error) {
	err = tx.tx.QueryRow(summarySQL, id).Scan(&s.ID, &s.Session, &s.First, &s.Through, &s.Text, &s.Outside, &s.Model, millis{&s.At})
	return s, wrap(err, "summary of session %d", id)
}

// AddSummary stores a summary.
func (tx SessionsTx) AddSummary(s Summary) error {
	_, err := tx.insert(`INSERT INTO summaries (session, first, through, text, outside, model, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		s.Session, s.First, s.Through, s.Text, s.Outside, s.Model, tx.orNow(s.At))
	return wrap(err, "add summary")
}

// Past returns what a session holds for a model, with limit messages at most. known is
// what a session held before, or nil: messages stay as they are, so only later ones are read.
func (tx SessionsTx) Past(id SessionID, limit int, known *Past) (p Past, err error) {
	if p.Summary, err = tx.LastSummary(id); optional(err) != nil {
		return p, err
	}
	if known != nil && len(known.Messages) >= max(1, min(limit, known.Count)) && known.Messages[0].Session == id && known.Summary.ID == p.Summary.ID {
		n := len(known.Messages)
		newer, err := tx.MessagesAfter(id, known.Messages[n-1].ID, limit)
		if err != nil || len(newer) < limit {
			p.Messages, p.Count = slices.Concat(known.Messages, newer)[max(0, n+len(newer)-limit):], known.Count+len(newer)
			return p, err
		}
	}
	p.Messages, err = query(tx, scanMessage, historyAfterSQL, id, p.Summary.Through, limit)
	if err == nil {
		slices.Reverse(p.Messages)
		if p.Count = len(p.Messages); p.Count == limit {
			err = tx.tx.QueryRow(countAfterSQL, id, p.Summary.Through).Scan(&p.Count)
		}
	}
	return p, wrap(err, "past of session %d", id)
}

// Unsummed returns the oldest messages after the last summary, limit at most.
func (tx SessionsTx) Unsummed(id SessionID, limit int) (p Past, err error) {
	if p.Summary, err = tx.LastSummary(id); optional(err) != nil {
		return p, err
	}
	p.Messages, err = tx.MessagesAfter(id, p.Summary.Through, limit)
	p.Count = len(p.Messages)
	return p, err
}

// MessagesAfter returns the oldest messages of a session after one, limit at
// most.
func (tx SessionsTx) MessagesAfter(id SessionID, after MessageID, limit int) ([]Message, error) {
	messages, err := query(tx, scanMessage, historyFromSQL, id, after, limit)
	return messages, wrap(err, "past of session %d", id)
}

func scanMessage(r row) (m Message, err error) {
	err = r.Scan(m.fields()...)
	return m, err
}
