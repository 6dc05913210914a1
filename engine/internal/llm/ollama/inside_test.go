package ollama

import (
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

// FuzzAnswer wants an answer or a typed error from any bytes, and calls that
// are sound or say what is wrong with them.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"x","tool_calls":[{"function":{"name":"list","arguments":{}}}]},"done":true}`))
	f.Add([]byte("{\"message\":{\"thinking\":\"<think>\"}}\n{\"error\":{\"a\":1}}\n"))
	f.Add([]byte("{\"message\":{\"content\":\"<tool_call>{\\\"name\\\":\\\"list\\\",\\\"arguments\\\":[]}\"},\"done\":true,\"done_reason\":\"length\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var shown strings.Builder
		r := llm.Request{Model: "qwen3", Tools: []llm.Tool{{Name: "list"}}}
		a := newAnswer("p", Compat{TextCalls: true}, r, func(e llm.Event) { shown.WriteString(e.Text) })
		if a.read(strings.NewReader(string(body))) != nil {
			return
		}
		result := a.result()
		for _, c := range result.Message.Calls() {
			if c.Name == "" || c.Fault == "" && llm.CheckArguments(c.Arguments) != nil {
				t.Errorf("call %+v", c)
			}
		}
		if said := result.Message.PlainText(); !strings.Contains(shown.String(), said) {
			t.Errorf("said %q, shown %q", said, shown.String())
		}
	})
}
