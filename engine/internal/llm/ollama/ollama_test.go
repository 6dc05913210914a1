package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/engine/internal/llm/ollama"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

func ask(stream bool) llm.Request {
	return llm.Request{Model: "m", Stream: stream, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
}

func quiet(llm.Event) {}

func kindOf(err error) llm.ErrorKind {
	var e *llm.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Kind
}

// fake returns a client of a strict fake on connections in memory.
func fake(t *testing.T, c llm.Config) (*ollama.Client, *modeltest.Server) {
	t.Helper()
	s, dial := modeltest.StartPipe(llmtest.Key)
	c.BaseURL, c.HTTP = s.URL+"/v1", httpclient.New(httpclient.Options{Dial: dial})
	t.Cleanup(func() {
		c.HTTP.CloseIdleConnections()
		s.Close()
	})
	return newClient(t, c), s
}

func TestAConversationAsAStrictServerTakesIt(t *testing.T) {
	client, s := fake(t, llm.Config{Compat: json.RawMessage(`{"think":"low","keepAlive":"30m","options":{"temperature":0.5}}`)})
	s.SetCapabilities(8192, "tools", "thinking")
	r := ask(true)
	r.System, r.Tools, r.MaxTokens, r.Window = "Be brief.", []llm.Tool{{Name: "list"}}, 100, 32_000
	r.Messages = append(r.Messages, llm.Text(llm.RoleUser, "there"),
		llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
			{Thinking: &llm.Thinking{Text: "hm", Provider: "p", Model: "m"}},
			{Call: &llm.ToolCall{ID: "c1", WireID: "list:0", Provider: "p", Name: "list", Arguments: `{"a":"\ud83d"}`}},
			{Call: &llm.ToolCall{ID: "c2", WireID: "list:0", Provider: "p", Name: "list", Arguments: "{"}},
		}},
		llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "c1", Text: "files"}}}})
	if _, err := client.Stream(t.Context(), r, quiet); err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi\n\nthere"},` +
		`{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"list:0","function":{"name":"list","arguments":{"a":"\ufffd"}}},{"id":"c2","function":{"name":"list","arguments":{}}}]},` +
		`{"role":"tool","content":"files","tool_name":"list","tool_call_id":"list:0"},` +
		`{"role":"tool","content":"Error: the call was interrupted; no result is known","tool_name":"list","tool_call_id":"c2"}],` +
		`"tools":[{"type":"function","function":{"name":"list","parameters":{"type":"object","properties":{}}}}],"stream":true,"think":"low","keep_alive":"30m",` +
		`"options":{"num_ctx":8192,"num_predict":100,"temperature":0.5}}`
	if diff := cmp.Diff(want, string(s.Completions()[0].Body)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r.NoTools, r.Window = true, 4096
	if _, err := client.Stream(t.Context(), r, quiet); err != nil {
		t.Fatal(err)
	}
	if got := s.Completions()[1]; len(got.Tools) != 0 || *got.Window != 4096 {
		t.Errorf("tools %v, window %d", got.Tools, *got.Window)
	}
}

func TestTheWindowIsTheConfiguredOne(t *testing.T) {
	client, s := fake(t, llm.Config{Compat: json.RawMessage(`{"numCtx":2000}`)})
	r := ask(false)
	r.Window = 9000
	if _, err := client.Stream(t.Context(), r, quiet); err != nil || *s.Completions()[0].Window != 2000 {
		t.Errorf("%v, window %d", err, *s.Completions()[0].Window)
	}
}

// TestASilentCutIsNoticed plays a server that reads less than it was sent.
func TestASilentCutIsNoticed(t *testing.T) {
	for _, c := range []struct {
		words, read int
		want        bool
	}{
		{2000, 600, true}, {2000, 1900, false}, {20, 5, false}, {2000, 0, false},
	} {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "well", Usage: &modeltest.Usage{Prompt: c.read, Completion: 1}})
		r := ask(true)
		r.Messages = []llm.Message{llm.Text(llm.RoleUser, strings.Repeat("word ", c.words))}
		if got, err := client.Stream(t.Context(), r, quiet); err != nil || got.InputCut != c.want {
			t.Errorf("%d words, %d read: %v, %v", c.words, c.read, got.InputCut, err)
		}
	}
}

func TestAsksOnceWhatAModelCan(t *testing.T) {
	client, s := fake(t, llm.Config{})
	s.SetCapabilities(0, "completion")
	r := ask(true)
	r.Tools = []llm.Tool{{Name: "list"}}
	for range 2 {
		_, err := client.Stream(t.Context(), r, quiet)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Unsupported || e.Feature != "tools" {
			t.Errorf("tools for a model without: %v", err)
		}
	}
	r.NoTools = true
	if _, err := client.Stream(t.Context(), r, quiet); err != nil {
		t.Error(err)
	}
	var paths []string
	for _, e := range s.Journal() {
		paths = append(paths, e.Path)
	}
	if diff := cmp.Diff([]string{"/api/show", "/api/chat"}, paths); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStreamsPiecesAndUsage(t *testing.T) {
	for _, stream := range []bool{true, false} {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "good morning", Thinking: "hm", Pieces: 4, Usage: &modeltest.Usage{Prompt: 12, Completion: 3},
			Calls: []modeltest.Call{{Name: "list", Arguments: `{"a":1}`}}})
		r := ask(stream)
		r.Tools = []llm.Tool{{Name: "list"}}
		events := 0
		got, err := client.Stream(t.Context(), r, func(llm.Event) { events++ })
		if err != nil || got.Message.PlainText() != "good morning" || got.Usage.Input != 12 || got.Usage.Output != 3 || got.Stop != llm.StopCalls {
			t.Errorf("stream %v: %v %+v", stream, err, got)
		}
		if want := map[bool]int{true: 5, false: 2}[stream]; events != want {
			t.Errorf("stream %v: %d events, want %d", stream, events, want)
		}
	}
}

func TestFaultsOfTheNetwork(t *testing.T) {
	for _, c := range []struct {
		fault   modeltest.Fault
		kind    llm.ErrorKind
		started bool
	}{
		{modeltest.ResetBefore, llm.Network, false},
		{modeltest.ResetAfter, llm.Network, true},
		{modeltest.Truncate, llm.Truncated, true},
		{modeltest.Malformed, llm.Truncated, true},
	} {
		client, s := fake(t, llm.Config{})
		reply := modeltest.Reply{Text: "a longer answer", Fault: c.fault}
		s.Push(reply, reply) // a connection that was used before is tried twice
		_, err := client.Stream(t.Context(), ask(true), quiet)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Started != c.started || !e.Temporary() {
			t.Errorf("%s: %v", c.fault, err)
		}
	}
}

// TestWaitsForAModelThatLoads gives the first byte more time than a silence.
func TestWaitsForAModelThatLoads(t *testing.T) {
	for _, c := range []struct {
		reply modeltest.Reply
		took  time.Duration
		ok    bool
	}{
		{modeltest.Reply{Text: "well", Delay: 9 * time.Minute}, 9 * time.Minute, true},
		{modeltest.Reply{Fault: modeltest.StallBefore}, 10 * time.Minute, false},
		{modeltest.Reply{Text: "hello there", Fault: modeltest.StallAfter}, 30 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, s := fake(t, llm.Config{IdleTimeout: 30 * time.Second, Compat: json.RawMessage(`{"local":true}`)})
			s.Push(c.reply)
			start := time.Now()
			_, err := client.Stream(t.Context(), ask(true), quiet)
			if took := time.Since(start); (err == nil) != c.ok || !c.ok && kindOf(err) != llm.Stall || took < c.took || took > c.took+time.Second {
				t.Errorf("after %v: %v", took, err)
			}
		})
	}
}

func TestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "hello there", Fault: modeltest.StallAfter})
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := client.Stream(ctx, ask(true), func(llm.Event) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestCheckListsModels(t *testing.T) {
	client, s := fake(t, llm.Config{})
	s.SetModels("b", "a")
	if names, err := client.Models(t.Context()); err != nil || !cmp.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v %v", names, err)
	}
	if err := client.Check(t.Context()); err != nil || len(s.Completions()) != 0 {
		t.Errorf("%v, %d completions", err, len(s.Completions()))
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]llm.Config{
		"an http or https address": {BaseURL: "ftp://x"},
		`unknown field "num_ctx"`:  {Compat: json.RawMessage(`{"num_ctx":1}`)},
		"reasoningReplay is":       {Compat: json.RawMessage(`{"reasoningReplay":"some"}`)},
	} {
		if _, err := ollama.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}
