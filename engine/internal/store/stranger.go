package store

import "time"

// Stranger is a chat that wrote and is not allowed.
type Stranger struct {
	Channel string
	ID      int64
	// Name is foreign text, for display only.
	Name    string
	Times   int
	FirstAt time.Time
	LastAt  time.Time
	// AskedAt is when the owners were asked last, zero for never.
	AskedAt time.Time
	State   StrangerState
}

// StrangerState is what the owners decided about a stranger.
type StrangerState string

// The states of strangers.
const (
	StrangerWaits   StrangerState = ""
	StrangerAllowed StrangerState = "allowed"
	StrangerIgnored StrangerState = "ignored"
)

// maxStrangers bounds the rows, so that a flood of them cannot fill the disk.
const maxStrangers = 1000

const (
	strangerSQL = `SELECT channel, chat, name, times, first_at, last_at, asked_at, state FROM strangers`

	countStrangerSQL = `INSERT INTO strangers (channel, chat, name, times, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
		ON CONFLICT (channel, chat) DO UPDATE SET name = coalesce(nullif(excluded.name, ''), name),
			times = times + excluded.times, last_at = excluded.last_at`

	// Whom the owners were asked about counts for the bounds of a day; whom they ignore
	// is not to ask again. The others go first, those who wrote long ago before the rest.
	dropStrangersSQL = `DELETE FROM strangers WHERE (channel, chat) IN (SELECT channel, chat FROM strangers
		WHERE NOT (channel = ?1 AND chat = ?2)
		ORDER BY asked_at >= ?3, state = 'ignored', last_at LIMIT max(0, (SELECT count(*) FROM strangers) - ?4))`
)

func scanStranger(r row) (s Stranger, err error) {
	err = r.Scan(&s.Channel, &s.ID, &s.Name, &s.Times, millis{&s.FirstAt}, millis{&s.LastAt}, millis{&s.AskedAt}, &s.State)
	return s, err
}

// CountStranger adds messages of a chat that is not allowed and returns its row.
func (tx ChatsTx) CountStranger(channel string, id int64, name string, times int) (Stranger, error) {
	_, err := tx.exec(countStrangerSQL, channel, id, name, times, toMillis(tx.now))
	if err == nil {
		_, err = tx.exec(dropStrangersSQL, channel, id, toMillis(tx.now.AddDate(0, 0, -1)), maxStrangers)
	}
	if err != nil {
		return Stranger{}, wrap(err, "count stranger %s %d", channel, id)
	}
	return tx.Stranger(channel, id)
}

// Stranger is the row of a chat, or ErrNotFound.
func (tx ChatsTx) Stranger(channel string, id int64) (Stranger, error) {
	s, err := scanStranger(tx.tx.QueryRow(strangerSQL+` WHERE channel = ? AND chat = ?`, channel, id))
	return s, wrap(err, "stranger %s %d", channel, id)
}

// SetStranger stores when the owners were asked about a stranger, and what they decided.
func (tx ChatsTx) SetStranger(s Stranger) error {
	return wrap(tx.change(`UPDATE strangers SET asked_at = ?, state = ? WHERE channel = ? AND chat = ?`,
		toMillis(s.AskedAt), s.State, s.Channel, s.ID), "stranger %s %d", s.Channel, s.ID)
}

// AskedSince counts the strangers about whom the owners were asked since a time.
func (tx ChatsTx) AskedSince(t time.Time) (n int, err error) {
	err = tx.tx.QueryRow(`SELECT count(*) FROM strangers WHERE asked_at >= ?`, toMillis(t)).Scan(&n)
	return n, wrap(err, "count strangers")
}

// Strangers lists those in a state, the latest first.
func (tx ChatsTx) Strangers(s StrangerState) ([]Stranger, error) {
	all, err := query(tx, scanStranger, strangerSQL+` WHERE state = ? ORDER BY last_at DESC`, s)
	return all, wrap(err, "list strangers")
}
