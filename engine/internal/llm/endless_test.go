package llm_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

// endless repeats an event, behind a beginning, for longer than anything may be.
type endless struct {
	rest  io.Reader
	event string
	times int
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.rest.Read(p)
	if err == io.EOF && e.times < 500 {
		e.times++
		e.rest = strings.NewReader(strings.Repeat(e.event, 100))
		return n, nil
	}
	return n, err
}

const (
	chatChunk    = `data: {"choices":[{"index":0,"delta":%s}]}` + "\n\n"
	messageStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\n"
	blockStart   = `data: {"type":"content_block_start","index":0,"content_block":%s}` + "\n\n"
	blockDelta   = `data: {"type":"content_block_delta","index":0,"delta":%s}` + "\n\n"
	ollamaLine   = `{"message":{"role":"assistant",%s},"done":false}` + "\n"
)

// TestEndlessAnswer ends an answer whose model repeats itself at a server that knows no
// limit of tokens: in words, in thinking, in the arguments of a call, in calls. No such
// call can run.
func TestEndlessAnswer(t *testing.T) {
	for name, c := range map[string]struct{ begin, event string }{
		"openai":             {"", fmt.Sprintf(chatChunk, `{"content":"again and again "}`)},
		"openai thinking":    {"", fmt.Sprintf(chatChunk, `{"reasoning_content":"again and again "}`)},
		"openai arguments":   {fmt.Sprintf(chatChunk, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{\"a\":\""}}]}`), fmt.Sprintf(chatChunk, `{"tool_calls":[{"index":0,"function":{"arguments":"again and again "}}]}`)},
		"openai calls":       {"", fmt.Sprintf(chatChunk, `{"tool_calls":[{"id":"again","function":{"name":"t","arguments":"{}"}}]}`)},
		"anthropic":          {messageStart + fmt.Sprintf(blockStart, `{"type":"text","text":""}`), fmt.Sprintf(blockDelta, `{"type":"text_delta","text":"again and again "}`)},
		"anthropic thinking": {messageStart + fmt.Sprintf(blockStart, `{"type":"thinking","thinking":""}`), fmt.Sprintf(blockDelta, `{"type":"thinking_delta","thinking":"again and again "}`)},
		"anthropic input":    {messageStart + fmt.Sprintf(blockStart, `{"type":"tool_use","id":"a","name":"t","input":{}}`), fmt.Sprintf(blockDelta, `{"type":"input_json_delta","partial_json":"again and again "}`)},
		"anthropic calls":    {messageStart, fmt.Sprintf(blockStart, `{"type":"tool_use","id":"a","name":"t","input":{}}`)},
		"ollama":             {"", fmt.Sprintf(ollamaLine, `"content":"again and again "`)},
		"ollama thinking":    {"", fmt.Sprintf(ollamaLine, `"thinking":"again and again "`)},
		"ollama calls":       {"", fmt.Sprintf(ollamaLine, `"tool_calls":[{"function":{"name":"t","arguments":{"a":"again"}}}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, " ")
			p := teller(t, kind, func() io.Reader { return &endless{rest: strings.NewReader(c.begin), event: c.event} })
			r := storyRequest(true)
			r.MaxTokens = 1000
			result, err := p.Stream(t.Context(), r, func(llm.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, b := range result.Message.Blocks {
				size += len(b.Text)
				if b.Thinking != nil {
					size += len(b.Thinking.Text)
				}
				if b.Call != nil {
					if size += len(b.Call.WireID) + len(b.Call.Name) + len(b.Call.Arguments); b.Call.Fault == "" {
						t.Errorf("a call can run: %s %s", b.Call.Name, b.Call.Arguments)
						break
					}
				}
			}
			if result.Stop != llm.StopMaxTokens || size > 80<<10 {
				t.Errorf("%d bytes, stop %v", size, result.Stop)
			}
		})
	}
}
