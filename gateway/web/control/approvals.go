package control

import (
	"context"
	"time"

	"klawbot/gateway/web/html"
)

// Approvals are the calls that need a person.
type Approvals struct {
	Waiting []Asked
	Given   []Grant
	Log     []Asked
}

// You is the User or By of an approval that was asked for or given on this machine.
const You = -1

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
	pattern: "/approvals", name: "approvals",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		a, err := q.Desk.ListApprovals(q.HTTP.Context())
		waiting := q.list(len(a.Waiting), "approvals.nowaiting", html.Each(a.Waiting, q.asked))
		if len(a.Waiting) > 0 {
			waiting = html.F(`<p class="meta">%s</p>`, q.t("approvals.where")) + waiting
		}
		return q.card("approvals.waiting", waiting) +
			q.card("approvals.given", q.list(len(a.Given), "approvals.nogiven", html.Each(a.Given, q.grant))) +
			q.card("approvals.log", q.list(len(a.Log), "approvals.nolog", html.Each(a.Log, q.asked))), err
	},
	acts: []act{{"/approvals/{id}/remove", func(q *Request) (string, error) {
		id, err := numbered(q.HTTP, "id")
		if err != nil {
			return "", err
		}
		return done("/approvals", "remove"), q.Desk.RemoveGrant(q.HTTP.Context(), id)
	}}},
}

func (q *Request) asked(a Asked) html.HTML {
	outcome := a.Outcome
	if known("outcome." + outcome) {
		outcome = q.t("outcome." + outcome)
	}
	return html.F(`<li><p class="head"><code>%s</code> <span class="tag %s">%s</span> %s</p>`, a.Tool, a.Outcome, outcome, q.time(a.At)) +
		html.If(a.Arguments != "", `<p class="pre args">%s</p>`, a.Arguments) +
		html.F(`<p class="meta">%s · %s%s</p></li>`, a.Chat, userText(q, "approvals.user", a.User), html.If(a.By != 0, " · %s", userText(q, "approvals.by", a.By)))
}

func (q *Request) grant(g Grant) html.HTML {
	used := q.t("approvals.unused")
	if !g.LastUsed.IsZero() {
		used = q.t("approvals.used", q.when(g.LastUsed))
	}
	return html.F(`<li><div class="line"><p class="head"><code>%s</code> %s</p>
<form method="post" action="/approvals/%s/remove"><button class="danger">%s</button></form></div>
<p class="pre args">%s</p><p class="meta">%s · %s · %s</p></li>`,
		g.Tool, q.t("approvals.until", q.when(g.Until)), g.ID, q.t("approvals.remove"), g.Arguments, g.Chat, userText(q, "approvals.user", g.User), used)
}

// userText names who asked, or who decided.
func userText(q *Request, key string, id int64) string {
	if id == You {
		return q.t(key + "you")
	}
	return q.t(key, id)
}
