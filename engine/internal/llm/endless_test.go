package llm_test

import (
	"io"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

// endless repeats an event, behind a beginning.
type endless struct {
	rest  io.Reader
	event string
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.rest.Read(p)
	if err == io.EOF {
		e.rest = strings.NewReader(strings.Repeat(e.event, 100))
		return n, nil
	}
	return n, err
}

// TestEndlessAnswer ends an answer whose model repeats itself at a server that knows no
// limit of tokens.
func TestEndlessAnswer(t *testing.T) {
	for name, c := range map[string]struct{ begin, event string }{
		"openai":    {"", `data: {"choices":[{"index":0,"delta":{"content":"again and again "}}]}` + "\n\n"},
		"anthropic": {"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\n" + "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"again and again "}}` + "\n\n"},
		"ollama":    {"", `{"message":{"role":"assistant","content":"again and again "},"done":false}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := teller(t, name, func() io.Reader { return &endless{strings.NewReader(c.begin), c.event} })
			r := storyRequest(true)
			r.MaxTokens = 1000
			result, err := p.Stream(t.Context(), r, func(llm.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(result.Message.PlainText()); result.Stop != llm.StopMaxTokens || n < 60<<10 || n > 70<<10 {
				t.Errorf("%d bytes, stop %v", n, result.Stop)
			}
		})
	}
}
