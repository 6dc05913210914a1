// Package find says which tools a model is shown: those for every day, those that a
// message asks for, and those that tool_search finds. It calls none of them.
package find

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"klawbot/tools"
)

// SearchName is the name of the tool that finds others.
const SearchName = "tool_search"

//go:embed tool_search.en.md tool_search.ru.md
var searchTexts embed.FS

type searchArgs struct {
	Query string `json:"query"`
	TopK  int    `json:"topK,omitempty" default:"5" min:"1" max:"20"`
}

// NewSearch returns the tool that finds tools which a model is not shown: offered are
// all that a call may reach. Data of its results is a list of their names.
func NewSearch(offered func(tools.Call) []tools.Tool, near Nearness, language func() string) tools.Tool {
	spec := tools.Spec{Name: SearchName, Group: tools.GroupSystem}
	return tools.New(spec, searchTexts, func(ctx context.Context, c tools.Call, a searchArgs) tools.Result {
		hidden := slices.DeleteFunc(slices.Clone(offered(c)), func(t tools.Tool) bool {
			return t.Spec().Name == SearchName || slices.Contains(c.Shown, t.Spec().Name)
		})
		hits := Tools(ctx, hidden, a.Query, a.TopK, near)
		if len(hits) == 0 {
			return tools.OK("No tool matches; say it in other words.")
		}
		return found(hits, language())
	})
}

// found describes tools that were found.
func found(hits []tools.Tool, language string) tools.Result {
	var b strings.Builder
	names := make([]string, len(hits))
	for i, t := range hits {
		names[i] = t.Spec().Name
		b.WriteString(Manual(t, language) + "\n\n")
	}
	return tools.OK(strings.TrimSpace(b.String())).With(names)
}

// Manual is the full text of a tool, with all its parameters.
func Manual(t tools.Tool, language string) string {
	text := t.Spec().Text(language)
	return fmt.Sprintf("## %s\n%s\nParameters: %s", t.Spec().Name, text.Description, text.Parameters)
}

// maxServers is how many servers the list of hidden tools names.
const maxServers = 12

// unlisted are the tools for files that people send. No list names them, so that requests
// without files stay short: the words or the files of a message show them, and
// tool_search finds them.
var unlisted = []string{"document_read", "image_look"}

// Listed is what tool_search tells a model: its short form, and which tools it finds.
// Ours are named by group; of a server only the owner's name for it and how many there
// are, because a server's own texts are foreign.
func Listed(search tools.Tool, hidden []tools.Tool, language string) tools.Text {
	t := Brief(search.Spec(), language)
	var groups []tools.Group
	names, servers := map[tools.Group][]string{}, map[string]int{}
	for _, h := range hidden {
		s := h.Spec()
		if slices.Contains(unlisted, s.Name) {
			continue
		}
		if s.Server.Name != "" || foreign(h) > 0 {
			servers[s.Server.Name]++
			continue
		}
		if names[s.Group] == nil {
			groups = append(groups, s.Group)
		}
		names[s.Group] = append(names[s.Group], s.Name)
	}
	slices.Sort(groups)
	for _, g := range groups {
		t.Description += fmt.Sprintf("\n%s: %s", g, strings.Join(names[g], " "))
	}
	t.Description += listServers(servers)
	return t
}

// listServers says how many tools the servers have, those of plugins under "".
func listServers(servers map[string]int) string {
	var lines []string
	total := 0
	for name, n := range servers {
		total += n
		if name == "" {
			name = "plugins"
		}
		lines = append(lines, fmt.Sprintf("%s %d", name, n))
	}
	if len(lines) == 0 {
		return ""
	}
	if len(lines) > maxServers {
		return fmt.Sprintf("\nmcp: %d servers, %d tools", len(lines), total)
	}
	slices.Sort(lines)
	return "\nmcp: " + strings.Join(lines, ", ")
}
