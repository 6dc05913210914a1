package mcp

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var legalName = regexp.MustCompile(`^mcp_[a-z0-9_]{1,60}$`)

// hashed is the piece of a hash that tells two names apart.
var hashed = regexp.MustCompile(`_[0-9a-f]{4}$`)

func TestNames(t *testing.T) {
	taken := map[string]bool{"mcp_git_push": true}
	for _, c := range []struct{ server, tool, want string }{
		{"github", "create_issue", "mcp_github_create_issue"},
		{"GitHub", "Create-Issue", "mcp_github_create_issue"},
		{"git", "push", "mcp_git_push_#"},
		{"git_push", "", "mcp_git_push_#"},
		{"поиск", "найти", "mcp_#"},
		{"s", strings.Repeat("long", 20), "mcp_s_" + strings.Repeat("long", 13) + "l_#"},
	} {
		got := nameFor(c.server, c.tool, func(name string) bool { return taken[name] })
		if !legalName.MatchString(got) || len(got) > maxName {
			t.Errorf("%s, %s: %q is not legal", c.server, c.tool, got)
		}
		if got = hashed.ReplaceAllString(got, "_#"); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.server, c.tool, got, c.want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("a", "b_c", "a_b", "c")
	f.Add("", "", "x", strings.Repeat("y", 99))
	f.Fuzz(func(t *testing.T, server, tool, server2, tool2 string) {
		one := nameFor(server, tool, func(string) bool { return false })
		two := nameFor(server2, tool2, func(name string) bool { return name == one })
		for _, name := range []string{one, two} {
			if !legalName.MatchString(name) || len(name) > maxName {
				t.Errorf("%q is not legal", name)
			}
		}
		if one == two && fmt.Sprint(server, "\x00", tool) != fmt.Sprint(server2, "\x00", tool2) {
			t.Errorf("%q of %q has the same name as %q of %q: %s", tool, server, tool2, server2, one)
		}
	})
}
