//go:build peers && linux

package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/httpclient"
	"klawbot/internal/llamatest"
)

// recorder keeps the bodies of requests.
type recorder struct {
	next http.RoundTripper

	mu     sync.Mutex
	bodies [][]byte // guarded by mu
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	r.bodies = append(r.bodies, body)
	r.mu.Unlock()
	return r.next.RoundTrip(req)
}

// peer is our client of a real server. Answers are always the same: it takes
// the likeliest words, and counts them anew each time.
func peer(t *testing.T, url, extra string) (*openai.Client, *recorder) {
	t.Helper()
	client := httpclient.New(httpclient.Options{})
	t.Cleanup(client.CloseIdleConnections)
	r := &recorder{next: client.Transport}
	client.Transport = r
	compat := `{"extraBody":{"temperature":0,"cache_prompt":false` + extra + `}}`
	return withHTTP(t, llm.Config{BaseURL: url + "/v1", Compat: json.RawMessage(compat)}, client), r
}

// endless makes the model go on until it may not say any more.
const endless = `,"ignore_eos":true`

func asked(stream bool, limit int) llm.Request {
	r := ask(stream)
	r.Model, r.MaxTokens = llamatest.Model, limit
	return r
}

func TestPeer(t *testing.T) {
	llmtest.Peer(t, func(t *testing.T, url string) llm.Provider {
		client, _ := peer(t, url, "")
		return client
	})
}

func TestPeerListsItsModel(t *testing.T) {
	client, _ := peer(t, llamatest.Start(t, 512).URL, "")
	names, err := client.Models(t.Context())
	if err != nil || !slices.Equal(names, []string{llamatest.Model}) {
		t.Errorf("it lists %q, %v", names, err)
	}
}

// TestPeerFillsItsWindow lets an answer grow until the window is full.
func TestPeerFillsItsWindow(t *testing.T) {
	client, _ := peer(t, llamatest.Start(t, 512).URL, endless)
	r, err := client.Stream(t.Context(), asked(true, 2000), quiet)
	if err != nil || r.Stop != llm.StopMaxTokens || r.Message.PlainText() == "" || r.Usage.Input+r.Usage.Output > 513 {
		t.Errorf("an answer longer than the window: %v, stop %q, %+v", err, r.Stop, r.Usage)
	}
}

// TestPeerReadsToolResults asks the server what its model reads of a history
// with calls, and lets it answer.
func TestPeerReadsToolResults(t *testing.T) {
	s := llamatest.Start(t, 2048)
	client, wire := peer(t, s.URL, "")
	call := func(id string) llm.Block {
		return llm.Block{Call: &llm.ToolCall{ID: id, Name: "current_time", Arguments: `{"zone":"UTC"}`}}
	}
	r := asked(true, 32)
	r.System = "You are a clock."
	r.Tools = []llm.Tool{{Name: "current_time", Description: "Tells the time.", Parameters: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}`)}}
	r.Messages = []llm.Message{
		llm.Text(llm.RoleUser, "Are you there?"),
		llm.Text(llm.RoleUser, "What time is it?"),
		{Role: llm.RoleAssistant, Blocks: []llm.Block{call("a call whose id is ours, not the server's"), call("b")}},
		{Role: llm.RoleTool, Blocks: []llm.Block{
			{Result: &llm.ToolResult{CallID: "a call whose id is ours, not the server's", Text: "It is 12:34."}},
			{Result: &llm.ToolResult{CallID: "b", Text: "", Failed: true}},
		}},
	}
	for _, noTools := range []bool{false, true} {
		r.NoTools = noTools
		answer, err := client.Stream(t.Context(), r, quiet)
		if err != nil || answer.Message.PlainText() == "" {
			t.Errorf("no tools %v: %v %+v", noTools, err, answer)
		}
		prompt := s.Prompt(wire.bodies[len(wire.bodies)-1])
		for _, want := range []string{"You are a clock.", "Are you there?", "What time is it?", "It is 12:34.", "(no output)"} {
			if !strings.Contains(prompt, want) {
				t.Errorf("no tools %v: the model does not read %q in\n%s", noTools, want, prompt)
			}
		}
	}
}
