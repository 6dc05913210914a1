package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"klawbot/tools/mcp/signin"
)

// Approvals keep what the owner has accepted. They are safe for several goroutines.
type Approvals interface {
	// Accepted lists what was accepted, in any order.
	Accepted(ctx context.Context) ([]Accepted, error)
	// Accept stores accepted tools of a server, each in place of what was
	// accepted of the same tool before.
	Accept(ctx context.Context, server string, accepted []Accepted) error
	// Forget takes back all that was accepted of a server, and its token.
	Forget(ctx context.Context, server string) error
	signin.Tokens
}

// Accepted is a tool that the owner has accepted, as it was then.
type Accepted struct {
	Server string
	Definition
	// Name is what models know the tool by, as long as it is accepted.
	Name string
	// Hash is of the definition.
	Hash string
	// By is who accepted it, 0 for the owner at the command line.
	By int64
	At time.Time
}

// Definition is what a server says of one tool.
type Definition struct {
	// Tool is the server's name for it.
	Tool        string
	Description string
	// Schema is of the arguments, as the server sent it.
	Schema json.RawMessage
}

// Hash is of the name, the description and the schema.
func (d Definition) Hash() string {
	schema := d.Schema
	var plain bytes.Buffer
	if json.Compact(&plain, schema) == nil {
		schema = plain.Bytes()
	}
	h := sha256.New()
	for _, part := range []string{d.Tool, d.Description, string(schema)} {
		fmt.Fprintf(h, "%d:%s,", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Accept accepts tools of a server as described here, which is what the owner has seen.
func (h *Host) Accept(ctx context.Context, server string, seen []Definition, by int64) ([]Accepted, error) {
	known, err := h.reload(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, a := range known {
		names[a.Name] = true
	}
	seen = slices.Clone(seen)
	slices.SortFunc(seen, func(a, b Definition) int { return strings.Compare(a.Tool, b.Tool) })
	var all []Accepted
	for _, d := range seen {
		a := Accepted{Server: server, Definition: d, Hash: d.Hash(), By: by, At: time.Now()}
		if i := slices.IndexFunc(known, func(k Accepted) bool { return k.Server == server && k.Tool == d.Tool }); i >= 0 {
			a.Name = known[i].Name
		} else {
			a.Name = nameFor(server, d.Tool, func(name string) bool { return names[name] })
		}
		names[a.Name] = true
		all = append(all, a)
	}
	if err := h.config.Approvals.Accept(ctx, server, all); err != nil {
		return nil, err
	}
	_, err = h.reload(ctx)
	return all, err
}

// Forget takes back what was accepted of a server.
func (h *Host) Forget(ctx context.Context, server string) error {
	if err := h.config.Approvals.Forget(ctx, server); err != nil {
		return err
	}
	_, err := h.reload(ctx)
	return err
}

// Reload reads again what is accepted: another process may have changed it.
func (h *Host) Reload(ctx context.Context) error {
	_, err := h.reload(ctx)
	return err
}

func (h *Host) reload(ctx context.Context) ([]Accepted, error) {
	all, err := h.config.Approvals.Accepted(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was accepted of MCP servers: %w", err)
	}
	slices.SortFunc(all, func(a, b Accepted) int { return strings.Compare(a.Name, b.Name) })
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.loaded || !reflect.DeepEqual(all, h.accepted) {
		h.accepted, h.loaded = all, true
		h.version.Add(1)
	}
	return all, nil
}

func (h *Host) known() []Accepted {
	h.mu.Lock()
	all, loaded := h.accepted, h.loaded
	h.mu.Unlock()
	if loaded {
		return all
	}
	all, err := h.reload(h.living)
	if err != nil {
		h.log.Error("tools of MCP servers left out", "err", err)
	}
	return all
}

// Waiting are the tools that a server has and that are not accepted as they
// are, by name. It waits for nothing.
func (h *Host) Waiting(server string) []Definition {
	return h.status(server, Server{}).Waiting
}
