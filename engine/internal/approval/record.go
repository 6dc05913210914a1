package approval

import (
	"context"
	"errors"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// Record is who was asked what and who allowed it, for commands.
type Record struct {
	// Store is nil as long as there is no database.
	Store *store.Store
}

// read reads from the store; where there is none there is nothing.
func (r Record) read(ctx context.Context, fn func(*store.Tx) error) error {
	if r.Store == nil {
		return nil
	}
	return r.Store.Read(ctx, fn)
}

// Grant is an exact call that a person allowed for a while. Its JSON form is
// stable.
type Grant struct {
	ID   int64  `json:"id"`
	Chat string `json:"chat"`
	// User is who may make the call, AddedBy says that a person allowed it, and
	// AddedByUser who.
	User        int64  `json:"user"`
	Tool        string `json:"tool"`
	Arguments   string `json:"arguments"`
	AddedBy     string `json:"added_by"`
	AddedByUser int64  `json:"added_by_user"`
	// AddedAt, ExpiresAt and LastUsed are in UTC; LastUsed is zero for never.
	AddedAt   time.Time `json:"added_at"`
	ExpiresAt time.Time `json:"expires_at"`
	LastUsed  time.Time `json:"last_used,omitzero"`
}

// Grants lists the grants that are not over, the oldest first.
func (r Record) Grants(ctx context.Context) ([]Grant, error) {
	var rows []store.Grant
	err := r.read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Approvals().Grants()
		return err
	})
	all := make([]Grant, len(rows))
	for i, g := range rows {
		all[i] = Grant{
			ID: int64(g.ID), Chat: gateway.ChatID{Channel: g.Channel, ID: g.Chat}.String(), User: g.Sender, Tool: g.Tool,
			Arguments: g.Shown, AddedBy: "user", AddedByUser: g.AddedBy,
			AddedAt: g.AddedAt, ExpiresAt: g.ExpiresAt, LastUsed: g.LastUsed,
		}
	}
	return all, err
}

// ErrNoGrant: there is no grant with the id.
var ErrNoGrant = errors.New("no such approval; klawbot policy approvals list shows them")

// RemoveGrant takes a grant back, or returns ErrNoGrant.
func (r Record) RemoveGrant(ctx context.Context, id int64) error {
	if r.Store == nil {
		return ErrNoGrant
	}
	err := r.Store.Write(ctx, func(tx *store.Tx) error { return tx.Approvals().RemoveGrant(store.GrantID(id)) })
	if errors.Is(err, store.ErrNotFound) {
		return ErrNoGrant
	}
	return err
}

// Asked is one call that needed an approval, or that a grant allowed. Its JSON
// form is stable.
type Asked struct {
	ID        int64  `json:"id"`
	Chat      string `json:"chat"`
	User      int64  `json:"user"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	// Outcome is pending, once, hour, granted, denied, expired or stopped, and of
	// a question that a program asked, answered or cancelled. unreached is a request
	// that did not reach the owner it was for.
	Outcome    string    `json:"outcome"`
	AnsweredBy int64     `json:"answered_by,omitempty"`
	AskedAt    time.Time `json:"asked_at"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

// Asked lists what was asked, the newest first.
func (r Record) Asked(ctx context.Context, limit int) ([]Asked, error) {
	var rows []store.Approval
	err := r.read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Approvals().Approvals(limit)
		return err
	})
	all := make([]Asked, len(rows))
	for i, a := range rows {
		all[i] = Asked{
			ID: int64(a.ID), Chat: a.Home.String(), User: a.Sender, Tool: a.Tool, Arguments: a.Shown,
			Outcome: string(a.State), AnsweredBy: a.AnsweredBy, AskedAt: a.AskedAt, AnsweredAt: a.AnsweredAt,
		}
	}
	return all, err
}
