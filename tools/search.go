package tools

import (
	"context"
	"embed"
	"fmt"
	"strings"
)

// SearchName is the name of the tool that finds others.
const SearchName = "tool_search"

//go:embed tool_search.en.md tool_search.ru.md
var searchTexts embed.FS

type searchArgs struct {
	Query string `json:"query"`
	TopK  int    `json:"topK,omitempty" default:"5" min:"1" max:"20"`
}

// NewSearch returns the tool that finds tools which a model was not shown: offered are
// all that a call may reach. Data of its results is a list of their names.
func NewSearch(offered func(Call) []Tool, language func() string) Tool {
	spec := Spec{Name: SearchName, Group: GroupSystem}
	return New(spec, searchTexts, func(_ context.Context, c Call, a searchArgs) Result {
		words := keywords(a.Query)
		var hits []Tool
		for _, t := range offered(c) {
			if s := t.Spec(); s.Name != SearchName && relevance(s, words) > 0 {
				hits = append(hits, t)
			}
		}
		if len(hits) == 0 {
			return OK("No tool matches; say it in other words.")
		}
		return found(ForSubtask(hits, a.Query, a.TopK), language())
	})
}

// found describes tools that were found.
func found(hits []Tool, language string) Result {
	var b strings.Builder
	names := make([]string, len(hits))
	for i, t := range hits {
		s := t.Spec()
		text := s.Text(language)
		names[i] = s.Name
		fmt.Fprintf(&b, "## %s\n%s\nParameters: %s\n\n", s.Name, text.Description, text.Parameters)
	}
	return OK(strings.TrimSpace(b.String())).With(names)
}
