package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

// TestReturnsProviderDataUnchanged wants what a provider sent beside the words back in
// the next request to it, and in no request to another.
func TestReturnsProviderDataUnchanged(t *testing.T) {
	long := "call_7d1__thought__" + strings.Repeat("CqQB+/=", 52) + "=="
	for name, c := range map[string]struct {
		pieces []string // of deltas
		want   []string // in the next request
	}{
		"long-call-id": {[]string{fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"function":{"name":"list","arguments":"{}"}}]}`, long)}, []string{
			fmt.Sprintf(`"id":%q`, long), fmt.Sprintf(`"tool_call_id":%q`, long),
		}},
		"an id with odd signs": {[]string{`{"tool_calls":[{"id":"functions.list:0|з","function":{"name":"list","arguments":"{}"}}]}`}, []string{
			`"id":"functions.list:0|з"`, `"tool_call_id":"functions.list:0|з"`,
		}},
		"fields of a call": {[]string{`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"list","arguments":"{}","thought_signature":"c2ln"},"provider_specific_fields":{"thought_signature":"x+/="}}]}`}, []string{
			`"thought_signature":"c2ln"`, `"provider_specific_fields":{"thought_signature":"x+/="}`,
		}},
		"extra content in a later piece": {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}`}, []string{
			`"extra_content":{"google":{"thought_signature":"s"}}`,
		}},
		"reasoning details": {[]string{
			`{"reasoning":"I","reasoning_details":[{"type":"reasoning.text","text":"I","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning":" look","reasoning_details":[{"type":"reasoning.text","text":" look","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAA=","index":1}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":"{}"}}]}`,
		}, []string{
			`"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"I look","type":"reasoning.text"},{"data":"AAA=","index":1,"type":"reasoning.encrypted"}]`,
		}},
		"blocks of thinking": {[]string{
			`{"thinking_blocks":[{"type":"thinking","thinking":"I ","signature":null}]}`, `{"thinking_blocks":[{"type":"thinking","thinking":"look","signature":"c2ln"}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":"{}"}}]}`,
		}, []string{`"thinking_blocks":[{"signature":"c2ln","thinking":"I look","type":"thinking"}]`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := llm.Request{Model: "m", Tools: []llm.Tool{{Name: "list"}}, Stream: true}
			a := newAnswer("p", Compat{ThinkTags: true}, r, func(llm.Event) {})
			var stream string
			for _, piece := range c.pieces {
				stream += `data: {"choices":[{"delta":` + piece + "}]}\n\n"
			}
			if err := a.read(strings.NewReader(stream+`data: {"choices":[{"finish_reason":"tool_calls"}]}`+"\n\n"), func() {}); err != nil {
				t.Fatal(err)
			}
			m := a.result().Message
			stored, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			m = llm.Message{}
			if err := json.Unmarshal(stored, &m); err != nil {
				t.Fatal(err)
			}
			for i := range m.Blocks {
				if m.Blocks[i].Call != nil {
					m.Blocks[i].Call.ID = "ours"
				}
			}
			r.Messages = []llm.Message{llm.Text(llm.RoleUser, "hi"), m, {Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "ours", Text: "x"}}}}}
			body := encoded(t, "p", Compat{}, r)
			for _, want := range c.want {
				if !strings.Contains(body, want) {
					t.Errorf("the next request lacks %s:\n%s", want, body)
				}
				if other := encoded(t, "q", Compat{}, r); strings.Contains(other, want) {
					t.Errorf("another provider gets %s:\n%s", want, other)
				}
			}
			if strict := encoded(t, "q", Compat{ToolIDFormat: "mistral"}, r); strings.Contains(strict, long) || !strings.Contains(strict, `"tool_call_id":"`) {
				t.Errorf("Mistral gets %s", strict)
			}
		})
	}
}

func encoded(t *testing.T, provider string, c Compat, r llm.Request) string {
	t.Helper()
	body, err := encode(provider, c, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
