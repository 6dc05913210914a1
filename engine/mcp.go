package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/tools/mcp"
)

// ServerFinding is what an examination says about an MCP server.
func ServerFinding(s mcp.Status) Finding {
	name := "mcp " + s.Name
	if s.State == mcp.Down {
		return Ill(name, "klawbot mcp list", errors.New(s.Error))
	}
	text := fmt.Sprintf("%s, %d tools in use", s.State, s.Count(mcp.Usable))
	if n := s.Count(mcp.Unaccepted) + s.Count(mcp.Changed); n > 0 {
		text += fmt.Sprintf(", %d wait for klawbot mcp approve %s", n, s.Name)
	}
	return Well(name, "%s", text)
}

// serverFindings connects to all MCP servers for a command, beside a running
// bot or without one.
func serverFindings(ctx context.Context, c Base) []Finding {
	if len(c.Settings().MCP) == 0 {
		return nil
	}
	st, err := store.OpenBeside(ctx, c.Store())
	switch {
	case err == nil:
		defer func() { _ = st.Close() }() // it was only read
	case !errors.Is(err, store.ErrNotFound):
		return []Finding{Ill("mcp", "klawbot run", err)}
	}
	h := toolset.NewHost(ctx, c, func() (*store.Store, error) { return st, err })
	defer h.Close()
	var all []Finding
	for _, s := range h.Probe(ctx) {
		all = append(all, ServerFinding(s))
	}
	return all
}

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

// signInWanted tells the owners, once a day, that an MCP server wants somebody to
// sign in.
func (e *Engine) signInWanted(ctx context.Context, server string) {
	day := time.Now().UTC().Format(time.DateOnly)
	e.tellOwners(ctx, "mcp/"+server+"/signin/"+day, e.say(locale.MCPWantsSignIn, server, server))
}
