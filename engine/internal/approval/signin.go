package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/mcp"
)

// signInTime is how long somebody may take to sign in at a server.
const signInTime = 10 * time.Minute

// errNobodySignedIn: the person did not want to, or took too long.
var errNobodySignedIn = errors.New("nobody has signed in")

// SignIn shows an owner the page of an MCP server, takes back the address that it led
// to, and says how it went.
func (q *Questions) SignIn(ctx context.Context, servers *mcp.Host, at gateway.Address, owner int64, server string) {
	visit := func(ctx context.Context, server, page string) (string, error) {
		r, err := q.askForm(ctx, store.Approval{
			Call: "signin/" + rand.Text(), Address: at, Sender: owner, Tool: server, ExpiresAt: time.Now().Add(signInTime),
		}, tools.Inquiry{From: server, Page: page, Typed: true, Begins: mcp.Redirect + "?", Usual: -1})
		if err == nil && r.Outcome != tools.Answered {
			err = errNobodySignedIn
		}
		return strings.TrimSpace(r.Text), err
	}
	err := servers.SignIn(ctx, server, mcp.SignIn{Redirect: mcp.Redirect, Visit: visit})
	text := q.say(locale.MCPSignedIn, server)
	if err != nil {
		q.log.Warn("not signed in at an MCP server", "server", server, "err", err)
		text = q.say(locale.MCPNotSignedIn, server, locale.Ticks(q.redact.Text(err.Error())))
	}
	q.outbox.Post(context.WithoutCancel(ctx), at, "signin/"+rand.Text(), text)
}
