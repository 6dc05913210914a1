package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"klawbot/engine/internal/locale"
	"klawbot/internal/clip"
	"klawbot/tools/mcp"
)

// maxShownTool is how many characters of a description /mcp shows.
const maxShownTool = 300

// servers answers /mcp: all servers, one with its tools, or the approval of the tools
// that were shown.
func (c *Commands) servers(ctx context.Context, m Message) (string, error) {
	words := strings.Fields(m.Args)
	all := c.Servers.Statuses()
	switch {
	case len(all) == 0:
		return c.say(locale.MCPNone), nil
	case len(words) == 0:
		return c.serverList(all), nil
	}
	if words[0] == "signin" && len(words) == 2 {
		return c.signIn(m, words[1]), nil
	}
	approve := words[0] == "approve"
	if approve || words[0] == "status" {
		words = words[1:]
	}
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && !approve {
		return c.say(locale.MCPUsage), nil
	}
	i := slices.IndexFunc(all, func(s mcp.Status) bool { return s.Name == words[0] })
	switch {
	case i < 0:
		return c.say(locale.MCPUnknown, words[0]), nil
	case len(words) == 2:
		return c.acceptShown(ctx, m, words[0], words[1])
	}
	return c.serverText(all[i]), nil
}

func (c *Commands) serverList(all []mcp.Status) string {
	lines := make([]string, len(all))
	for i, s := range all {
		lines[i] = c.serverLine(s)
	}
	return locale.CodeBlock(c.Redact.Text(strings.Join(lines, "\n"))) + "\n" + c.say(locale.MCPUsage)
}

// serverLine is the status of a server in one line.
func (c *Commands) serverLine(s mcp.Status) string {
	state := c.say(map[mcp.State]locale.Phrase{mcp.Ready: locale.MCPReady, mcp.Starting: locale.MCPStarting, mcp.Down: locale.MCPDown}[s.State])
	line := c.say(locale.MCPServer, s.Name, state, s.Count(mcp.Usable), s.Count(mcp.Unaccepted), s.Count(mcp.Changed))
	if s.Error != "" {
		line += ": " + s.Error
	}
	return line
}

// serverText shows a server, its tools, and how to approve them.
func (c *Commands) serverText(s mcp.Status) string {
	lines := []string{c.serverLine(s), s.Where}
	if s.Stderr != "" {
		lines = append(lines, "stderr: "+s.Stderr)
	}
	for _, t := range s.Tools {
		lines = append(lines, fmt.Sprintf("\n[%s] %s: %s", t.Standing, t.Tool, clip.Runes(t.Description, maxShownTool)))
	}
	text := locale.CodeBlock(c.Redact.Text(strings.Join(lines, "\n")))
	if len(s.Waiting) > 0 {
		text += "\n" + c.say(locale.MCPAccept, s.Name, Fingerprint(s.Waiting))
	}
	return text
}

// Fingerprint identifies the tools that are shown, so that no others are approved. It has
// 64 bits: a malicious server finds a collision of 32 bits within minutes.
func Fingerprint(shown []mcp.Definition) string {
	h := sha256.New()
	for _, d := range shown {
		fmt.Fprintln(h, d.Hash())
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// acceptShown approves the tools that were shown under a fingerprint.
func (c *Commands) acceptShown(ctx context.Context, m Message, server, shown string) (string, error) {
	waiting := c.Servers.Waiting(server)
	switch {
	case len(waiting) == 0:
		return c.say(locale.MCPNothing), nil
	case Fingerprint(waiting) != shown:
		return c.say(locale.MCPOther, server), nil
	}
	accepted, err := c.Servers.Accept(ctx, server, waiting, m.Sender.ID)
	names := make([]string, len(accepted))
	for i, a := range accepted {
		names[i] = a.Name
	}
	return c.say(locale.MCPAccepted, len(names), strings.Join(names, ", ")), err
}

// signIn starts the sign-in of an owner at an MCP server.
func (c *Commands) signIn(m Message, server string) string {
	s, ok := c.Settings().MCP[server]
	switch {
	case !ok:
		return c.say(locale.MCPUnknown, server)
	case !s.SignsIn():
		return c.say(locale.MCPNoSignIn, server)
	}
	c.SignIn(m, server)
	return c.say(locale.MCPSigningIn, server)
}
