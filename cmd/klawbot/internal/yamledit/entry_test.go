package yamledit

import (
	"testing"
)

func TestEntries(t *testing.T) {
	const block = "tools:\n  mcp:\n    # the first\n    a:\n      command: x\n      args:\n        - one\n\n    b: {command: y}\n  maxShown: 3\n"
	server := func(name string) []string { return []string{"tools", "mcp", name} }
	add := func(name string) func([]byte) ([]byte, error) {
		return func(text []byte) ([]byte, error) { return Add(text, server(name), `{"command": "z"}`) }
	}
	remove := func(name string) func([]byte) ([]byte, error) {
		return func(text []byte) ([]byte, error) { return Remove(text, server(name)) }
	}
	for name, c := range map[string]struct {
		text, want string
		edit       func([]byte) ([]byte, error)
	}{
		"into nothing":     {"", "tools:\n  mcp:\n    c: {\"command\": \"z\"}\n", add("c")},
		"into braces":      {"tools: {mcp: {}}\n", "tools: {mcp: {c: {\"command\": \"z\"}}}\n", add("c")},
		"first of a block": {block, "tools:\n  mcp:\n    # the first\n\n    b: {command: y}\n  maxShown: 3\n", remove("a")},
		"last of a block":  {block, "tools:\n  mcp:\n    # the first\n    a:\n      command: x\n      args:\n        - one\n\n  maxShown: 3\n", remove("b")},
		"only one":         {"tools:\n  mcp:\n    a:\n      url: x\n", "tools:\n  mcp:\n", remove("a")},
		"first in braces":  {"tools: {mcp: {a: {url: x}, b: {url: y}}}", "tools: {mcp: {b: {url: y}}}", remove("a")},
		"last in braces":   {"tools: {mcp: {a: {url: x}, b: {url: y}}}", "tools: {mcp: {a: {url: x}}}", remove("b")},
		"only in braces":   {"tools: {mcp: {a: {url: x}}} # end\n", "tools: {mcp: {}} # end\n", remove("a")},
		"lines of Windows": {"tools:\r\n  mcp:\r\n    a: {url: x}\r\n    b: {url: y}\r\n", "tools:\r\n  mcp:\r\n    b: {url: y}\r\n", remove("a")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.edit([]byte(c.text))
			if err != nil || string(got) != c.want {
				t.Errorf("got\n%q, %v, want\n%q", got, err, c.want)
			}
		})
	}
	if _, err := Remove([]byte(block), server("nobody")); err == nil {
		t.Error("a server was removed that is not there")
	}
}
