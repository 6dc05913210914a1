package find_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/find"
)

// described is a tool with a description.
func described(name, description string) tools.Tool {
	return fake{tools.Spec{Name: name, Group: tools.GroupSystem, Texts: map[string]tools.Text{
		"en": {Description: description, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}}}
}

type fake struct{ spec tools.Spec }

func (f fake) Spec() tools.Spec { return f.spec }

func (f fake) Run(context.Context, tools.Call) tools.Result { return tools.OK("") }

func catalogue() []tools.Tool {
	return []tools.Tool{
		described("file_read", "Reads a text file."), described("file_undo", "Takes back changes of files."),
		described("git", "Works with a repository."), described("schedule_add", "Plans a task for later."),
		described("web_search", "Looks something up in the web."),
	}
}

func names(all []tools.Tool) []string {
	found := make([]string, len(all))
	for i, t := range all {
		found[i] = t.Spec().Name
	}
	return found
}

func TestToolsForASubtask(t *testing.T) {
	all := catalogue()
	for task, want := range map[string][]string{
		"undo the changes in my file":        {"file_read", "file_undo"},
		"plan it for tomorrow":               {"file_read", "schedule_add"},
		"look the weather up in the web":     {"file_read", "web_search"},
		"how can you help me":                {"file_read", "file_undo"},
		"commit the repositories with git":   {"file_read", "git"},
		"":                                   {"file_read", "file_undo"},
		"schedule a search of the web later": {"schedule_add", "web_search"},
	} {
		if got := names(find.ForSubtask(all, task, 2)); !slices.Equal(got, want) {
			t.Errorf("%q gets %q, want %q", task, got, want)
		}
	}
	if got := find.ForSubtask(all, "git", 5); len(got) != 5 {
		t.Errorf("%d of 5 tools are shown although all fit", len(got))
	}
}

func TestSearchFindsHiddenTools(t *testing.T) {
	all := catalogue()
	search := find.NewSearch(func(tools.Call) []tools.Tool { return all }, nil, func() string { return "en" })
	registry, err := tools.NewRegistry(append([]tools.Tool{search}, all...)...)
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler)})
	call := func(arguments string) tools.Result {
		t.Helper()
		r, err := e.Execute(t.Context(), tools.Call{Name: "tool_search", Arguments: json.RawMessage(arguments)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := call(`{"query":"take back a change"}`)
	if string(r.Data) != `["file_undo"]` || !strings.Contains(r.Output, "## file_undo\nTakes back changes of files.\nParameters: {") {
		t.Errorf("got %s %q", r.Data, r.Output)
	}
	r = call(`{"query":"a file in the repository, planned, from the web","topK":2}`)
	if n := strings.Count(string(r.Data), ","); n != 1 {
		t.Errorf("topK 2 finds %s", r.Data)
	}
	if r = call(`{"query":"xyzzy"}`); r.Data != nil || !r.Success {
		t.Errorf("got %+v", r)
	}
}

func BenchmarkForSubtask(b *testing.B) {
	var all []tools.Tool
	for i := range 60 {
		all = append(all, described(fmt.Sprintf("tool_%d", i), strings.Repeat("Does something useful with files and the web. ", 10)))
	}
	for b.Loop() {
		find.ForSubtask(all, "please look at my files and tell me what changed since yesterday", 40)
	}
}
