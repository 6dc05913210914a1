package control

import (
	"context"
	"time"
)

// Approvals are the calls that need a person.
type Approvals struct {
	Waiting []Asked
	Given   []Grant
	Log     []Asked
}

// Asked is a call that needed an approval.
type Asked struct {
	ID                             int64
	Chat, Tool, Arguments, Outcome string
	User, By                       int64
	At, AnsweredAt                 time.Time
}

// Grant is a call that runs without being asked about.
type Grant struct {
	ID                    int64
	Chat, Tool, Arguments string
	User, By              int64
	Until, LastUsed       time.Time
}

// ApprovalsDesk reads and takes back approvals.
type ApprovalsDesk interface {
	ListApprovals(ctx context.Context) (Approvals, error)
	// RemoveGrant takes a grant back. An unknown one is ErrNotFound.
	RemoveGrant(ctx context.Context, id int64) error
}

var approvalsPage = control{
	pattern: "/approvals", file: "approvals",
	show: func(q *Request) (any, error) { return q.Desk.ListApprovals(q.HTTP.Context()) },
	acts: []act{{"/approvals/{id}/remove", func(q *Request) (string, error) {
		id, err := numbered(q.HTTP, "id")
		if err != nil {
			return "", err
		}
		return done("/approvals", "remove"), q.Desk.RemoveGrant(q.HTTP.Context(), id)
	}}},
}
