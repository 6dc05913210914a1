package store

import "fmt"

// Indexed returns the state of what was indexed of a place outside the database,
// empty for a place that was not.
func (tx IndexTx) Indexed(kind Kind, source string) (state string, err error) {
	err = tx.tx.QueryRow(`SELECT state FROM indexed WHERE kind = ? AND source = ?`, kind, source).Scan(&state)
	return state, wrap(optional(err), "state of the index of %s", kind)
}

// SetIndexed stores the state of what is indexed; an empty one is none.
func (tx IndexTx) SetIndexed(kind Kind, source, state string) error {
	var err error
	if state == "" {
		_, err = tx.exec(`DELETE FROM indexed WHERE kind = ? AND source = ?`, kind, exact(source))
	} else {
		_, err = tx.exec(`INSERT OR REPLACE INTO indexed (kind, source, state) VALUES (?, ?, ?)`, kind, exact(source), state)
	}
	return wrap(err, "store the state of the index of %s", kind)
}

// IndexedSources lists the places of a kind with their states.
func (tx IndexTx) IndexedSources(kind Kind) (map[string]string, error) {
	all := map[string]string{}
	err := tx.each(`SELECT source, state FROM indexed WHERE kind = ?`, []any{kind}, func(r row) error {
		var source, state string
		err := r.Scan(&source, &state)
		all[source] = state
		return err
	})
	return all, wrap(err, "list what is indexed")
}

// Said is a message with the address of its chat.
type Said struct {
	Message
	Address Address
}

// SaidAfter returns what people and models said after a message, oldest first,
// and left out what has chunks. It looks at limit messages at most; last is the
// one up to which it looked.
func (tx IndexTx) SaidAfter(after MessageID, limit int) (said []Said, last MessageID, err error) {
	type looked struct {
		Said
		known bool
	}
	all, err := query(tx, func(r row) (l looked, err error) {
		err = r.Scan(append(l.fields(), &l.Address.Chat.Channel, &l.Address.Chat.ID, &l.Address.Thread, &l.known)...)
		return l, err
	}, saidAfterSQL, after, limit)
	if err != nil {
		return nil, after, fmt.Errorf("read messages: %w", err)
	}
	last = after
	for _, l := range all {
		last = l.ID
		if !l.known {
			said = append(said, l.Said)
		}
	}
	return said, last, nil
}

// CountMessagesAfter returns how many messages there are after one; it counts no
// further than limit.
func (tx IndexTx) CountMessagesAfter(after MessageID, limit int) (n int, err error) {
	err = tx.tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM messages WHERE id > ? LIMIT ?)`, after, limit).Scan(&n)
	return n, wrap(err, "count messages")
}

const saidAfterSQL = `SELECT ` + messageColumns + `, s.channel, s.chat, s.thread,
	EXISTS (SELECT 1 FROM chunks c WHERE c.kind = 'message' AND c.owner = m.id)
	FROM messages m JOIN sessions s ON s.id = m.session WHERE m.id > ? ORDER BY m.id LIMIT ?`
