//go:build peers && linux

package anthropic_test

import (
	"encoding/json"
	"log/slog"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/anthropic"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/internal/httpclient"
	"klawbot/internal/llamatest"
)

// newPeer is a client of llama.cpp's server, which speaks this protocol too.
func newPeer(t *testing.T, url string) llm.Provider {
	t.Helper()
	http := httpclient.New(httpclient.Options{})
	t.Cleanup(http.CloseIdleConnections)
	client, err := anthropic.New(llm.Config{
		Provider: "p", BaseURL: url, HTTP: http, Compat: json.RawMessage(`{"extraBody":{"temperature":0}}`), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestPeer(t *testing.T) { llmtest.Peer(t, newPeer) }

// TestPeerReadsToolResults wants results to make the prompt longer by what they
// say.
func TestPeerReadsToolResults(t *testing.T) {
	client := newPeer(t, llamatest.Start(t, 2048).URL)
	inputs := map[string]int{}
	for _, result := range []string{"", "It is 12:34, and the sun shines over all of the town."} {
		r := llm.Request{
			Model: llamatest.Model, MaxTokens: 8, Stream: true,
			Tools: []llm.Tool{{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
			Messages: []llm.Message{
				llm.Text(llm.RoleUser, "What time is it?"),
				{Role: llm.RoleAssistant, Blocks: []llm.Block{
					{Thinking: &llm.Thinking{Text: "Let me look.", Provider: "p", Model: llamatest.Model}},
					{Call: &llm.ToolCall{ID: "a", Name: "look", Arguments: "{}"}}, {Call: &llm.ToolCall{ID: "b", Name: "look", Arguments: "{}"}},
				}},
				{Role: llm.RoleTool, Blocks: []llm.Block{
					{Result: &llm.ToolResult{CallID: "a", Text: result}}, {Result: &llm.ToolResult{CallID: "b", Text: "broken", Failed: true}},
				}},
				llm.Text(llm.RoleUser, "And now?"),
			},
		}
		answer, err := client.Stream(t.Context(), r, func(llm.Event) {})
		if err != nil || answer.Message.PlainText() == "" {
			t.Fatalf("%q: %v %+v", result, err, answer)
		}
		inputs[result] = answer.Usage.Input
	}
	if longer := inputs["It is 12:34, and the sun shines over all of the town."] - inputs[""]; longer < 8 {
		t.Errorf("a result makes the prompt %d tokens longer", longer)
	}
}
