package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/anthropic"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/engine/internal/llm/ollama"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

// clients are the real ones, by protocol.
var clients = map[string]func(base string, client *http.Client) (llm.Provider, error){
	"openai": func(base string, client *http.Client) (llm.Provider, error) {
		return openai.New(llm.Config{Provider: "p", BaseURL: base + "/v1", APIKey: llmtest.Key, HTTP: client, Log: slog.New(slog.DiscardHandler)})
	},
	"anthropic": func(base string, client *http.Client) (llm.Provider, error) {
		return anthropic.New(llm.Config{Provider: "p", BaseURL: base, APIKey: llmtest.Key, HTTP: client, Log: slog.New(slog.DiscardHandler)})
	},
	"ollama": func(base string, client *http.Client) (llm.Provider, error) {
		return ollama.New(llm.Config{Provider: "p", BaseURL: base, APIKey: llmtest.Key, HTTP: client, Log: slog.New(slog.DiscardHandler)})
	},
}

func storyRequest(stream bool) llm.Request {
	return llm.Request{
		Model: "m", Stream: stream, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")},
		Tools: []llm.Tool{{Name: "list"}, {Name: "file_write", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
}

// teller returns a client whose every answer is body.
func teller(t *testing.T, name string, body func() io.Reader) llm.Provider {
	t.Helper()
	p, err := clients[name]("https://model.example", llmtest.Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/api/show") {
			return llmtest.Response(http.StatusNotFound, strings.NewReader("")), nil
		}
		return llmtest.Response(http.StatusOK, body()), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// record returns the body that the fake answers a client with.
func record(t *testing.T, name string, stream bool, reply modeltest.Reply) []byte {
	t.Helper()
	s, dial := modeltest.StartPipe(llmtest.Key)
	defer s.Close()
	plain := httpclient.New(httpclient.Options{Dial: dial})
	defer plain.CloseIdleConnections()
	s.Push(reply)
	var body []byte
	p, err := clients[name](s.URL, llmtest.Client(func(r *http.Request) (*http.Response, error) {
		resp, err := plain.Do(r)
		if err != nil || strings.HasSuffix(r.URL.Path, "/api/show") {
			return resp, err
		}
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stream(t.Context(), storyRequest(stream), func(llm.Event) {}); err != nil {
		t.Fatal(err)
	}
	return body
}

// cuts are the ways in which an answer ends too early, and is read.
var cuts = []struct {
	end  error
	slow bool
}{{io.EOF, false}, {io.EOF, true}, {io.ErrUnexpectedEOF, false}}

func TestAnAnswerCutAtManyBytes(t *testing.T) { cutAnswers(t, 5) }

// cutAnswers cuts recorded answers of every protocol after each of their last
// bytes and after every step-th of the others, by a clean end and by a broken
// connection, and reads them in one piece and byte by byte. What comes out is the
// whole answer or an error that says to try again, never a part of a tool call.
func cutAnswers(t *testing.T, step int) {
	const last = 50
	reply := modeltest.Reply{
		Thinking: "hm, é", Text: "I write it down 😀 now.", Pieces: 3,
		Calls: []modeltest.Call{{ID: "c1", Name: "list", Arguments: "{}"}, {ID: "c2", Name: "file_write", Arguments: `{"path":"a\"b","text":"{é}"}`}},
		Usage: &modeltest.Usage{Prompt: 12, Completion: 34},
	}
	for name := range clients {
		for _, stream := range []bool{true, false} {
			body := record(t, name, stream, reply)
			whole, err := teller(t, name, func() io.Reader { return bytes.NewReader(body) }).Stream(t.Context(), storyRequest(stream), func(llm.Event) {})
			if err != nil || len(whole.Message.Calls()) != 2 {
				t.Fatalf("%s: %v %+v", name, err, whole)
			}
			answers := 0
			for n := range len(body) + 1 {
				if n%step != 0 && n < len(body)-last {
					continue
				}
				for _, c := range cuts[:map[bool]int{true: len(cuts), false: 1}[stream]] {
					if cutAnswer(t, name, stream, body[:n], c.end, c.slow, whole) {
						answers++
					}
				}
			}
			if answers < 1 || answers > len(body) {
				t.Errorf("%s, stream %v: %d whole answers of %d bytes", name, stream, answers, len(body))
			}
		}
	}
}

// cutAnswer reads one cut answer and reports whether it counted as whole.
func cutAnswer(t *testing.T, name string, stream bool, part []byte, end error, slow bool, whole llm.Result) bool {
	t.Helper()
	p := teller(t, name, func() io.Reader {
		var r io.Reader = bytes.NewReader(part)
		if slow {
			r = iotest.OneByteReader(r)
		}
		return io.MultiReader(r, iotest.ErrReader(end))
	})
	var said strings.Builder
	got, err := p.Stream(t.Context(), storyRequest(stream), func(e llm.Event) { said.WriteString(e.Text) })
	if err == nil {
		if diff := cmp.Diff(whole.Message, got.Message); diff != "" || got.Stop != whole.Stop {
			t.Errorf("%s, cut after %d bytes by %v: stop %s\n%s", name, len(part), end, got.Stop, diff)
		}
		return true
	}
	var e *llm.Error
	if !errors.As(err, &e) || !e.Temporary() || len(got.Message.Blocks) > 0 || e.Started != (said.Len() > 0) && !stream {
		t.Errorf("%s, cut after %d bytes by %v: %v %+v", name, len(part), end, err, got)
	}
	if !strings.HasPrefix(whole.Message.PlainText(), said.String()) {
		t.Errorf("%s, cut after %d bytes: showed %q", name, len(part), said.String())
	}
	return false
}

// TestRetryAfterIsHonoured wants the second request when the provider said, and
// at most a tenth later.
func TestRetryAfterIsHonoured(t *testing.T) {
	for name := range clients {
		for _, wait := range []time.Duration{2 * time.Second, 20 * time.Second, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				s, dial := modeltest.StartPipe(llmtest.Key)
				defer s.Close()
				client := httpclient.New(httpclient.Options{Dial: dial})
				defer client.CloseIdleConnections()
				s.Push(modeltest.RateLimited(wait))
				p, err := clients[name](s.URL, client)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err = llm.Retry(t.Context(), llm.Policy{Retries: 3}, func(ctx context.Context) (llm.Result, error) {
					return p.Stream(ctx, storyRequest(true), func(llm.Event) {})
				})
				if took := time.Since(start); err != nil || took < wait || took > wait+wait/10 || len(s.Completions()) != 2 {
					t.Errorf("%s: %v instead of %v, %d requests: %v", name, took, wait, len(s.Completions()), err)
				}
			})
		}
	}
}
