package store

import (
	"fmt"
	"slices"
	"time"
)

// GrantID is the id of a Grant.
type GrantID int64

// Grant allows one exact call of one person in one chat for a while.
type Grant struct {
	ID      GrantID
	Channel string
	Chat    int64
	Sender  int64
	Tool    string
	// Hash and Shown are as in Approval.
	Hash, Shown string
	// AddedBy is who allowed it.
	AddedBy            int64
	AddedAt, ExpiresAt time.Time
	// LastUsed is when it allowed a call without a question, zero for never.
	LastUsed time.Time
}

const grantColumns = `id, channel, chat, sender, tool, hash, shown, added_by, added_at, expires_at, last_used`

const (
	grantSQL = `SELECT ` + grantColumns + ` FROM grants
		WHERE hash = ? AND channel = ? AND chat = ? AND sender = ? AND tool = ? AND expires_at > ?
		ORDER BY expires_at DESC LIMIT 1`
	grantsSQL = `SELECT ` + grantColumns + ` FROM grants WHERE expires_at > ? ORDER BY id`
)

func scanGrant(r row) (g Grant, err error) {
	err = r.Scan(&g.ID, &g.Channel, &g.Chat, &g.Sender, &g.Tool, &g.Hash, &g.Shown, &g.AddedBy,
		millis{&g.AddedAt}, millis{&g.ExpiresAt}, millis{&g.LastUsed})
	return g, err
}

// AddGrant stores a grant that begins now and forgets those that are over.
func (tx ApprovalsTx) AddGrant(g Grant) (GrantID, error) {
	_, err := tx.exec(`DELETE FROM grants WHERE expires_at <= ?`, toMillis(tx.now))
	if err != nil {
		return 0, fmt.Errorf("forget old grants: %w", err)
	}
	id, err := tx.insert(`INSERT INTO grants (channel, chat, sender, tool, hash, shown, added_by, added_at, expires_at, last_used)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`, g.Channel, g.Chat, g.Sender, g.Tool, g.Hash, g.Shown, g.AddedBy,
		toMillis(tx.now), toMillis(g.ExpiresAt))
	return GrantID(id), wrap(err, "add grant of %s", g.Tool)
}

// UseGrant finds the grant that allows the call of an approval and notes its
// use. What only owners may decide takes a grant by one of the owners. Without a
// grant the error is ErrNotFound.
func (tx ApprovalsTx) UseGrant(a Approval, owners []int64) (Grant, error) {
	g, err := scanGrant(tx.tx.QueryRow(grantSQL, a.Hash, a.home().Chat.Channel, a.home().Chat.ID, a.Sender, a.Tool, toMillis(tx.now)))
	if err == nil && a.Owners && !slices.Contains(owners, g.AddedBy) {
		err = ErrNotFound
	}
	if err == nil {
		err = tx.change(`UPDATE grants SET last_used = ? WHERE id = ?`, toMillis(tx.now), g.ID)
	}
	return g, wrap(err, "grant of %s", a.Tool)
}

// Grants lists the grants that are not over, the oldest first.
func (tx ApprovalsTx) Grants() ([]Grant, error) {
	all, err := query(tx, scanGrant, grantsSQL, toMillis(tx.now))
	return all, wrap(err, "list grants")
}

// RemoveGrant takes a grant back. One that is not there is ErrNotFound.
func (tx ApprovalsTx) RemoveGrant(id GrantID) error {
	return wrap(tx.change(`DELETE FROM grants WHERE id = ?`, id), "remove grant %d", id)
}
