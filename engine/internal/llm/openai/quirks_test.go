package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/openai"
)

var update = flag.Bool("update", false, "write what comes out into the .want files")

const canary = "canary-key-123"

// roundTrip is a transport without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newClient returns a client whose requests f answers.
func newClient(t *testing.T, c openai.Config, f roundTrip) *openai.Client {
	t.Helper()
	if c.BaseURL == "" {
		c.BaseURL = "https://model.example/v1"
	}
	return withHTTP(t, c, &http.Client{
		Transport:     f,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}

func response(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}
}

// quirk is a fixture: what a provider sends, and how.
type quirk struct {
	status int
	header http.Header
	config openai.Config
	ask    llm.Request
	body   []byte
	want   string
}

// readQuirk reads a body and its .want file, whose lines that begin with ">"
// say how the body comes: "status N", "header K: V", "compat JSON", "max N",
// "stream".
func readQuirk(t *testing.T, file string) quirk {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".want")
	if err != nil {
		t.Fatal(err)
	}
	q := quirk{status: 200, header: http.Header{}, body: body}
	q.ask = llm.Request{Model: "m", Stream: strings.HasSuffix(file, ".sse"), Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	for _, name := range []string{"list", "file_read", "file_write"} {
		q.ask.Tools = append(q.ask.Tools, llm.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}}}`)})
	}
	for line := range strings.Lines(string(want)) {
		option, ok := strings.CutPrefix(line, "> ")
		if !ok {
			q.want += line
			continue
		}
		word, value, _ := strings.Cut(strings.TrimSpace(option), " ")
		switch word {
		case "status":
			q.status, err = strconv.Atoi(value)
		case "max":
			q.ask.MaxTokens, err = strconv.Atoi(value)
		case "stream":
			q.ask.Stream = true
		case "compat":
			q.config.Compat = json.RawMessage(value)
		case "header":
			k, v, _ := strings.Cut(value, ": ")
			q.header.Set(k, v)
		default:
			t.Fatalf("option %q", option)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return q
}

// TestQuirks plays every fixture, whole and byte by byte.
func TestQuirks(t *testing.T) {
	files, err := filepath.Glob("testdata/quirks/*.*")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".sse" && ext != ".json" {
			continue
		}
		played++
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			q := readQuirk(t, file)
			got := q.play(t, bytes.NewReader(q.body))
			if *update {
				q.update(t, file, got)
				return
			}
			if diff := cmp.Diff(q.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			slow := q.play(t, iotest.OneByteReader(bytes.NewReader(q.body)))
			if diff := cmp.Diff(got, slow); diff != "" {
				t.Errorf("byte by byte (-whole +slow)\n%s", diff)
			}
		})
	}
	if played < 100 {
		t.Errorf("only %d fixtures", played)
	}
}

func (q quirk) update(t *testing.T, file, got string) {
	t.Helper()
	want := strings.TrimSuffix(file, filepath.Ext(file)) + ".want"
	old, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	var options string
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(line, ">") {
			options += line
		}
	}
	if err := os.WriteFile(want, []byte(options+got), 0o600); err != nil {
		t.Fatal(err)
	}
}

// play asks once and writes down what came.
func (q quirk) play(t *testing.T, body io.Reader) string {
	t.Helper()
	asked := 0
	client := newClient(t, q.config, func(r *http.Request) (*http.Response, error) {
		asked++
		if asked > 1 {
			raw, err := io.ReadAll(r.Body)
			if err != nil || !strings.Contains(string(raw), `"max_completion_tokens":`) {
				t.Errorf("asked again with %s", raw)
			}
			return response(200, strings.NewReader(`{"choices":[{"message":{"content":"second answer"},"finish_reason":"stop"}]}`)), nil
		}
		resp := response(q.status, body)
		resp.Header = q.header
		resp.Request = r
		return resp, nil
	})
	var events []string
	result, err := client.Stream(t.Context(), q.ask, func(e llm.Event) {
		if e.Thinking != "" {
			events = append(events, "thinking "+strconv.Quote(e.Thinking))
			return
		}
		events = append(events, strconv.Quote(e.Text))
	})
	if err != nil {
		return showEvents(events) + showError(t, err)
	}
	return showEvents(events) + showResult(result)
}

// showEvents joins neighbours, because how the pieces are cut does not matter.
func showEvents(events []string) string {
	var out strings.Builder
	var last, joined string
	flush := func() {
		if last != "" {
			fmt.Fprintf(&out, "shown %s: %q\n", last, joined)
		}
		joined = ""
	}
	for _, e := range events {
		kind, quoted := "text", e
		if rest, ok := strings.CutPrefix(e, "thinking "); ok {
			kind, quoted = "thinking", rest
		}
		if kind != last {
			flush()
			last = kind
		}
		text, _ := strconv.Unquote(quoted)
		joined += text
	}
	flush()
	return out.String()
}

func showResult(r llm.Result) string {
	var out strings.Builder
	for _, b := range r.Message.Blocks {
		switch {
		case b.Thinking != nil:
			fmt.Fprintf(&out, "thinking (%s): %q\n", b.Thinking.Field, b.Thinking.Text)
		case b.Call != nil:
			fmt.Fprintf(&out, "call %q %s %s\n", b.Call.WireID, b.Call.Name, b.Call.Arguments)
			if b.Call.Extra != nil {
				fmt.Fprintf(&out, "  extra %s\n", b.Call.Extra)
			}
			if b.Call.Fault != "" {
				fmt.Fprintf(&out, "  fault: %s\n", b.Call.Fault)
			}
		default:
			fmt.Fprintf(&out, "text: %q\n", b.Text)
		}
	}
	fmt.Fprintf(&out, "stop: %s\nmodel: %s\nusage: %d %d %d\n", r.Stop, r.Model, r.Usage.Input, r.Usage.Output, r.Usage.Cached)
	return out.String()
}

func showError(t *testing.T, err error) string {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("the key is in %q", err)
	}
	out := fmt.Sprintf("error: %s\ntemporary: %v\n", err, e.Temporary())
	for _, f := range []struct {
		name  string
		value string
		set   bool
	}{
		{"feature", e.Feature, e.Feature != ""},
		{"wait", e.RetryAfter.String(), e.RetryAfter != 0},
		{"window", strconv.Itoa(e.Window), e.Window != 0},
		{"request", e.RequestID, e.RequestID != ""},
		{"started", "true", e.Started},
	} {
		if f.set {
			out += f.name + ": " + f.value + "\n"
		}
	}
	return out
}
