//go:build browser

package browser_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"

	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/web/browser"
)

// local completes a Config for tests: the loopback is allowed, where their
// servers are.
func local(c browser.Config) browser.Config {
	hosts, err := httpclient.ParseHosts([]string{"127.0.0.1"})
	if err != nil {
		panic(err) // the list is right
	}
	c.Guard = &httpclient.Guard{Hosts: func() httpclient.Hosts { return hosts }}
	c.Note = func() string { return "" }
	return c
}

// house is the tool behind the pipeline.
type house struct {
	t     *testing.T
	asked int
	e     *tools.Executor
}

func furnished(t *testing.T, c browser.Config) *house {
	t.Helper()
	b := browser.New(local(c))
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	registry, err := tools.NewRegistry(b.Tool())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t}
	h.e = tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler), MaxOutputChars: func() int { return 10 << 20 },
		ScratchDir: t.TempDir(), Keep: keep(t),
	})
	return h
}

// Approve is the person who is asked.
func (h *house) Approve(context.Context, tools.ApprovalRequest) (tools.Answer, error) {
	h.asked++
	return tools.Answer{Granted: true}, nil
}

// call makes a call as a person's turn does.
func (h *house) call(name string, arguments any) tools.Result {
	h.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := h.e.Execute(h.t.Context(), tools.Call{ID: "c1", Name: name, Chat: "telegram_1", Arguments: raw, Approver: h}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

type args = map[string]any

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

// raw starts a server that answers each request with the same bytes, and goes.
func raw(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, answer) // the client may have enough before its end
			}
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}
