package engine

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

// signInWanted tells the owners, once a day, that an MCP server wants somebody to
// sign in.
func (e *Engine) signInWanted(ctx context.Context, server string) {
	day := time.Now().UTC().Format(time.DateOnly)
	e.tellOwners(ctx, "mcp/"+server+"/signin/"+day, e.say(locale.MCPWantsSignIn, server, server))
}

// errNobodySignedIn: the person did not want to, or took too long.
var errNobodySignedIn = errors.New("nobody has signed in")

// signIn shows the page of an MCP server and takes back the address that it led
// to.
func (e *Engine) signIn(ctx context.Context, at gateway.Address, owner int64, server string) {
	visit := func(ctx context.Context, server, page string) (string, error) {
		r, err := e.questions.Ask(ctx, store.Approval{
			Call: "signin/" + rand.Text(), Address: at, Sender: owner, Tool: server, ExpiresAt: time.Now().Add(signInTime),
		}, tools.Inquiry{From: server, Page: page, Typed: true, Begins: mcp.Redirect + "?", Usual: -1})
		if err == nil && r.Outcome != tools.Answered {
			err = errNobodySignedIn
		}
		return strings.TrimSpace(r.Text), err
	}
	err := e.servers.SignIn(ctx, server, mcp.SignIn{Redirect: mcp.Redirect, Visit: visit})
	text := e.say(locale.MCPSignedIn, server)
	if err != nil {
		e.log.Warn("not signed in at an MCP server", "server", server, "err", err)
		text = e.say(locale.MCPNotSignedIn, server, locale.Ticks(e.redact.Text(err.Error())))
	}
	e.outbox.Post(context.WithoutCancel(ctx), at, "signin/"+rand.Text(), text)
}
