package guide

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"klawbot/internal/clip"
	"klawbot/tools"
)

type skills struct{ skills Skills }

type noArgs struct{}

func (s skills) list(context.Context, tools.Call, noArgs) tools.Result {
	list, err := s.skills.List()
	switch {
	case err != nil:
		return failed(err)
	case len(list) == 0:
		return tools.OK("No skills available")
	}
	lines := make([]string, len(list))
	for i, k := range list {
		lines[i] = "- " + k.Name + ": " + k.Description
	}
	return tools.OK(strings.Join(lines, "\n"))
}

type loadArgs struct {
	Name string `json:"name"`
}

func (s skills) load(_ context.Context, _ tools.Call, a loadArgs) tools.Result {
	text, found, err := s.skills.Load(strings.TrimSpace(a.Name))
	switch {
	case err != nil:
		return failed(err)
	case !found:
		return tools.Fail(tools.NotFound, fmt.Sprintf("skill '%s' not found%s", short(a.Name), s.others()))
	}
	return tools.OK(text)
}

func failed(err error) tools.Result {
	if errors.Is(err, ErrNoWorkspace) {
		return tools.Fail(tools.NotFound, "No workspace set")
	}
	return tools.Fail(tools.Execution, err.Error())
}

// others is the end of an error that says which skills there are.
func (s skills) others() string {
	list, err := s.skills.List()
	if err != nil || len(list) == 0 {
		return "; there are none"
	}
	names := make([]string, len(list))
	for i, k := range list {
		names[i] = k.Name
	}
	return "; there are " + strings.Join(names, ", ")
}

// short cuts foreign text that is quoted in an error.
func short(text string) string { return clip.Runes(text, 80) }
