package engine

import (
	"context"
	"strings"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/tools/mcp"
)

// MCP is the host of the MCP servers. It connects to one when it is asked to.
func (d *Data) MCP() *mcp.Host { return d.servers }

// Found makes the database of a bot that has never run, when there is none.
func (d *Data) Found(ctx context.Context) error {
	if d.store != nil {
		return nil
	}
	var err error
	if d.store, _, err = archive.Open(ctx, d.config, false); err == nil {
		d.missing = nil
	}
	return err
}

// toolsChanged tells the owners that a server does not keep to what they have
// accepted, once for each time it does not.
func (e *Engine) toolsChanged(ctx context.Context, server string, now []mcp.Definition) {
	names := make([]string, len(now))
	for i, d := range now {
		names[i] = d.Tool
	}
	e.tellOwners(ctx, "mcp/"+server+"/"+command.Fingerprint(now), e.say(locale.MCPChanged, server, strings.Join(names, ", "), server))
}
