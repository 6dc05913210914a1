package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"klawbot/engine/internal/store"
	"klawbot/internal/redact"
	"klawbot/tools/mcp"
)

// NewHost is the host of the configured MCP servers for an examination of them.
func NewHost(ctx context.Context, c Config, open func() (*store.Store, error)) *mcp.Host {
	return newHost(ctx, c, Hooks{Open: open})
}

func newHost(ctx context.Context, c Config, h Hooks) *mcp.Host {
	return mcp.New(ctx, mcp.Config{
		Changed: h.ToolsChanged, SignInWanted: h.SignInWanted,
		Servers:   func() map[string]mcp.Server { return c.Settings().MCP },
		Approvals: approvals{h.Open, c.Redact}, Dir: filepath.Join(c.Dir, "mcp"), SignIn: c.SignIn, LookEvery: c.LookEvery, Version: c.Version, Log: c.Log,
	})
}

// approvals keeps in the store what the owner has accepted of MCP servers.
type approvals struct {
	open    func() (*store.Store, error)
	secrets *redact.Set
}

var _ mcp.Approvals = approvals{}

// Accepted lists what was accepted.
func (l approvals) Accepted(ctx context.Context) (all []mcp.Accepted, err error) {
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
func (l approvals) Accept(ctx context.Context, server string, accepted []mcp.Accepted) error {
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
func (l approvals) Forget(ctx context.Context, server string) error {
	return l.write(ctx, func(tx *store.Tx) error { return tx.Servers().ForgetServer(server) })
}

// Token returns the token of a server, nil for none.
func (l approvals) Token(ctx context.Context, server string) (token []byte, err error) {
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
func (l approvals) SetToken(ctx context.Context, server string, token []byte) error {
	learn(l.secrets, token)
	return l.write(ctx, func(tx *store.Tx) error { return tx.Servers().SetServerToken(server, string(token)) })
}

// read reads from the store; where there is none there is nothing.
func (l approvals) read(ctx context.Context, fn func(*store.Tx) error) error {
	if s, err := l.open(); err == nil {
		return s.Read(ctx, fn)
	}
	return nil
}

// errNoDatabase: what must be kept has no place yet.
var errNoDatabase = errors.New("the bot has no database yet")

func (l approvals) write(ctx context.Context, fn func(*store.Tx) error) error {
	if s, err := l.open(); err == nil {
		return s.Write(ctx, fn)
	}
	return errNoDatabase
}

// learn tells the secrets of a sign-in, by the names of its fields.
func learn(secrets *redact.Set, signIn []byte) {
	var read func(name string, v any)
	read = func(name string, v any) {
		switch v := v.(type) {
		case string:
			if name = strings.ToLower(name); strings.HasSuffix(name, "token") || strings.HasSuffix(name, "secret") {
				secrets.Add(v)
			}
		case map[string]any:
			for name, field := range v {
				read(name, field)
			}
		case []any:
			for _, one := range v {
				read(name, one)
			}
		}
	}
	var v any
	if json.Unmarshal(signIn, &v) == nil {
		read("", v)
	}
}
