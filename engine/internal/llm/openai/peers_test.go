//go:build peers && linux

package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/httpclient"
	"klawbot/internal/llamatest"
)

// recorder notes what goes over the wire.
type recorder struct {
	next http.RoundTripper

	mu       sync.Mutex
	bodies   [][]byte // guarded by mu
	statuses []int    // guarded by mu
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := r.next.RoundTrip(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, body)
	if err == nil {
		r.statuses = append(r.statuses, resp.StatusCode)
	}
	return resp, err
}

// peer is our client of a real server. Answers are always the same: it takes
// the likeliest words, and counts them anew each time.
func peer(t *testing.T, s *llamatest.Server, extra string) (*openai.Client, *recorder) {
	t.Helper()
	client := httpclient.New(httpclient.Options{})
	t.Cleanup(client.CloseIdleConnections)
	r := &recorder{next: client.Transport}
	client.Transport = r
	compat := `{"extraBody":{"temperature":0,"cache_prompt":false` + extra + `}}`
	return withHTTP(t, openai.Config{BaseURL: s.URL + "/v1", Compat: json.RawMessage(compat)}, client), r
}

// endless makes the model go on until it may not say any more.
const endless = `,"ignore_eos":true`

func asked(stream bool, limit int) llm.Request {
	r := ask(stream)
	r.Model, r.MaxTokens = llamatest.Model, limit
	return r
}

func TestPeerAnswers(t *testing.T) {
	s := llamatest.Start(t, 1024)
	client, _ := peer(t, s, "")
	names, err := client.Models(t.Context())
	if err != nil || len(names) != 1 || names[0] != llamatest.Model {
		t.Errorf("it lists %q, %v", names, err)
	}
	var texts []string
	for _, stream := range []bool{false, true} {
		events, shown := 0, ""
		r, err := client.Stream(t.Context(), asked(stream, 200), func(e llm.Event) {
			events++
			shown += e.Text
		})
		if err != nil {
			t.Fatalf("stream %v: %v", stream, err)
		}
		text := r.Message.PlainText()
		if text == "" || shown != text || (events > 1) != stream {
			t.Errorf("stream %v: %d events showed %q of %q", stream, events, shown, text)
		}
		if r.Stop != llm.StopEnd || r.Model != llamatest.Model || r.Usage.Input <= 0 || r.Usage.Output <= 0 || r.Usage.Output > 200 {
			t.Errorf("stream %v: %+v", stream, r)
		}
		texts = append(texts, text)
	}
	if texts[0] != texts[1] {
		t.Errorf("whole %q, streamed %q", texts[0], texts[1])
	}
	client, _ = peer(t, s, endless)
	r, err := client.Stream(t.Context(), asked(true, 7), quiet)
	if err != nil || r.Stop != llm.StopMaxTokens || r.Usage.Output != 7 {
		t.Errorf("an answer that is cut: %v %+v", err, r)
	}
}

func TestPeerLoadsItsModel(t *testing.T) {
	s, loaded := llamatest.StartLoading(t, 1024)
	client, wire := peer(t, s, "")
	attempts := 0
	policy := llm.Policy{Retries: 1, Notice: func(_ int, err *llm.Error, _ time.Duration) {
		if attempts++; err.Kind != llm.Overloaded || err.Status != http.StatusServiceUnavailable || err.RetryAfter <= 0 {
			t.Errorf("while it loads: %v, retry after %v", err, err.RetryAfter)
		}
		loaded()
	}}
	r, err := llm.Retry(t.Context(), policy, func(ctx context.Context) (llm.Result, error) {
		return client.Stream(ctx, asked(true, 16), quiet)
	})
	if err != nil || r.Message.PlainText() == "" || attempts != 1 {
		t.Errorf("after %d attempts: %v %+v (%v)", attempts, err, r, wire.statuses)
	}
}

func TestPeerFreesTheSlotOfACancelledAnswer(t *testing.T) {
	s := llamatest.Start(t, 4096)
	client, _ := peer(t, s, endless)
	ctx, cancel := context.WithCancel(t.Context())
	var first sync.Once
	_, err := client.Stream(ctx, asked(true, 4000), func(llm.Event) {
		first.Do(func() {
			s.WaitBusy()
			cancel()
		})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled answer ends with %v", err)
	}
	s.WaitIdle()
	if r, err := client.Stream(t.Context(), asked(false, 4), quiet); err != nil || r.Usage.Output != 4 {
		t.Errorf("the next answer: %v %+v", err, r)
	}
}

func TestPeerHasAContextWindow(t *testing.T) {
	s := llamatest.Start(t, 512)
	client, _ := peer(t, s, endless)
	for _, stream := range []bool{false, true} {
		r := asked(stream, 16)
		r.Messages = []llm.Message{llm.Text(llm.RoleUser, strings.Repeat("word ", 2000))}
		_, err := client.Stream(t.Context(), r, quiet)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ContextOverflow || e.Window != 512 || e.Started {
			t.Errorf("stream %v: %v", stream, err)
		}
	}
	// A window that is full in the middle of an answer ends it.
	r, err := client.Stream(t.Context(), asked(true, 2000), quiet)
	if err != nil || r.Stop != llm.StopMaxTokens || r.Message.PlainText() == "" || r.Usage.Input+r.Usage.Output > 513 {
		t.Errorf("an answer longer than the window: %v, stop %q, %+v", err, r.Stop, r.Usage)
	}
}

// TestPeerReadsToolResults asks the server what its model reads of a history
// with calls, and lets it answer.
func TestPeerReadsToolResults(t *testing.T) {
	s := llamatest.Start(t, 2048)
	client, wire := peer(t, s, "")
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

func TestPeerDiesInMidStream(t *testing.T) {
	s := llamatest.Start(t, 4096)
	client, _ := peer(t, s, endless)
	_, err := client.Stream(t.Context(), asked(true, 4000), func(llm.Event) { s.Kill() })
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Network || !e.Started || !e.Temporary() {
		t.Errorf("killed in mid-stream: %v", err)
	}
	_, err = client.Stream(t.Context(), asked(true, 4), quiet)
	if !errors.As(err, &e) || e.Kind != llm.Network || e.Started {
		t.Errorf("while it is down: %v", err)
	}
	s.Restart()
	if r, err := client.Stream(t.Context(), asked(true, 4), quiet); err != nil || r.Usage.Output != 4 {
		t.Errorf("after a restart: %v %+v", err, r)
	}
}
