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

// signInTime is how long a person may take to sign in at a server.
const signInTime = 10 * time.Minute

// errNotSignedIn: the person did not want to, or took too long.
var errNotSignedIn = errors.New("no one signed in")

// SignIn shows an owner the page of an MCP server, takes back the address that it led
// to, and says how it went.
func (q *Questions) SignIn(ctx context.Context, servers *mcp.Host, at gateway.Address, owner int64, server string) {
	visit := func(ctx context.Context, server, page string) (string, error) {
		r, err := q.askForm(ctx, store.Approval{
			Call: "signin/" + rand.Text(), Address: at, Sender: owner, Tool: server, ExpiresAt: time.Now().Add(signInTime),
		}, tools.Question{From: server, Page: page, Typed: true, Begins: mcp.Redirect + "?", Usual: -1})
		if err == nil && r.Outcome != tools.Answered {
			err = errNotSignedIn
		}
		return strings.TrimSpace(r.Text), err
	}
	err := servers.SignIn(ctx, server, mcp.SignIn{Redirect: mcp.Redirect, Visit: visit})
	text := q.words.Say(locale.MCPSignedIn, server)
	if err != nil {
		q.log.Warn("not signed in at an MCP server", "server", server, "err", err)
		text = q.words.Say(locale.MCPNotSignedIn, server, locale.Ticks(q.words.Redact.Text(err.Error())))
	}
	q.outbox.Post(context.WithoutCancel(ctx), at, "signin/"+rand.Text(), text)
}
