package health

import (
	"context"
	"errors"
	"fmt"

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
func serverFindings(ctx context.Context, c toolset.Config) []Finding {
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
