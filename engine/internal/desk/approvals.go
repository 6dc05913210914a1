package desk

import (
	"context"
	"errors"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/store"
	"klawbot/gateway/web"
	"klawbot/gateway/web/control"
)

// askedShown is how many requests the log of approvals shows.
const askedShown = 100

// ListApprovals lists what waits for a person, what is allowed for a while, and what was
// asked before.
func (d *Desk) ListApprovals(ctx context.Context) (all control.Approvals, err error) {
	asked, err := d.approvals.Asked(ctx, askedShown)
	if err != nil {
		return all, err
	}
	for _, a := range asked {
		one := control.Asked{
			ID: a.ID, Chat: a.Chat, Tool: a.Tool, Arguments: d.mask(a.Arguments), Outcome: a.Outcome, User: here(a.User), By: here(a.AnsweredBy),
			At: d.in(a.AskedAt), AnsweredAt: d.in(a.AnsweredAt),
		}
		if a.Outcome == string(store.ApprovalPending) {
			all.Waiting = append(all.Waiting, one)
			continue
		}
		all.Log = append(all.Log, one)
	}
	grants, err := d.approvals.Grants(ctx)
	for _, g := range grants {
		all.Given = append(all.Given, control.Grant{
			ID: g.ID, Chat: g.Chat, Tool: g.Tool, Arguments: d.mask(g.Arguments), User: here(g.User), By: here(g.AddedByUser), Until: d.in(g.ExpiresAt), LastUsed: d.in(g.LastUsed),
		})
	}
	return all, err
}

// here returns control.You for the user of this machine, and other users as they are.
func here(id int64) int64 {
	if id == web.User {
		return control.You
	}
	return id
}

// RemoveGrant takes a grant back.
func (d *Desk) RemoveGrant(ctx context.Context, id int64) error {
	err := d.approvals.RemoveGrant(ctx, id)
	if errors.Is(err, approval.ErrNoGrant) {
		err = control.ErrNotFound
	}
	return err
}
