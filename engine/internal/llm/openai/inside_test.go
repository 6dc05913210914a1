package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		host, model string
		ok          func(Compat) bool
	}{
		{"api.openai.com", "gpt-5-mini", func(c Compat) bool { return c.MaxTokensField == maxCompletionTokens && !c.Local && !c.TextCalls }},
		{"api.mistral.ai", "x", func(c Compat) bool { return c.ToolIDFormat == "mistral" && c.BridgeAfterTool && !c.StreamUsage }},
		{"api.deepseek.com", "deepseek-chat", func(c Compat) bool { return c.ReasoningReplay == llm.ReplayToolTurns }},
		{"api.moonshot.ai", "kimi", func(c Compat) bool { return c.ReasoningReplay == llm.ReplayNonempty }},
		{"notopenai.com", "x", func(c Compat) bool { return c.MaxTokensField == maxTokens && c.ToolChoiceNone }},
		{"127.0.0.1", "qwen3:8b", func(c Compat) bool { return c.Local && c.TextCalls && c.ThinkTags && c.ContentEmpty == "empty" }},
		{"ollama", "llama3.2", func(c Compat) bool { return c.Local && !c.ThinkTags }},
		{"192.168.1.7", "x", func(c Compat) bool { return c.Local && c.firstByte(time.Minute) == localFirstByte }},
		{"8.8.8.8", "x", func(c Compat) bool { return !c.Local && c.firstByte(time.Minute) == time.Minute }},
	} {
		if got := detect(c.host, c.model); !c.ok(got) {
			t.Errorf("%s %s: %+v", c.host, c.model, got)
		}
	}
}

func TestOverrideKeepsTheRest(t *testing.T) {
	c, err := override(detect("api.openai.com", "m"), json.RawMessage(`{"streamUsage":false,"extraBody":{"reasoning_effort":"low"}}`))
	if err != nil || c.StreamUsage || c.MaxTokensField != maxCompletionTokens {
		t.Fatalf("%v %+v", err, c)
	}
	body, err := encode("p", c, llm.Request{Model: "m", Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}, MaxTokens: 5})
	if want := `{"max_completion_tokens":5,"messages":[{"role":"user","content":"hi"}],"model":"m","reasoning_effort":"low"}`; err != nil || string(body) != want {
		t.Errorf("%v %s", err, body)
	}
}

func TestEncodesWhatAProviderWants(t *testing.T) {
	call := llm.ToolCall{ID: "01JA", Name: "list", Arguments: "{}", Provider: "p", Extra: json.RawMessage(`{"google":1}`)}
	msgs := []llm.Message{
		llm.Text(llm.RoleUser, "hi"),
		{Role: llm.RoleAssistant, Blocks: []llm.Block{
			{Thinking: &llm.Thinking{Text: "hm", Field: "reasoning", Provider: "p", Model: "m"}}, {Call: &call},
		}},
		{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "01JA", Text: "x"}}}},
		llm.Text(llm.RoleAssistant, "done"),
	}
	for name, c := range map[string]struct {
		compat     Compat
		want, lack string
	}{
		"null":      {Compat{}, `"content":null,"tool_calls"`, "reasoning"},
		"empty":     {Compat{ContentEmpty: "empty"}, `"content":"","tool_calls"`, "null"},
		"omit":      {Compat{ContentEmpty: "omit"}, `"role":"assistant","tool_calls"`, "null"},
		"replay":    {Compat{ReasoningReplay: llm.ReplayToolTurns}, `"reasoning":"hm","tool_calls"`, "reasoning_content"},
		"nonempty":  {Compat{ReasoningReplay: llm.ReplayNonempty}, `"content":"done","reasoning_content":" "`, `"reasoning":" "`},
		"extra":     {Compat{}, `"extra_content":{"google":1}`, "reasoning"},
		"own id":    {Compat{}, `"tool_call_id":"01JA"`, `"call_`},
		"usage":     {Compat{StreamUsage: true}, `"stream_options":{"include_usage":true}`, "tool_choice"},
		"no choice": {Compat{}, `"tools":[{"type":"function","function":{"name":"list","parameters":{"type":"object","properties":{}}}}]`, "tool_choice"},
	} {
		r := llm.Request{Model: "m", Messages: msgs, Tools: []llm.Tool{{Name: "list"}}, NoTools: true, Stream: true}
		body, err := encode("p", c.compat, r)
		if err != nil || !strings.Contains(string(body), c.want) || strings.Contains(string(body), c.lack) {
			t.Errorf("%s: %v %s", name, err, body)
		}
	}
	body, err := encode("p", Compat{}, llm.Request{Model: "m", Messages: msgs[:1], Tools: []llm.Tool{{Name: "list"}}, NoTools: true})
	if err != nil || strings.Contains(string(body), "tools") {
		t.Errorf("tools that nobody names go out when calls are forbidden: %v %s", err, body)
	}
}

func TestIDs(t *testing.T) {
	calls := func(ids ...string) []llm.Message {
		m := llm.Message{Role: llm.RoleAssistant}
		for _, id := range ids {
			ours, wire, _ := strings.Cut(id, "=")
			m.Blocks = append(m.Blocks, llm.Block{Call: &llm.ToolCall{ID: ours, WireID: wire}})
		}
		return []llm.Message{m}
	}
	ids := newIDs("", calls("1=f:0", "2=f:0", "3", "f:0", strings.Repeat("x", 41)))
	seen := map[string]bool{}
	for _, id := range ids {
		if len(id) == 0 || len(id) > longestID || seen[id] {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
	if ids["1"] != "f:0" || ids["3"] != "3" || len(ids) != 5 {
		t.Errorf("%v", ids)
	}
	for ours, id := range newIDs("mistral", calls("1", "2", "3=abcDEF123")) {
		if len(id) != mistralID || strings.ContainsAny(id, "-_") || ours == "3" && id != "abcDEF123" {
			t.Errorf("mistral: %q", id)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "2": 2 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "NaN": 0, "soon": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0, "1e300": 366 * 24 * time.Hour,
	} {
		h := http.Header{}
		h.Set("Retry-After", value)
		if got := retryAfter(h, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, now); got != 250*time.Millisecond {
		t.Errorf("milliseconds: %v", got)
	}
}

// FuzzSplitter wants the same parts however a text is cut, and nothing lost.
func FuzzSplitter(f *testing.F) {
	for _, seed := range []string{"<think>a</think>b", " <thinking>é`</thinking>`</thinking>x", "a</think>b", "<thi", "<think>"} {
		f.Add(seed, 3)
	}
	split := func(text string, size int) (string, string) {
		s := &splitter{}
		var thought, said string
		for len(text) > 0 {
			n := min(size, len(text))
			t, r := s.add(text[:n])
			thought, said, text = thought+t, said+r, text[n:]
		}
		t, r := s.rest()
		return thought + t, said + r
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		thought, said := split(text, len(text)+1)
		if cutThought, cutSaid := split(text, 1+size&7); cutThought != thought || cutSaid != said {
			t.Errorf("%q in pieces of %d: %q %q, whole: %q %q", text, 1+size&7, cutThought, cutSaid, thought, said)
		}
		if !strings.Contains(text, "<") && (thought != "" || said != text) {
			t.Errorf("%q became %q %q", text, thought, said)
		}
	})
}

// FuzzAnswer wants an answer or a typed error from any bytes, and calls that
// are sound or say what is wrong with them.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"x","tool_calls":[{"function":{"name":"list","arguments":{}}}]}}]}`))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":\"x\"}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"<tool_call>{\\\"name\\\":\\\"list\\\",\\\"arguments\\\":{}}\"}}]}\n\ndata: [DONE]"))
	f.Add([]byte(`[{"error":{"message":1,"details":[{"retryDelay":"3s"}]}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, dog := watch(t.Context(), time.Minute, time.Minute)
		defer dog.stop()
		var shown strings.Builder
		r := llm.Request{Tools: []llm.Tool{{Name: "list"}}}
		a := newAnswer("p", Compat{ThinkTags: true, TextCalls: true}, r, func(e llm.Event) { shown.WriteString(e.Text) })
		if err := a.read(strings.NewReader(string(body)), dog); err != nil {
			return
		}
		result := a.result()
		for _, c := range result.Message.Calls() {
			if c.Name == "" || c.Fault == "" && llm.CheckArguments(c.Arguments) != nil {
				t.Errorf("call %+v", c)
			}
		}
		if said := result.Message.PlainText(); a.refused.Len() == 0 && !strings.Contains(shown.String(), said) {
			t.Errorf("said %q, shown %q", said, shown.String())
		}
	})
}
