// Package llmtest plays recorded answers of providers to the client of a
// protocol and writes down what the client makes of them. It is for tests only.
package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
)

// Key is the key of the clients under test. It must not show up in an error.
const Key = "canary-key-123"

// RoundTrip is a transport without a network.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip answers a request.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Client is an HTTP client whose requests f answers.
func Client(f RoundTrip) *http.Client {
	return &http.Client{
		Transport:     f,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Response is an answer without headers.
func Response(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}
}

// New makes the client under test. Its key is Key.
type New func(t *testing.T, client *http.Client, compat json.RawMessage) llm.Provider

// quirk is a fixture: what a provider sends, and how.
type quirk struct {
	create New
	file   string
	status int
	header http.Header
	compat json.RawMessage
	ask    llm.Request
	body   []byte
	want   string
	// second is the answer to a second request, which must hold again.
	second []byte
	again  string
}

// Quirks plays every fixture of a folder, whole and byte by byte. A fixture is a
// body (.sse and .ndjson stream, .json does not) and a .want file of the same
// name: what comes out, after lines that begin with ">" and say how the body
// comes ("status N", "header K: V", "compat JSON", "model NAME",
// "max N", "stream") and what a
// second request holds ("again TEXT"), which the .again file answers. There must
// be at least as many fixtures as least says; update writes the .want files.
func Quirks(t *testing.T, dir string, least int, update bool, create New) {
	played := 0
	err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
		if ext := filepath.Ext(file); err != nil || ext != ".sse" && ext != ".json" && ext != ".ndjson" {
			return err
		}
		played++
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			q := readQuirk(t, file)
			q.create = create
			q.check(t, update)
		})
		return nil
	})
	if err != nil || played < least {
		t.Errorf("only %d fixtures: %v", played, err)
	}
}

func (q quirk) check(t *testing.T, update bool) {
	got := q.play(t, bytes.NewReader(q.body))
	if update {
		q.update(t, got)
		return
	}
	if diff := cmp.Diff(q.want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	slow := q.play(t, iotest.OneByteReader(bytes.NewReader(q.body)))
	if diff := cmp.Diff(got, slow); diff != "" {
		t.Errorf("byte by byte (-whole +slow)\n%s", diff)
	}
}

func wantFile(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ".want" }

func read(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func readQuirk(t *testing.T, file string) quirk {
	t.Helper()
	q := quirk{file: file, status: 200, header: http.Header{}, body: read(t, file)}
	q.ask = llm.Request{Model: "m", Stream: filepath.Ext(file) != ".json", Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	for _, name := range []string{"list", "file_read", "file_write"} {
		q.ask.Tools = append(q.ask.Tools, llm.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}}}`)})
	}
	for line := range strings.Lines(string(read(t, wantFile(file)))) {
		option, ok := strings.CutPrefix(line, "> ")
		if !ok {
			q.want += line
			continue
		}
		word, value, _ := strings.Cut(strings.TrimSpace(option), " ")
		if err := q.set(word, value); err != nil {
			t.Fatalf("option %q: %v", option, err)
		}
	}
	if q.again != "" {
		q.second = read(t, strings.TrimSuffix(file, filepath.Ext(file))+".again")
	}
	return q
}

func (q *quirk) set(word, value string) (err error) {
	switch word {
	case "status":
		q.status, err = strconv.Atoi(value)
	case "max":
		q.ask.MaxTokens, err = strconv.Atoi(value)
	case "model":
		q.ask.Model = value
	case "stream":
		q.ask.Stream = true
	case "compat":
		q.compat = json.RawMessage(value)
	case "header":
		k, v, _ := strings.Cut(value, ": ")
		q.header.Set(k, v)
	case "again":
		q.again = value
	default:
		err = errors.New("unknown")
	}
	return err
}

func (q quirk) update(t *testing.T, got string) {
	t.Helper()
	var options string
	for line := range strings.Lines(string(read(t, wantFile(q.file)))) {
		if strings.HasPrefix(line, ">") {
			options += line
		}
	}
	if err := os.WriteFile(wantFile(q.file), []byte(options+got), 0o600); err != nil {
		t.Fatal(err)
	}
}

// play asks once and writes down what came. Questions about the model find a
// server that says nothing.
func (q quirk) play(t *testing.T, body io.Reader) string {
	t.Helper()
	asked := 0
	client := q.create(t, Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/api/show") {
			return Response(http.StatusNotFound, strings.NewReader("")), nil
		}
		asked++
		if asked > 1 {
			raw, err := io.ReadAll(r.Body)
			if err != nil || q.again == "" || !strings.Contains(string(raw), q.again) {
				t.Errorf("asked again with %s", raw)
			}
			return Response(http.StatusOK, bytes.NewReader(q.second)), nil
		}
		resp := Response(q.status, body)
		resp.Header, resp.Request = q.header, r
		return resp, nil
	}), q.compat)
	var shown events
	result, err := client.Stream(t.Context(), q.ask, shown.add)
	if (asked > 1) != (q.again != "") {
		t.Errorf("asked %d times", asked)
	}
	if err != nil {
		return shown.String() + showError(t, err)
	}
	return shown.String() + showResult(result)
}
