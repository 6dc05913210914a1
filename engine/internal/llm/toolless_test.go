package llm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
)

func TestWithoutToolsTellsCallsInWords(t *testing.T) {
	r := llm.Request{Tools: []llm.Tool{{Name: "list"}}, Messages: []llm.Message{
		llm.Text(llm.RoleUser, "what is there?"),
		{Role: llm.RoleAssistant, Blocks: []llm.Block{{Text: "Looking."}, {Call: &llm.ToolCall{ID: "c", Name: "list"}}}},
		{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "c", Name: "list", Text: "a.txt"}}}},
		{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "d", Name: "list"}}}},
	}}
	want := llm.Request{Messages: []llm.Message{
		llm.Text(llm.RoleUser, "what is there?"),
		llm.Text(llm.RoleAssistant, "Looking."),
		llm.Text(llm.RoleUser, "(result of the tool list: a.txt)"),
	}}
	if diff := cmp.Diff(want, llm.WithoutTools(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(r.Tools) != 1 || len(r.Messages[1].Calls()) != 1 {
		t.Error("the request itself was changed")
	}
}
