package openai_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

// ask is a small request.
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
func fake(t *testing.T, c llm.Config) (*openai.Client, *modeltest.Server) {
	t.Helper()
	s, dial := modeltest.StartPipe(canary)
	c.BaseURL = s.URL + "/v1"
	http := httpclient.New(httpclient.Options{Dial: dial})
	t.Cleanup(func() {
		http.CloseIdleConnections()
		s.Close()
	})
	return withHTTP(t, c, http), s
}

func withHTTP(t *testing.T, c llm.Config, http *http.Client) *openai.Client {
	t.Helper()
	c.Provider, c.APIKey, c.HTTP, c.Log = "p", canary, http, slog.New(slog.DiscardHandler)
	client, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestAConversationAsAStrictServerTakesIt(t *testing.T) {
	client, s := fake(t, llm.Config{})
	call := func(id, wire, arguments string) llm.Block {
		return llm.Block{Call: &llm.ToolCall{ID: id, WireID: wire, Provider: "p", Name: "list", Arguments: arguments}}
	}
	result := func(id, text string) llm.Block {
		return llm.Block{Result: &llm.ToolResult{CallID: id, Text: text}}
	}
	r := ask(true)
	r.System = "Be brief."
	r.NoTools = true
	r.Tools = []llm.Tool{{Name: "list"}}
	r.Messages = []llm.Message{
		llm.Text(llm.RoleUser, "one"),
		llm.Text(llm.RoleUser, "two\xff"),
		{Role: llm.RoleAssistant, Blocks: []llm.Block{call("c1", "list:0", `{"a":"\ud83d"}`), call("c2", "list:0", "{")}},
		{Role: llm.RoleTool, Blocks: []llm.Block{result("c2", ""), result("c1", "files")}},
		{Role: llm.RoleAssistant, Blocks: []llm.Block{call("a call with an id that no provider would take at all", "", "{}")}},
		llm.Text(llm.RoleUser, "three"),
	}
	if _, err := client.Stream(t.Context(), r, quiet); err != nil {
		t.Fatal(err)
	}
	got := s.Completions()[0]
	var lines []string
	for _, m := range got.Messages {
		line := m.Role + " " + string(m.Content)
		for _, c := range m.ToolCalls {
			line += " " + c.ID + c.Function.Arguments
		}
		lines = append(lines, strings.TrimSuffix(line+" "+m.ToolCallID, " "))
	}
	derived := strings.Fields(lines[6])[2]
	derived = strings.TrimSuffix(derived, "{}")
	want := []string{
		`system "Be brief."`,
		`user "one"`,
		`user "two` + "\uFFFD" + `"`,
		`assistant null list:0{"a":"\ufffd"} ` + "c2{}",
		`tool "files" list:0`,
		`tool "(no output)" c2`,
		`assistant null ` + derived + `{}`,
		`tool "Error: the call was interrupted; no result is known" ` + derived,
		`user "three"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !strings.HasPrefix(derived, "call_") || got.ToolChoice != "none" || got.StreamOptions == nil {
		t.Errorf("derived id %q, tool choice %q, options %v", derived, got.ToolChoice, got.StreamOptions)
	}
}

func TestStreamsPiecesAndUsage(t *testing.T) {
	for _, stream := range []bool{true, false} {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "good morning", Thinking: "hm", Pieces: 4, Usage: &modeltest.Usage{Prompt: 12, Completion: 3}})
		events := 0
		r, err := client.Stream(t.Context(), ask(stream), func(llm.Event) { events++ })
		if err != nil || r.Message.PlainText() != "good morning" || r.Usage.Input != 12 || r.Usage.Output != 3 || r.RequestID == "" {
			t.Errorf("stream %v: %v %+v", stream, err, r)
		}
		if want := map[bool]int{true: 5, false: 2}[stream]; events != want {
			t.Errorf("stream %v: %d events, want %d", stream, events, want)
		}
	}
}

func TestReusesConnections(t *testing.T) {
	s := modeltest.Start(canary)
	defer s.Close()
	dials := 0
	http := httpclient.New(httpclient.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}})
	client := withHTTP(t, llm.Config{BaseURL: s.URL + "/v1"}, http)
	for i := range 6 {
		if _, err := client.Stream(t.Context(), ask(i%2 == 0), quiet); err != nil {
			t.Fatal(err)
		}
	}
	if dials != 1 {
		t.Errorf("%d connections for 6 requests", dials)
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
		s.Push(modeltest.Reply{Text: "a longer answer", Fault: c.fault})
		_, err := client.Stream(t.Context(), ask(true), quiet)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Started != c.started || !e.Temporary() {
			t.Errorf("%s: %v", c.fault, err)
		}
	}
}

func TestStalls(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		took  time.Duration
	}{
		{"before the first byte, on one's own machine", modeltest.Reply{Fault: modeltest.StallBefore}, 7 * time.Second},
		{"after some text", modeltest.Reply{Text: "hello there", Fault: modeltest.StallAfter}, 30 * time.Second},
		{"slow but alive for ever", modeltest.Reply{Text: strings.Repeat("x", 100), Pieces: 100, PieceDelay: 20 * time.Second}, 15 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := fake(t, llm.Config{IdleTimeout: 30 * time.Second, Compat: json.RawMessage(`{"firstByteSeconds":7}`)})
				s.Push(c.reply)
				start := time.Now()
				_, err := client.Stream(t.Context(), ask(true), quiet)
				if took := time.Since(start); kindOf(err) != llm.Stall || took < c.took || took > c.took+time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

// TestStopsReadingAtDone plays servers that keep the socket open: after [DONE],
// and after the reason to stop.
func TestStopsReadingAtDone(t *testing.T) {
	done := `data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}` + "\n\n"
	for _, c := range []struct {
		body  string
		atMax time.Duration
	}{{done + "data: [DONE]\n\n", 50 * time.Millisecond}, {done, 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, llm.Config{}, func(r *http.Request) (*http.Response, error) {
				out, in := io.Pipe()
				go func() {
					_, _ = io.WriteString(in, c.body) // the reader may be gone
					<-r.Context().Done()
					in.CloseWithError(r.Context().Err())
				}()
				return llmtest.Response(200, out), nil
			})
			start := time.Now()
			r, err := client.Stream(t.Context(), ask(true), quiet)
			if took := time.Since(start); err != nil || r.Message.PlainText() != "Hello" || took > c.atMax {
				t.Errorf("after %v: %v %+v", took, err, r)
			}
		})
	}
}

func TestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := fake(t, llm.Config{})
		s.Push(modeltest.Reply{Text: "hello there", Fault: modeltest.StallAfter})
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		_, err := client.Stream(ctx, ask(true), func(e llm.Event) { cancel() })
		if !errors.Is(err, context.Canceled) || time.Since(start) != 0 {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestErrorsHideTheKeyAndTheAddress(t *testing.T) {
	for _, cause := range []error{syscall.ECONNREFUSED, io.ErrUnexpectedEOF, errors.New("http2: server sent GOAWAY and closed the connection")} {
		client := newClient(t, llm.Config{BaseURL: "https://model.example/v1?key=" + canary}, func(*http.Request) (*http.Response, error) {
			return nil, cause
		})
		_, err := client.Stream(t.Context(), ask(true), quiet)
		if kindOf(err) != llm.Network || strings.Contains(err.Error(), canary) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	body := fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", long)
	client := newClient(t, llm.Config{}, func(*http.Request) (*http.Response, error) {
		return llmtest.Response(200, bufio.NewReaderSize(strings.NewReader(body), 1000)), nil
	})
	r, err := client.Stream(t.Context(), ask(true), quiet)
	if err != nil || r.Message.PlainText() != long {
		t.Errorf("%v, %d bytes of %d", err, len(r.Message.PlainText()), len(long))
	}
}

func TestAsksAgainWithPlainerSchemas(t *testing.T) {
	client, s := fake(t, llm.Config{Compat: json.RawMessage(`{"schemaDialect":""}`)})
	s.Respond(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(string(r.Body), `"minimum"`) {
			return modeltest.Error(500, "Failed to parse grammar")
		}
		return modeltest.Text("fine")
	})
	r := ask(true)
	r.Tools = []llm.Tool{{Name: "list", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`)}}
	for range 2 {
		if answer, err := client.Stream(t.Context(), r, quiet); err != nil || answer.Message.PlainText() != "fine" {
			t.Fatalf("%v %+v", err, answer)
		}
	}
	if n := s.Total(); n != 3 {
		t.Errorf("%d requests, want 2 and then 1", n)
	}
}

func TestLearnsWhatAModelRefuses(t *testing.T) {
	client, s := fake(t, llm.Config{Compat: json.RawMessage(`{"maxTokensField":"max_tokens"}`)})
	s.Respond(func(r modeltest.Request) modeltest.Reply {
		switch {
		case r.MaxTokens != nil:
			return modeltest.Error(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		case r.StreamOptions != nil:
			return modeltest.Reply{Status: 422, ContentType: "application/json", Body: `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`}
		}
		return modeltest.Text("fine")
	})
	r := ask(true)
	r.MaxTokens = 50
	for range 2 {
		if answer, err := client.Stream(t.Context(), r, quiet); err != nil || answer.Message.PlainText() != "fine" {
			t.Fatalf("%v %+v", err, answer)
		}
	}
	if n := s.Total(); n != 4 {
		t.Errorf("%d requests, want 3 and then 1", n)
	}
}

func TestCheckListsModels(t *testing.T) {
	s := modeltest.Start(canary)
	defer s.Close()
	s.SetModels("b", "a")
	http := httpclient.New(httpclient.Options{})
	names, err := withHTTP(t, llm.Config{BaseURL: s.URL + "/v1/"}, http).Models(t.Context())
	if err != nil || !cmp.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v %v", names, err)
	}
	wrong := withHTTP(t, llm.Config{BaseURL: s.URL + "/v2"}, http)
	if err := wrong.Check(t.Context()); kindOf(err) != llm.NotFound {
		t.Errorf("a wrong path: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]llm.Config{
		"an http or https address":    {BaseURL: "ftp://x"},
		`unknown field "maxTokenFie"`: {Compat: json.RawMessage(`{"maxTokenFie":""}`)},
		"maxTokensField is":           {Compat: json.RawMessage(`{"maxTokensField":"tokens"}`)},
		"contentEmpty is":             {Compat: json.RawMessage(`{"contentEmpty":"none"}`)},
		"toolIDFormat is":             {Compat: json.RawMessage(`{"toolIDFormat":"uuid"}`)},
		"reasoningReplay is":          {Compat: json.RawMessage(`{"reasoningReplay":"some"}`)},
	} {
		if _, err := openai.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}

func TestRolesThatMustAlternateAreLearned(t *testing.T) {
	client, s := fake(t, llm.Config{})
	s.Alternate()
	r := ask(false)
	r.Messages = []llm.Message{llm.Text(llm.RoleUser, "one"), llm.Text(llm.RoleUser, "two")}
	for range 2 {
		if _, err := client.Stream(t.Context(), r, quiet); err != nil {
			t.Fatal(err)
		}
	}
	var texts []string
	for _, c := range s.Completions() {
		texts = append(texts, c.LastUser())
	}
	if diff := cmp.Diff([]string{"two", "one\n\ntwo", "one\n\ntwo"}, texts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
