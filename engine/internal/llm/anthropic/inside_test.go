package anthropic

import (
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/speech"
)

// FuzzAnswer wants an answer or a typed error from any bytes, and calls that
// are sound or say what is wrong with them.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"x"},{"type":"tool_use","name":"list","input":{}}],"stop_reason":"tool_use"}`))
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"name\":\"list\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"{\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte(`{"type":"error","error":{"message":1}}`))
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"content_block\":[]}\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var shown strings.Builder
		r := llm.Request{Tools: []llm.Tool{{Name: "list"}}}
		a := newAnswer("p", speech.Reading{}, r, func(e llm.Event) { shown.WriteString(e.Text) })
		a.begin("")
		if a.read(strings.NewReader(string(body)), func() {}) != nil {
			return
		}
		result := a.result()
		for _, c := range result.Message.Calls() {
			if c.Name == "" || c.Fault == "" && llm.CheckArguments(c.Arguments) != nil {
				t.Errorf("call %+v", c)
			}
		}
		for _, b := range result.Message.Blocks {
			if !strings.Contains(shown.String(), b.Text) {
				t.Errorf("said %q, shown %q", b.Text, shown.String())
			}
		}
		if _, err := encode("p", Compat{}, r, a.blocks); err != nil && a.stop == stopPause {
			t.Logf("not gone on with: %v", err) // an error of its own, not a panic
		}
	})
}
