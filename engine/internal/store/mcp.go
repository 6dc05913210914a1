package store

import (
	"fmt"
	"time"
)

// AcceptedTool is a tool of an MCP server that the owner has accepted, as it
// was then.
type AcceptedTool struct {
	// Server and Tool are what it is called there, Name what models know it by.
	Server, Tool, Name  string
	Description, Schema string
	// Hash is of Tool, Description and Schema.
	Hash string
	// By is who accepted it, 0 for the owner at the command line.
	By int64
	At time.Time
}

const acceptedToolsSQL = `SELECT server, tool, name, description, schema, hash, accepted_by, accepted_at FROM mcp_tools ORDER BY name`

func scanAcceptedTool(r row) (a AcceptedTool, err error) {
	err = r.Scan(&a.Server, &a.Tool, &a.Name, &a.Description, &a.Schema, &a.Hash, &a.By, millis{&a.At})
	return a, err
}

// AcceptedTools lists what was accepted, by name.
func (tx ServersTx) AcceptedTools() ([]AcceptedTool, error) {
	all, err := query(tx, scanAcceptedTool, acceptedToolsSQL)
	return all, wrap(err, "list the accepted tools")
}

// AcceptTool stores an accepted tool, in place of what was accepted of it
// before. It is accepted now unless At says when.
func (tx ServersTx) AcceptTool(a AcceptedTool) error {
	_, err := tx.exec(`INSERT INTO mcp_tools (server, tool, name, description, schema, hash, accepted_by, accepted_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (server, tool) DO UPDATE SET name = excluded.name, description = excluded.description, schema = excluded.schema,
			hash = excluded.hash, accepted_by = excluded.accepted_by, accepted_at = excluded.accepted_at`,
		a.Server, a.Tool, a.Name, a.Description, a.Schema, a.Hash, a.By, tx.orNow(a.At))
	return wrap(err, "accept tool %s", a.Name)
}

// ForgetServer takes back what was accepted of an MCP server, and its token.
func (tx ServersTx) ForgetServer(server string) error {
	for _, statement := range []string{`DELETE FROM mcp_tools WHERE server = ?`, `DELETE FROM mcp_tokens WHERE server = ?`} {
		if _, err := tx.exec(statement, server); err != nil {
			return fmt.Errorf("forget MCP server %s: %w", server, err)
		}
	}
	return nil
}

// ServerToken returns the token of an MCP server, "" when there is none.
func (tx ServersTx) ServerToken(server string) (token string, err error) {
	err = tx.tx.QueryRow(`SELECT token FROM mcp_tokens WHERE server = ?`, server).Scan(&token)
	return token, wrap(optional(err), "token of MCP server %s", server)
}

// SetServerToken keeps the token of an MCP server.
func (tx ServersTx) SetServerToken(server, token string) error {
	_, err := tx.exec(`INSERT INTO mcp_tokens (server, token) VALUES (?, ?) ON CONFLICT (server) DO UPDATE SET token = excluded.token`, server, exact(token))
	return wrap(err, "keep the token of MCP server %s", server)
}
