package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/anthropic"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

func ask(stream bool) llm.Request {
	return llm.Request{Model: "m", Stream: stream, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
}

func quiet(llm.Event) {}

func kindOf(err error) llm.ErrorKind {
	var e *llm.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Kind
}

// fake returns a client of a strict fake on connections in memory.
func fake(t *testing.T, c llm.Config) (*anthropic.Client, *modeltest.Server) {
	t.Helper()
	s, dial := modeltest.StartPipe(llmtest.Key)
	c.BaseURL, c.HTTP = s.URL, httpclient.New(httpclient.Options{Dial: dial})
	t.Cleanup(func() {
		c.HTTP.CloseIdleConnections()
		s.Close()
	})
	return newClient(t, c), s
}

// request is what the tests look at in a body.
type request struct {
	MaxTokens int `json:"max_tokens"`
	System    []struct {
		Text  string          `json:"text"`
		Cache json.RawMessage `json:"cache_control"`
	} `json:"system"`
	Messages []struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools      []json.RawMessage `json:"tools"`
	ToolChoice json.RawMessage   `json:"tool_choice"`
	Thinking   json.RawMessage   `json:"thinking"`
}

func body(t *testing.T, s *modeltest.Server) request {
	t.Helper()
	all := s.Completions()
	var r request
	if err := json.Unmarshal(all[len(all)-1].Body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func lines(r request) []string {
	var out []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			out = append(out, m.Role+" "+string(b))
		}
	}
	return out
}

const mark = `,"cache_control":{"type":"ephemeral"}}`

func TestAConversationAsAStrictServerTakesIt(t *testing.T) {
	client, s := fake(t, llm.Config{})
	s.Push(modeltest.Reply{Thinking: "hm", Redacted: "b3BhcXVl", Text: "Looking. ", Calls: []modeltest.Call{{ID: "t1", Name: "list", Arguments: `{"a":1}`}, {ID: "t2", Name: "list"}}})
	r := ask(true)
	r.System = "Be brief."
	r.Tools = []llm.Tool{{Name: "list", Description: "lists"}, {Name: "read"}}
	first, err := client.Stream(t.Context(), r, quiet)
	if err != nil || len(first.Message.Calls()) != 2 {
		t.Fatalf("%v %+v", err, first)
	}
	said := first.Message
	for i := range said.Blocks {
		if c := said.Blocks[i].Call; c != nil {
			c.ID = "our" + c.WireID
		}
	}
	r.Messages = append(r.Messages, llm.Text(llm.RoleUser, "\n"), said,
		llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{
			{Result: &llm.ToolResult{CallID: "ourt2", Text: "failed", Failed: true}}, {Result: &llm.ToolResult{CallID: "ourt1"}},
		}},
		llm.Text(llm.RoleUser, "and now?"))
	r.NoTools = true
	if _, err := client.Stream(t.Context(), r, quiet); err != nil {
		t.Fatal(err)
	}
	got := body(t, s)
	want := []string{
		`user {"type":"text","text":"hi"` + mark,
		`assistant {"type":"thinking","thinking":"hm","signature":"` + said.Blocks[0].Thinking.Signature + `"}`,
		`assistant {"type":"redacted_thinking","data":"b3BhcXVl"}`,
		`assistant {"type":"text","text":"Looking. "}`,
		`assistant {"type":"tool_use","id":"t1","name":"list","input":{"a":1}}`,
		`assistant {"type":"tool_use","id":"t2","name":"list","input":{}}`,
		`user {"type":"tool_result","tool_use_id":"t1","content":"(no output)"}`,
		`user {"type":"tool_result","tool_use_id":"t2","content":"failed","is_error":true}`,
		`user {"type":"text","text":"and now?"` + mark,
	}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.MaxTokens != 4096 || string(got.ToolChoice) != `{"type":"none"}` || len(got.Tools) != 2 ||
		!strings.HasSuffix(string(got.Tools[1]), mark) || strings.Contains(string(got.Tools[0]), "cache") || got.System[0].Cache == nil {
		t.Errorf("%+v", got)
	}
}

func TestForeignThinkingAndIDsStayAtHome(t *testing.T) {
	client, s := fake(t, llm.Config{})
	r := ask(false)
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
			{Thinking: &llm.Thinking{Text: "x", Provider: "other", Model: "m"}},
			{Call: &llm.ToolCall{ID: "c1", WireID: "functions.list:0", Provider: "other", Name: "list", Arguments: "[1]"}},
		}},
		llm.Text(llm.RoleUser, "go on"), llm.Text(llm.RoleAssistant, "well \n"))
	if _, err := client.Stream(t.Context(), r, quiet); err != nil {
		t.Fatal(err)
	}
	got := body(t, s)
	want := []string{
		`user {"type":"text","text":"hi"` + mark,
		`assistant {"type":"tool_use","id":"c1","name":"list","input":{}}`,
		`user {"type":"tool_result","tool_use_id":"c1","content":"Error: the call was interrupted; no result is known","is_error":true}`,
		`user {"type":"text","text":"go on"` + mark,
		`assistant {"type":"text","text":"well"}`,
	}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(got.Tools) != 1 || string(got.ToolChoice) != `{"type":"none"}` {
		t.Errorf("a tool that only the history names is not declared: %s %s", got.Tools, got.ToolChoice)
	}
}

func TestThinkingFitsTheAnswer(t *testing.T) {
	client, s := fake(t, llm.Config{Compat: json.RawMessage(`{"thinkingTokens":8000,"extraBody":{"temperature":0.5}}`)})
	foreign := []llm.Message{
		llm.Text(llm.RoleUser, "hi"),
		{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c1", Name: "list", Arguments: "{}"}}}},
		{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "c1", Text: "x"}}}},
	}
	for _, c := range []struct {
		name     string
		max      int
		messages []llm.Message
		thinking string
		lack     string
	}{
		{"within", 20_000, nil, `{"type":"enabled","budget_tokens":8000}`, "temperature"},
		{"cut", 4096, nil, `{"type":"enabled","budget_tokens":3072}`, "temperature"},
		{"no room", 2000, nil, "", "thinking"},
		{"a call that was made without thinking", 20_000, foreign, "", "thinking"},
	} {
		r := ask(false)
		r.MaxTokens, r.Tools = c.max, []llm.Tool{{Name: "list"}}
		if c.messages != nil {
			r.Messages = c.messages
		}
		if _, err := client.Stream(t.Context(), r, quiet); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		all := s.Completions()
		if got := body(t, s); string(got.Thinking) != c.thinking || strings.Contains(string(all[len(all)-1].Body), c.lack) {
			t.Errorf("%s: %s", c.name, all[len(all)-1].Body)
		}
	}
}

func TestStreamsPiecesAndUsage(t *testing.T) {
	for _, stream := range []bool{true, false} {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "good morning", Thinking: "hm", Pieces: 4, Usage: &modeltest.Usage{Prompt: 12, Completion: 3}})
		events := 0
		r, err := client.Stream(t.Context(), ask(stream), func(llm.Event) { events++ })
		if err != nil || r.Message.PlainText() != "good morning" || r.Usage.Input != 12 || r.Usage.Output != 3 || r.RequestID == "" {
			t.Errorf("stream %v: %v %+v", stream, err, r)
		}
		if want := map[bool]int{true: 5, false: 2}[stream]; events != want {
			t.Errorf("stream %v: %d events, want %d", stream, events, want)
		}
	}
}

func TestFaultsOfTheNetwork(t *testing.T) {
	for _, c := range []struct {
		fault   modeltest.Fault
		kind    llm.ErrorKind
		started bool
		usage   int
	}{
		{modeltest.ResetBefore, llm.Network, false, -1},
		{modeltest.ResetAfter, llm.Network, true, 12},
		{modeltest.Truncate, llm.Truncated, true, 12},
		{modeltest.Malformed, llm.Truncated, true, 12},
	} {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "a longer answer", Fault: c.fault, Usage: &modeltest.Usage{Prompt: 12}})
		r, err := client.Stream(t.Context(), ask(true), quiet)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Started != c.started || !e.Temporary() || r.Usage.Input != c.usage {
			t.Errorf("%s: %v, usage %+v", c.fault, err, r.Usage)
		}
	}
}

func TestStalls(t *testing.T) {
	for _, c := range []struct {
		reply modeltest.Reply
		took  time.Duration
	}{
		{modeltest.Reply{Fault: modeltest.StallBefore}, 7 * time.Second},
		{modeltest.Reply{Text: "hello there", Fault: modeltest.StallAfter}, 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, s := fake(t, llm.Config{IdleTimeout: 30 * time.Second, Compat: json.RawMessage(`{"firstByteSeconds":7}`)})
			s.Push(c.reply)
			start := time.Now()
			_, err := client.Stream(t.Context(), ask(true), quiet)
			if took := time.Since(start); kindOf(err) != llm.Stall || took < c.took || took > c.took+time.Second {
				t.Errorf("after %v: %v", took, err)
			}
		})
	}
}

func TestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "hello there", Fault: modeltest.StallAfter})
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		_, err := client.Stream(ctx, ask(true), func(llm.Event) { cancel() })
		if !errors.Is(err, context.Canceled) || time.Since(start) != 0 {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// TestGivesUpAnAnswerThatPausesForEver bounds how often an answer is asked for on.
func TestGivesUpAnAnswerThatPausesForEver(t *testing.T) {
	asked := 0
	client := newClient(t, llm.Config{HTTP: llmtest.Client(func(*http.Request) (*http.Response, error) {
		asked++
		return llmtest.Response(200, strings.NewReader(`{"content":[{"type":"text","text":"x"}],"stop_reason":"pause_turn"}`)), nil
	})})
	if _, err := client.Stream(t.Context(), ask(false), quiet); kindOf(err) != llm.Truncated || asked != 4 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestWhereTheKeyGoes(t *testing.T) {
	for base, want := range map[string]string{
		"":                             "https://api.anthropic.com/v1/messages " + llmtest.Key + " ",
		"https://api.anthropic.com/v1": "https://api.anthropic.com/v1/messages " + llmtest.Key + " ",
		"https://x.example/anthropic/": "https://x.example/anthropic/v1/messages " + llmtest.Key + " Bearer " + llmtest.Key,
	} {
		var got string
		client := newClient(t, llm.Config{BaseURL: base, HTTP: llmtest.Client(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String() + " " + r.Header.Get("X-Api-Key") + " " + r.Header.Get("Authorization")
			return nil, errors.New("enough")
		})})
		if _, err := client.Stream(t.Context(), ask(true), quiet); kindOf(err) != llm.Network || got != want {
			t.Errorf("%q: %s, %v", base, got, err)
		}
	}
}

func TestCheckListsModels(t *testing.T) {
	client, s := fake(t, llm.Config{})
	s.SetModels("b", "a")
	if names, err := client.Models(t.Context()); err != nil || !cmp.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v %v", names, err)
	}
	if err := client.Check(t.Context()); err != nil || len(s.Completions()) != 0 {
		t.Errorf("%v, %d completions", err, len(s.Completions()))
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]llm.Config{
		"an http or https address": {BaseURL: "ftp://x"},
		`unknown field "cach"`:     {Compat: json.RawMessage(`{"cach":true}`)},
		"thinkingTokens is":        {Compat: json.RawMessage(`{"thinkingTokens":5}`)},
		"reasoningReplay is":       {Compat: json.RawMessage(`{"reasoningReplay":"some"}`)},
	} {
		if _, err := anthropic.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}

// TestCacheMarks: four at most, and one where the tools end that every request has.
func TestCacheMarks(t *testing.T) {
	for tools, want := range map[string][]string{
		"list tool_search git": {"tool_search", "git"}, "list tool_search": {"tool_search"}, "list git": {"git"}, "": nil,
	} {
		client, s := fake(t, llm.Config{})
		r := ask(true)
		r.System = "Be brief."
		r.Tools = nil
		for name := range strings.FieldsSeq(tools) {
			r.Tools = append(r.Tools, llm.Tool{Name: name})
		}
		r.Messages = append(r.Messages, llm.Text(llm.RoleAssistant, "yes?"), llm.Text(llm.RoleUser, "two"), llm.Text(llm.RoleAssistant, "yes?"), llm.Text(llm.RoleUser, "three"))
		if _, err := client.Stream(t.Context(), r, quiet); err != nil {
			t.Fatal(err)
		}
		got := body(t, s)
		var marked []string
		for i, tool := range got.Tools {
			if strings.HasSuffix(string(tool), mark) {
				marked = append(marked, r.Tools[i].Name)
			}
		}
		if diff := cmp.Diff(want, marked); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tools, diff)
		}
		all := len(marked) + 1
		for _, line := range lines(got) {
			all += strings.Count(line, "cache_control")
		}
		if all > 4 {
			t.Errorf("%s: %d marks", tools, all)
		}
	}
}

// TestFoundToolsAreDeferred: what tool_search found is defined where it was found, so that
// a request begins as the one before it did. An endpoint that refuses that is asked again
// without, and remembered.
func TestFoundToolsAreDeferred(t *testing.T) {
	const found = "## git\nWorks with repositories.\nParameters: {}\n## mcp_a_b\nReads.\nParameters: {}"
	history := func(result string, failed bool) llm.Request {
		r := ask(true)
		r.System = "Be brief."
		r.Tools = []llm.Tool{{Name: "file_list"}, {Name: "tool_search"}, {Name: "git"}, {Name: "mcp_a_b"}}
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "1", Name: "tool_search", Arguments: `{"query":"x"}`}}}},
			llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "1", Name: "tool_search", Text: result, Failed: failed}}}})
		return r
	}
	sent := func(compat string, r llm.Request) (tools, result string) {
		client, s := fake(t, llm.Config{Compat: json.RawMessage(compat)})
		if _, err := client.Stream(t.Context(), r, quiet); err != nil {
			t.Fatal(err)
		}
		got := body(t, s)
		for i, tool := range got.Tools {
			if strings.Contains(string(tool), `"defer_loading":true`) {
				tools += " " + r.Tools[i].Name
			}
			if strings.HasSuffix(string(tool), mark) {
				tools += " [" + r.Tools[i].Name + "]"
			}
		}
		return strings.TrimSpace(tools), string(got.Messages[2].Content[0])
	}
	for name, c := range map[string]struct {
		compat  string
		request llm.Request
		tools   string
		refers  int
	}{
		"found":                 {`{"deferTools":true}`, history(found, false), "[tool_search] git mcp_a_b", 2},
		"not offered":           {`{}`, history(found, false), "[tool_search] [mcp_a_b]", 0},
		"names a usual tool":    {`{"deferTools":true}`, history(found+"\n## file_list\n", false), "[tool_search] [mcp_a_b]", 0},
		"names a removed tool":  {`{"deferTools":true}`, history(found+"\n## gone\n", false), "[tool_search] [mcp_a_b]", 0},
		"failed":                {`{"deferTools":true}`, history(found, true), "[tool_search] [mcp_a_b]", 0},
		"found one, chosen one": {`{"deferTools":true}`, history("## git\n", false), "[tool_search] git [mcp_a_b]", 1},
	} {
		tools, result := sent(c.compat, c.request)
		if n := strings.Count(result, `"type":"tool_reference"`); tools != c.tools || n != c.refers {
			t.Errorf("%s: %s, want %s; result %s", name, tools, c.tools, result)
		}
		if strings.Contains(result, "tool_reference") == strings.Contains(result, "Parameters") && c.refers > 1 {
			t.Errorf("%s: references and text together: %s", name, result)
		}
	}
	client, s := fake(t, llm.Config{Compat: json.RawMessage(`{"deferTools":true}`)})
	s.Respond(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(string(r.Body), "defer_loading") {
			return modeltest.Error(400, "tools.2.custom.defer_loading: Extra inputs are not permitted")
		}
		return modeltest.Text("fine")
	})
	for _, want := range []int{2, 3} {
		if _, err := client.Stream(t.Context(), history(found, false), quiet); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Completions()); n != want {
			t.Errorf("%d requests, want %d", n, want)
		}
	}
}
