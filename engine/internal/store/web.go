package store

import (
	"fmt"
	"time"
)

// WebMessage is a message of the chat on the web page.
type WebMessage struct {
	// ID is its id in the channel; it grows with time.
	ID int64
	// Key is unique: a second message with the same key is the same message.
	Key string
	// Said says that a person wrote it.
	Said bool
	Text string
	// ReplyTo is the message that it answers, 0 for none.
	ReplyTo int64
	// Buttons and File are JSON, "" for none.
	Buttons, File string
	// Gone says that it was deleted.
	Gone bool
	// Rev grows with each change, over all messages.
	Rev int64
	At  time.Time
}

// webGone is the state of a message that was deleted.
const webGone = "gone"

const webColumns = `id, key, dir = 'in', text, reply_to, buttons, file, state = 'gone', rev, at`

// A rev is also a time: it still grows when the newest rows were deleted, or a backup
// was restored.
const nextWebRev = `max(?, 1 + coalesce((SELECT max(rev) FROM web_messages), 0))`

func scanWeb(r row) (m WebMessage, err error) {
	err = r.Scan(&m.ID, &m.Key, &m.Said, &m.Text, &m.ReplyTo, &m.Buttons, &m.File, &m.Gone, &m.Rev, millis{&m.At})
	return m, err
}

// AddMessage stores a message, unless there is one with its key, and returns what is stored.
func (tx WebTx) AddMessage(m WebMessage) (WebMessage, error) {
	_, err := tx.exec(`INSERT INTO web_messages (id, key, dir, text, reply_to, buttons, file, state, rev, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, '', `+nextWebRev+`, ?) ON CONFLICT (key) DO NOTHING`,
		m.ID, exact(m.Key), direction(m.Said), m.Text, m.ReplyTo, m.Buttons, exact(m.File), toMillis(tx.now), tx.orNow(m.At))
	if err == nil {
		m, err = scanWeb(tx.tx.QueryRow(`SELECT `+webColumns+` FROM web_messages WHERE key = ?`, m.Key))
	}
	return m, wrap(err, "add web message %s", m.Key)
}

func direction(said bool) string {
	if said {
		return "in"
	}
	return "out"
}

// PutMessage gives a message another text and other buttons. One that is not there is
// added: its placeholder was never stored.
func (tx WebTx) PutMessage(m WebMessage) error {
	_, err := tx.exec(`INSERT INTO web_messages (id, key, dir, text, reply_to, buttons, file, state, rev, at)
		VALUES (?, ?, 'out', ?, ?, ?, ?, '', `+nextWebRev+`, ?)
		ON CONFLICT (id) DO UPDATE SET text = excluded.text, buttons = excluded.buttons, state = '', rev = excluded.rev,
			reply_to = CASE excluded.reply_to WHEN 0 THEN reply_to ELSE excluded.reply_to END,
			file = CASE excluded.file WHEN '' THEN file ELSE excluded.file END`,
		m.ID, exact(fmt.Sprintf("message/%d", m.ID)), m.Text, m.ReplyTo, m.Buttons, exact(m.File), toMillis(tx.now), tx.orNow(m.At))
	return wrap(err, "put web message %d", m.ID)
}

// DeleteMessage empties a message. One that is not there is no error.
func (tx WebTx) DeleteMessage(id int64) error {
	_, err := tx.exec(`UPDATE web_messages SET text = '', buttons = '', file = '', state = ?, rev = `+nextWebRev+` WHERE id = ?`,
		webGone, toMillis(tx.now), id)
	return wrap(err, "delete web message %d", id)
}

// Message returns a message, or ErrNotFound.
func (tx WebTx) Message(id int64) (WebMessage, error) {
	m, err := scanWeb(tx.tx.QueryRow(`SELECT `+webColumns+` FROM web_messages WHERE id = ?`, id))
	return m, wrap(err, "web message %d", id)
}

// MessagesAfter lists what changed after a rev, in the order of the changes.
func (tx WebTx) MessagesAfter(rev int64, limit int) ([]WebMessage, error) {
	all, err := query(tx, scanWeb, `SELECT `+webColumns+` FROM web_messages WHERE rev > ? ORDER BY rev LIMIT ?`, rev, limit)
	return all, wrap(err, "list web messages")
}

// MessagesBefore lists the newest messages before an id that are not deleted, the newest first.
func (tx WebTx) MessagesBefore(id int64, limit int) ([]WebMessage, error) {
	all, err := query(tx, scanWeb, `SELECT `+webColumns+` FROM web_messages WHERE id < ? AND state = '' ORDER BY id DESC LIMIT ?`, id, limit)
	return all, wrap(err, "list web messages")
}

// SaidSince lists what people wrote since a time, the oldest first.
func (tx WebTx) SaidSince(t time.Time) ([]WebMessage, error) {
	all, err := query(tx, scanWeb, `SELECT `+webColumns+` FROM web_messages WHERE dir = 'in' AND at >= ? ORDER BY id`, toMillis(t))
	return all, wrap(err, "list web messages")
}

// LastRev is the newest rev, 0 for none.
func (tx WebTx) LastRev() (rev int64, err error) {
	err = tx.tx.QueryRow(`SELECT coalesce(max(rev), 0) FROM web_messages`).Scan(&rev)
	return rev, wrap(err, "last change of web messages")
}

// WebBrowser is a browser that is signed in.
type WebBrowser struct {
	ID int64
	// Hash is the SHA-256 of its cookie, in hex.
	Hash string
	// Agent is what it calls itself. It is foreign text.
	Agent string
	// Language is the chosen one, "" for that of the bot.
	Language   string
	At, SeenAt time.Time
}

const browserColumns = `id, hash, agent, language, at, seen_at`

func scanBrowser(r row) (b WebBrowser, err error) {
	err = r.Scan(&b.ID, &b.Hash, &b.Agent, &b.Language, millis{&b.At}, millis{&b.SeenAt})
	return b, err
}

// AddBrowser signs a browser in.
func (tx WebTx) AddBrowser(hash, agent string) error {
	_, err := tx.exec(`INSERT INTO web_browsers (hash, agent, language, at, seen_at) VALUES (?, ?, '', ?, ?)`,
		exact(hash), agent, toMillis(tx.now), toMillis(tx.now))
	return wrap(err, "add browser")
}

// Browser returns the browser with a cookie, or ErrNotFound.
func (tx WebTx) Browser(hash string) (WebBrowser, error) {
	b, err := scanBrowser(tx.tx.QueryRow(`SELECT `+browserColumns+` FROM web_browsers WHERE hash = ?`, hash))
	return b, wrap(err, "browser")
}

// Browsers lists those that are signed in, the one that was seen last first.
func (tx WebTx) Browsers() ([]WebBrowser, error) {
	all, err := query(tx, scanBrowser, `SELECT `+browserColumns+` FROM web_browsers ORDER BY seen_at DESC, id DESC`)
	return all, wrap(err, "list browsers")
}

// SetBrowser stores the language of a browser, and that it was seen now.
func (tx WebTx) SetBrowser(id int64, language string) error {
	err := tx.change(`UPDATE web_browsers SET language = ?, seen_at = ? WHERE id = ?`, language, toMillis(tx.now), id)
	return wrap(err, "browser %d", id)
}

// EndBrowser signs a browser out, all of them for 0.
func (tx WebTx) EndBrowser(id int64) error {
	_, err := tx.exec(`DELETE FROM web_browsers WHERE id = ?1 OR ?1 = 0`, id)
	return wrap(err, "browser %d", id)
}
