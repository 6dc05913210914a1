package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// Grant is an exact call that somebody allowed for a while. Its JSON form is
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
func (d *Data) Grants(ctx context.Context) ([]Grant, error) {
	if d.store == nil {
		return []Grant{}, nil
	}
	var rows []store.Grant
	err := d.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Approvals().Grants()
		return err
	})
	all := make([]Grant, len(rows))
	for i, r := range rows {
		all[i] = Grant{
			ID: int64(r.ID), Chat: gateway.ChatID{Channel: r.Channel, ID: r.Chat}.String(), User: r.Sender, Tool: r.Tool,
			Arguments: r.Shown, AddedBy: "user", AddedByUser: r.AddedBy,
			AddedAt: r.AddedAt, ExpiresAt: r.ExpiresAt, LastUsed: r.LastUsed,
		}
	}
	return all, err
}

// ErrNoGrant: there is no grant with the id.
var ErrNoGrant = errors.New("no such approval; klawbot policy approvals list shows them")

// RemoveGrant takes a grant back, or returns ErrNoGrant.
func (d *Data) RemoveGrant(ctx context.Context, id int64) error {
	if d.store == nil {
		return ErrNoGrant
	}
	err := d.store.Write(ctx, func(tx *store.Tx) error { return tx.Approvals().RemoveGrant(store.GrantID(id)) })
	if errors.Is(err, store.ErrNotFound) {
		return ErrNoGrant
	}
	return err
}

// Approval is one call that somebody was asked about, or that a grant allowed.
// Its JSON form is stable.
type Approval struct {
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

// Approvals lists what was asked, the newest first.
func (d *Data) Approvals(ctx context.Context, limit int) ([]Approval, error) {
	if d.store == nil {
		return []Approval{}, nil
	}
	var rows []store.Approval
	err := d.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Approvals().Approvals(limit)
		return err
	})
	all := make([]Approval, len(rows))
	for i, r := range rows {
		all[i] = Approval{
			ID: int64(r.ID), Chat: r.Home.String(), User: r.Sender, Tool: r.Tool, Arguments: r.Shown,
			Outcome: string(r.State), AnsweredBy: r.AnsweredBy, AskedAt: r.AskedAt, AnsweredAt: r.AnsweredAt,
		}
	}
	return all, err
}

// CheckPolicy says what would happen to a call from a chat, in its text form, or
// at the command line. Who speaks in an owner's private chat is an owner; in a
// group it may be anybody. Nothing runs.
func (d *Data) CheckPolicy(tool string, arguments json.RawMessage, chat string) tools.Decision {
	owner := chat == ""
	if id, err := gateway.ParseChatID(chat); err == nil {
		owner = id.ID == 0 || slices.Contains(d.settings().Owners[id.Channel], id.ID)
	}
	return d.executor.Check(tools.Call{Name: tool, Arguments: arguments, Chat: chat, Origin: tools.OriginPerson, Owner: owner})
}

// CallApproved is CallTool by an owner who has agreed beforehand to what would
// be asked.
func (d *Data) CallApproved(ctx context.Context, name string, arguments json.RawMessage) (tools.Result, error) {
	return d.call(ctx, name, arguments, tools.Always{})
}

// call calls a tool as the owner at the command line.
func (d *Data) call(ctx context.Context, name string, arguments json.RawMessage, who tools.Approver) (tools.Result, error) {
	log, err := d.changelog(ctx, name)
	if err != nil {
		return tools.Result{}, fmt.Errorf("open the changelog: %w", err)
	}
	return d.executor.Execute(ctx, tools.Call{
		ID: rand.Text(), Name: name, Arguments: arguments, Origin: tools.OriginPerson, Changelog: log, Approver: who, Owner: true,
	}, posting{d})
}
