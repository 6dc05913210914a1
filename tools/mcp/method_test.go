package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"klawbot/tools"
)

// TestResourcesAndPrompts: what a server has beside tools is reached by tools, which
// are accepted and ask like the others.
func TestResourcesAndPrompts(t *testing.T) {
	h := one(t, "library", "resources/list", "resources/read", "prompts/list")
	h.accept("test")
	for _, name := range []string{"mcp_test_resources_list", "mcp_test_resources_read", "mcp_test_prompts_list", "mcp_test_prompts_get"} {
		if !slices.Contains(h.offered(), name) {
			t.Errorf("%s is not offered: %v", name, h.offered())
		}
	}
	const listed = "- book://1 Moby Dick: a whale\n- book://cover Cover\n- page://{n} A page"
	if r := h.call("mcp_test_resources_list", "{}", nil); r.Output != listed {
		t.Errorf("%+v", r)
	}
	for _, uri := range []string{"book://1", "page://7"} {
		if r := h.call("mcp_test_resources_read", `{"uri":"`+uri+`"}`, nil); r.Output != "[resource "+uri+"]\nCall me Ishmael." {
			t.Errorf("%s: %+v", uri, r)
		}
	}
	if r := h.call("mcp_test_resources_read", `{"uri":"book://cover"}`, nil); len(r.Artifacts) != 1 || h.kept[r.Artifacts[0].Path] != string(pixel) {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_resources_read", `{"uri":"book://2"}`, nil); r.Success || !strings.Contains(r.Error, "MCP server test: ") {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_prompts_list", "{}", nil); r.Output != "- summary(title, length?): Sums up." {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_prompts_get", `{"name":"summary","arguments":{"title":"Emma"}}`, nil); r.ErrorKind != tools.ApprovalDenied {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_prompts_get", `{"name":"summary","arguments":{"title":"Emma"}}`, tools.Always{}); r.Output != "[user]\nSum up Emma." {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_prompts_get", `{"name":"nothing"}`, tools.Always{}); r.Success {
		t.Errorf("%+v", r)
	}
}
