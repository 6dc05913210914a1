package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// prefix begins the names of all tools of MCP servers.
const prefix = "mcp_"

// The bounds of a tool's name, which all model providers take.
const (
	maxName   = 64
	hashStep  = 4 // digits of a hash that tell two names apart
	separator = "_"
)

// nameFor makes the name that models know a tool by: mcp_{server}_{tool}, of a-z, 0-9
// and _, at most 64. A piece of a hash follows where the name is taken or too long.
func nameFor(server, tool string, taken func(string) bool) string {
	name := prefix + legal(server) + separator + legal(tool)
	if len(name) <= maxName && legal(server) != "" && legal(tool) != "" && !taken(name) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	hash := hex.EncodeToString(sum[:])
	for n := hashStep; ; n += hashStep {
		room := min(len(name), maxName-len(separator)-n)
		if longer := strings.TrimRight(name[:room], separator) + separator + hash[:n]; n >= maxName/2 || !taken(longer) {
			return longer
		}
	}
}

// legal is a text in the letters of names. Whatever else there is becomes one _.
func legal(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), separator):
			b.WriteString(separator)
		}
	}
	return strings.TrimRight(b.String(), separator)
}
