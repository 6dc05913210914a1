package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/internal/clip"
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
	e.tellOwners(ctx, "mcp/"+server+"/"+fingerprint(now), e.say(locale.MCPChanged, server, strings.Join(names, ", "), server))
}

// maxShownTool is how many characters of a description /mcp shows.
const maxShownTool = 300

// serversText is the answer to /mcp: all servers, one with its tools, or
// accepting what was shown of one.
func (e *Engine) serversText(ctx context.Context, it item) (string, error) {
	words := strings.Fields(it.msg.Args)
	all := e.servers.Statuses()
	switch {
	case len(all) == 0:
		return e.say(locale.MCPNone), nil
	case len(words) == 0:
		return e.serverList(all), nil
	}
	if words[0] == "signin" && len(words) == 2 {
		return e.signInText(it, words[1]), nil
	}
	approve := words[0] == "approve"
	if approve || words[0] == "status" {
		words = words[1:]
	}
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && !approve {
		return e.say(locale.MCPUsage), nil
	}
	i := slices.IndexFunc(all, func(s mcp.Status) bool { return s.Name == words[0] })
	switch {
	case i < 0:
		return e.say(locale.MCPUnknown, words[0]), nil
	case len(words) == 2:
		return e.acceptShown(ctx, it, words[0], words[1])
	}
	return e.serverText(all[i]), nil
}

func (e *Engine) serverList(all []mcp.Status) string {
	lines := make([]string, len(all))
	for i, s := range all {
		lines[i] = e.serverLine(s)
	}
	return locale.CodeBlock(e.redact.Text(strings.Join(lines, "\n"))) + "\n" + e.say(locale.MCPUsage)
}

// serverLine says in a line how a server does.
func (e *Engine) serverLine(s mcp.Status) string {
	state := e.say(map[mcp.State]locale.Phrase{mcp.Ready: locale.MCPReady, mcp.Starting: locale.MCPStarting, mcp.Down: locale.MCPDown}[s.State])
	line := e.say(locale.MCPServer, s.Name, state, s.Count(mcp.Usable), s.Count(mcp.Unaccepted), s.Count(mcp.Changed))
	if s.Error != "" {
		line += ": " + s.Error
	}
	return line
}

// serverText shows a server and its tools, and how to accept them.
func (e *Engine) serverText(s mcp.Status) string {
	lines := []string{e.serverLine(s), s.Where}
	if s.Stderr != "" {
		lines = append(lines, "stderr: "+s.Stderr)
	}
	for _, t := range s.Tools {
		lines = append(lines, fmt.Sprintf("\n[%s] %s: %s", t.Standing, t.Tool, clip.Runes(t.Description, maxShownTool)))
	}
	text := locale.CodeBlock(e.redact.Text(strings.Join(lines, "\n")))
	if len(s.Waiting) > 0 {
		text += "\n" + e.say(locale.MCPAccept, s.Name, fingerprint(s.Waiting))
	}
	return text
}

// fingerprint identifies what is shown for acceptance, so that nothing else is
// accepted. It has 64 bits: a server that wants other tools to have the same one
// finds 32 within minutes.
func fingerprint(shown []mcp.Definition) string {
	h := sha256.New()
	for _, d := range shown {
		fmt.Fprintln(h, d.Hash())
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// acceptShown accepts the tools of a server that were shown under a fingerprint.
func (e *Engine) acceptShown(ctx context.Context, it item, server, shown string) (string, error) {
	waiting := e.servers.Waiting(server)
	switch {
	case len(waiting) == 0:
		return e.say(locale.MCPNothing), nil
	case fingerprint(waiting) != shown:
		return e.say(locale.MCPOther, server), nil
	}
	accepted, err := e.servers.Accept(ctx, server, waiting, it.msg.Sender.ID)
	names := make([]string, len(accepted))
	for i, a := range accepted {
		names[i] = a.Name
	}
	return e.say(locale.MCPAccepted, len(names), strings.Join(names, ", ")), err
}
