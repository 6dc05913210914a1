package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/web"
)

// house is the tools behind the pipeline, with a policy.
type house struct {
	t      *testing.T
	policy tools.Policy
	asked  int
	agree  bool
	e      *tools.Executor
	note   func(string)
}

// furnished returns the tools of a Config. Without a list of its own the
// loopback is allowed, where the servers of tests are.
func furnished(t *testing.T, c web.Config) *house {
	t.Helper()
	if c.AllowedHosts == nil {
		c.AllowedHosts = func() ([]string, string) { return []string{"127.0.0.1"}, "" }
	}
	w := web.New(c)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	registry, err := tools.NewRegistry(w.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, agree: true}
	h.e = tools.NewExecutor(tools.ExecutorConfig{
		Policy:   func() tools.Policy { return h.policy },
		Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler), MaxOutputChars: func() int { return 10 << 20 },
		ScratchDir: t.TempDir(), Keep: keep(t),
	})
	return h
}

// Approve is the person who is asked.
func (h *house) Approve(context.Context, tools.ApprovalRequest) (tools.Answer, error) {
	h.asked++
	if h.agree {
		return tools.Answer{Granted: true}, nil
	}
	return tools.Answer{}, nil
}

// call makes a call as a person's turn does.
func (h *house) call(name string, arguments any) tools.Result {
	h.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := h.e.Execute(h.t.Context(), tools.Call{ID: "c1", Name: name, Chat: "telegram_1", Arguments: raw, Approver: h, Progress: h.note}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

type args = map[string]any

// get requests an address.
func (h *house) get(address string, more ...string) tools.Result {
	h.t.Helper()
	a := args{"method": "GET", "url": address}
	for i := 0; i+1 < len(more); i += 2 {
		a[more[i]] = more[i+1]
	}
	return h.call("http_request", a)
}

// serving starts a server of one answer.
func serving(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// keep copies artifacts into a folder of the test.
func keep(t *testing.T) func(io.Reader) (string, error) {
	dir := t.TempDir()
	return func(r io.Reader) (string, error) {
		f, err := os.CreateTemp(dir, "kept-")
		if err != nil {
			return "", err
		}
		_, err = io.Copy(f, r)
		return f.Name(), errors.Join(err, f.Close())
	}
}
