package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/internal/redact"
	"klawbot/tools/mcp"
)

// newHost is the host of the configured MCP servers. Its ledger is in the store
// that open returns, nil when there is none yet.
// changed is told of accepted tools that are off, wanted of servers where somebody
// has to sign in; nil tells nobody.
func newHost(ctx context.Context, c Config, open func() *store.Store, changed func(string, []mcp.Definition), wanted func(string)) *mcp.Host {
	return mcp.New(ctx, mcp.Config{
		Changed: changed, SignInWanted: wanted,
		Servers: func() map[string]mcp.Server { return c.Settings().MCP },
		Ledger:  ledger{open, c.Redact}, Dir: filepath.Join(c.Dir, "mcp"), SignIn: c.SignIn, Version: c.Version, Log: c.Log,
	})
}

// ledger keeps in the store what the owner has accepted of MCP servers.
type ledger struct {
	open    func() *store.Store
	secrets *redact.Set
}

var _ mcp.Ledger = ledger{}

// Accepted lists what was accepted.
func (l ledger) Accepted(ctx context.Context) (all []mcp.Accepted, err error) {
	err = l.read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Servers().AcceptedTools()
		for _, r := range rows {
			all = append(all, mcp.Accepted{
				Server: r.Server, Name: r.Name, Hash: r.Hash, By: r.By, At: r.At,
				Definition: mcp.Definition{Tool: r.Tool, Description: r.Description, Schema: json.RawMessage(r.Schema)},
			})
		}
		return err
	})
	return all, err
}

// Accept stores accepted tools of a server.
func (l ledger) Accept(ctx context.Context, server string, accepted []mcp.Accepted) error {
	return l.write(ctx, func(tx *store.Tx) error {
		for _, a := range accepted {
			if err := tx.Servers().AcceptTool(store.AcceptedTool{
				Server: server, Tool: a.Tool, Name: a.Name, Description: a.Description, Schema: string(a.Schema), Hash: a.Hash, By: a.By, At: a.At,
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget takes back what was accepted of a server, and its token.
func (l ledger) Forget(ctx context.Context, server string) error {
	return l.write(ctx, func(tx *store.Tx) error { return tx.Servers().ForgetServer(server) })
}

// Token returns the token of a server, nil for none.
func (l ledger) Token(ctx context.Context, server string) (token []byte, err error) {
	err = l.read(ctx, func(tx *store.Tx) error {
		text, err := tx.Servers().ServerToken(server)
		if text != "" {
			token = []byte(text)
			learn(l.secrets, token)
		}
		return err
	})
	return token, err
}

// SetToken keeps the token of a server.
func (l ledger) SetToken(ctx context.Context, server string, token []byte) error {
	learn(l.secrets, token)
	return l.write(ctx, func(tx *store.Tx) error { return tx.Servers().SetServerToken(server, string(token)) })
}

// read reads from the store; where there is none there is nothing.
func (l ledger) read(ctx context.Context, fn func(*store.Tx) error) error {
	if s := l.open(); s != nil {
		return s.Read(ctx, fn)
	}
	return nil
}

// errNoDatabase: what must be kept has no place yet.
var errNoDatabase = errors.New("the bot has no database yet")

func (l ledger) write(ctx context.Context, fn func(*store.Tx) error) error {
	if s := l.open(); s != nil {
		return s.Write(ctx, fn)
	}
	return errNoDatabase
}

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
func serverFindings(ctx context.Context, c Config) []Finding {
	if len(c.Settings().MCP) == 0 {
		return nil
	}
	st, err := store.OpenBeside(ctx, c.store())
	switch {
	case err == nil:
		defer func() { _ = st.Close() }() // it was only read
	case !errors.Is(err, store.ErrNotFound):
		return []Finding{Ill("mcp", "klawbot run", err)}
	default:
		st = nil
	}
	h := newHost(ctx, c, func() *store.Store { return st }, nil, nil)
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
