package engine

import (
	"context"
	"strings"
	"time"

	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/tools/mcp"
)

// toolsChanged tells the owners that a server does not keep to what they have
// accepted, once for each time it does not.
func (e *Engine) toolsChanged(ctx context.Context, server string, now []mcp.Definition) {
	names := make([]string, len(now))
	for i, d := range now {
		names[i] = d.Tool
	}
	e.tellOwners(ctx, "mcp/"+server+"/"+command.Fingerprint(now), e.say(locale.MCPChanged, server, strings.Join(names, ", "), server))
}

// signInWanted tells the owners, once a day, that an MCP server wants somebody to
// sign in.
func (e *Engine) signInWanted(ctx context.Context, server string) {
	day := time.Now().UTC().Format(time.DateOnly)
	e.tellOwners(ctx, "mcp/"+server+"/signin/"+day, e.say(locale.MCPWantsSignIn, server, server))
}
