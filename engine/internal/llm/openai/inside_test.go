package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		host, model string
		ok          func(Compat) bool
	}{
		{"api.openai.com", "gpt-5-mini", func(c Compat) bool { return c.MaxTokensField == maxCompletionTokens && !c.Local }},
		{"api.mistral.ai", "x", func(c Compat) bool { return c.ToolIDFormat == "mistral" && c.BridgeAfterTool && !c.StreamUsage }},
		{"api.deepseek.com", "deepseek-chat", func(c Compat) bool { return c.ReasoningReplay == llm.ReplayToolTurns }},
		{"api.moonshot.ai", "kimi", func(c Compat) bool { return c.ReasoningReplay == llm.ReplayNonempty }},
		{"notopenai.com", "x", func(c Compat) bool { return c.MaxTokensField == maxTokens && c.ToolChoiceNone }},
		{"127.0.0.1", "qwen3:8b", func(c Compat) bool { return c.Local && c.TextCalls && c.ThinkTags && c.ContentEmpty == "empty" }},
		{"ollama", "llama3.2", func(c Compat) bool { return c.Local && c.ThinkTags && c.TextCalls }},
		{"192.168.1.7", "x", func(c Compat) bool { return c.Local }},
		{"8.8.8.8", "x", func(c Compat) bool { return !c.Local }},
	} {
		if got := detect(c.host, c.model); !c.ok(got) {
			t.Errorf("%s %s: %+v", c.host, c.model, got)
		}
	}
}

func TestSchemasSuitTheEndpoint(t *testing.T) {
	tool := llm.Tool{Name: "list", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`)}
	for _, c := range []struct{ host, model, want string }{
		{"api.openai.com", "gpt-5-mini", `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`},
		{"127.0.0.1", "qwen3:8b", `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`},
		{"openrouter.ai", "google/gemini-2.5-flash", `{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`},
	} {
		body, err := encode("p", detect(c.host, c.model), llm.Request{Model: c.model, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}, Tools: []llm.Tool{tool}})
		if err != nil || !strings.Contains(string(body), `"parameters":`+c.want+`}`) {
			t.Errorf("%s %s: %v %s", c.host, c.model, err, body)
		}
	}
	if _, err := override(Compat{}, json.RawMessage(`{"schemaDialect":"latin"}`)); err == nil {
		t.Error("a dialect that nobody knows is taken")
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

// FuzzAnswer wants an answer or a typed error from any bytes, and calls that
// are sound or say what is wrong with them.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"x","tool_calls":[{"function":{"name":"list","arguments":{}}}]}}]}`))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":\"x\"}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"<tool_call>{\\\"name\\\":\\\"list\\\",\\\"arguments\\\":{}}\"}}]}\n\ndata: [DONE]"))
	f.Add([]byte(`[{"error":{"message":1,"details":[{"retryDelay":"3s"}]}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var shown strings.Builder
		r := llm.Request{Tools: []llm.Tool{{Name: "list"}}}
		a := newAnswer("p", Compat{ThinkTags: true, TextCalls: true}, r, func(e llm.Event) { shown.WriteString(e.Text) })
		if err := a.read(strings.NewReader(string(body)), func() {}); err != nil {
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
