package sdktest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
)

// requests is how many random requests each endpoint is judged by.
const requests = 300

// provider is the name of the endpoint in all requests; thinking and ids of
// "other" must not go to it.
const provider = "p"

// maker makes requests at random, the same for the same seed.
type maker struct {
	*rand.Rand
	model string
	calls int
}

// onePicture is the picture of all requests.
var onePicture = llm.Image{Sum: "one", MIME: "image/png", Width: 1, Height: 1, Label: "photo one.png"}

func openPicture(string) (io.ReadCloser, error) {
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
	raw, err := base64.StdEncoding.DecodeString(data)
	return io.NopCloser(bytes.NewReader(raw)), err
}

// makeRequest is request n for a model: any history that an engine could have,
// interrupted ones too.
func makeRequest(n int, model string) llm.Request {
	m := maker{Rand: rand.New(rand.NewPCG(uint64(n), 4)), model: model}
	r := llm.Request{Open: openPicture, Model: model, Stream: n%2 == 0, Messages: []llm.Message{llm.Text(llm.RoleUser, m.text())}}
	if m.often() {
		r.System = m.text()
	}
	if m.often() {
		r.MaxTokens = 1 + m.IntN(9000)
	}
	for range m.IntN(3) {
		r.Tools = append(r.Tools, m.tool(len(r.Tools)))
	}
	r.NoTools = len(r.Tools) > 0 && m.rarely()
	for range m.IntN(6) {
		r.Messages = append(r.Messages, m.turn()...)
	}
	return r
}

func (m maker) often() bool { return m.IntN(3) > 0 }

func (m maker) rarely() bool { return m.IntN(4) == 0 }

func (m maker) text() string {
	words := []string{"hello", "мир", "漢字", "😀", "\"quoted\"", "<tag>&", "a\nb", "\\", "\u2028", "\x00", "\xff", "{}"}
	text := words[m.IntN(len(words))]
	for range m.IntN(4) {
		text += " " + words[m.IntN(len(words))]
	}
	return text
}

func (m maker) tool(i int) llm.Tool {
	schemas := []string{
		``, `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"path":{"type":"string","description":"a","minLength":1},"n":{"type":"integer","maximum":9007199254740993}},"required":["path"],"additionalProperties":false}`,
		`{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"x":{"enum":["a",null,1.5]}}}},"any":{}},"$defs":{"d":{"type":"string"}}}`,
	}
	t := llm.Tool{Name: fmt.Sprintf("tool_%d", i), Parameters: json.RawMessage(schemas[m.IntN(len(schemas))])}
	if m.often() {
		t.Description = m.text()
	}
	return t
}

// turn is a question with its answer, with or without calls on the way.
func (m *maker) turn() []llm.Message {
	var out []llm.Message
	for range m.IntN(3) {
		out = append(out, m.round()...)
	}
	if m.often() {
		out = append(out, llm.Message{Role: llm.RoleAssistant, Blocks: append(m.thinking(), llm.Block{Text: m.text()})})
	}
	for range m.IntN(3) {
		out = append(out, llm.Text(llm.RoleUser, m.text()))
		if m.rarely() {
			last := &out[len(out)-1]
			last.Blocks = slices.Insert(last.Blocks, m.IntN(2), llm.Block{Image: &onePicture})
		}
	}
	return out
}

// round is an answer with calls and their results, of which some may be missing.
func (m *maker) round() []llm.Message {
	answer, results := llm.Message{Role: llm.RoleAssistant, Blocks: m.thinking()}, llm.Message{Role: llm.RoleTool}
	if m.often() {
		answer.Blocks = append(answer.Blocks, llm.Block{Text: m.text()})
	}
	for range 1 + m.IntN(3) {
		c := m.call()
		answer.Blocks = append(answer.Blocks, llm.Block{Call: &c})
		if m.rarely() {
			continue
		}
		result := &llm.ToolResult{CallID: c.ID, Name: c.Name, Text: m.text(), Failed: m.rarely()}
		if m.rarely() {
			result.Text = ""
		}
		if m.rarely() {
			result.Images = []llm.Image{onePicture}
		}
		results.Blocks = append(results.Blocks, llm.Block{Result: result})
	}
	if len(results.Blocks) == 0 {
		return []llm.Message{answer}
	}
	return []llm.Message{answer, results}
}

func (m *maker) call() llm.ToolCall {
	m.calls++
	arguments := []string{`{}`, `{"path":"a\"b","n":1}`, `{"deep":{"list":[1,2.50,null,"😀"]}}`, `{"half":"\ud83d"}`, `{`, ``, `[1]`}
	c := llm.ToolCall{
		ID: fmt.Sprintf("our-id-%d", m.calls), Name: fmt.Sprintf("tool_%d", m.IntN(3)), Arguments: arguments[m.IntN(len(arguments))],
		Provider: []string{provider, "other"}[m.IntN(2)], WireID: []string{"", "call_1", "functions.tool_0:0", "toolu_01"}[m.IntN(4)],
	}
	if m.rarely() {
		c.Extra = json.RawMessage(`{"google":{"thought_signature":"c2ln"}}`)
	}
	return c
}

func (m *maker) thinking() []llm.Block {
	if m.often() {
		return nil
	}
	t := &llm.Thinking{
		Text: m.text(), Signature: "c2lnbmF0dXJl", Field: []string{"", "reasoning_content", "reasoning"}[m.IntN(3)],
		Provider: []string{provider, "other"}[m.IntN(2)], Model: m.model,
	}
	if m.rarely() {
		t.Text, t.Signature, t.Redacted = "", "", "cmVkYWN0ZWQ="
	}
	return []llm.Block{{Thinking: t}}
}

// sameJSON compares what we wrote with what an SDK made of it, as values.
func sameJSON(t *testing.T, what string, ours, theirs []byte, ignored ...string) bool {
	t.Helper()
	diff := cmp.Diff(value(t, ours, ignored), value(t, theirs, ignored))
	if diff != "" {
		t.Errorf("%s: (-ours +the SDK's)\n%s\nours: %s", what, diff, ours)
	}
	return diff == ""
}

// value decodes JSON and drops the ignored keys, and keys that are null: the
// SDKs leave them out.
func value(t *testing.T, text []byte, ignored []string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return without(v, ignored)
}

func without(v any, ignored []string) any {
	switch v := v.(type) {
	case map[string]any:
		if text, ok := v["content"].(string); ok && v["type"] == "tool_result" { // the short form of one block of text
			v["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		for name, inner := range v {
			if inner == nil || slices.Contains(ignored, name) {
				delete(v, name)
				continue
			}
			v[name] = without(inner, ignored)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i], ignored)
		}
	}
	return v
}
