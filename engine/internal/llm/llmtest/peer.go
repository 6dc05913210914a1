//go:build peers && linux

package llmtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/internal/llamatest"
)

// NewPeer makes the client under test, of a server at a URL without /v1. It asks
// for the likeliest words.
type NewPeer func(t *testing.T, url string) llm.Provider

// Peer lets a real model server judge the client of a protocol that it speaks.
func Peer(t *testing.T, create NewPeer) {
	for name, judge := range map[string]func(*testing.T, NewPeer){
		"answers": peerAnswers, "loads its model": peerLoads, "frees the slot of a cancelled answer": peerCancel,
		"has a context window": peerOverflow, "dies in mid-stream": peerDies,
	} {
		t.Run(name, func(t *testing.T) { judge(t, create) })
	}
}

// story asks for an answer of up to so many tokens that goes on for a while.
func story(stream bool, limit int) llm.Request {
	return llm.Request{
		Model: llamatest.Model, Stream: stream, MaxTokens: limit, System: "You tell stories.",
		Messages: []llm.Message{llm.Text(llm.RoleUser, "Tell me a very long story about a cat.")},
	}
}

func quiet(llm.Event) {}

func peerAnswers(t *testing.T, create NewPeer) {
	client := create(t, llamatest.Start(t, 1024).URL)
	if err := client.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	for _, stream := range []bool{false, true} {
		r := story(stream, 200)
		r.System, r.Messages = "", []llm.Message{llm.Text(llm.RoleUser, "hi")}
		events, shown := 0, ""
		answer, err := client.Stream(t.Context(), r, func(e llm.Event) {
			events++
			shown += e.Text
		})
		text := answer.Message.PlainText()
		if err != nil || text == "" || shown != text || (events > 1) != stream {
			t.Errorf("stream %v: %v, %d events showed %q of %q", stream, err, events, shown, text)
		}
		if answer.Stop != llm.StopEnd || answer.Model != llamatest.Model || answer.Usage.Input <= 0 || answer.Usage.Output <= 0 || answer.Usage.Output > 200 {
			t.Errorf("stream %v: %+v", stream, answer)
		}
	}
	for n := range 20 { // one after the other, as in rounds of tools
		answer, err := client.Stream(t.Context(), story(n%4 > 0, 7), quiet)
		if err != nil || answer.Stop != llm.StopMaxTokens || answer.Usage.Output != 7 {
			t.Errorf("short answer %d: %v %+v", n, err, answer)
		}
	}
}

func peerLoads(t *testing.T, create NewPeer) {
	s, loaded := llamatest.StartLoading(t, 1024)
	client := create(t, s.URL)
	attempts := 0
	policy := llm.Policy{Notice: func(_ int, err *llm.Error, _ time.Duration) {
		if attempts++; err.Kind != llm.Overloaded || err.Status != http.StatusServiceUnavailable || !err.Loading {
			t.Errorf("while it loads: %+v", err)
		}
		loaded()
	}}
	answer, err := llm.Retry(t.Context(), policy, func(ctx context.Context) (llm.Result, error) {
		return client.Stream(ctx, story(true, 7), quiet)
	})
	if err != nil || answer.Message.PlainText() == "" || attempts != 1 {
		t.Errorf("after %d attempts: %v %+v", attempts, err, answer)
	}
}

func peerCancel(t *testing.T, create NewPeer) {
	s := llamatest.Start(t, 4096)
	client := create(t, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var first sync.Once
	_, err := client.Stream(ctx, story(true, 4000), func(llm.Event) {
		first.Do(func() {
			s.WaitBusy()
			cancel()
		})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled answer ends with %v", err)
	}
	s.WaitIdle()
	if answer, err := client.Stream(t.Context(), story(false, 4), quiet); err != nil || answer.Usage.Output != 4 {
		t.Errorf("the next answer: %v %+v", err, answer)
	}
}

func peerOverflow(t *testing.T, create NewPeer) {
	client := create(t, llamatest.Start(t, 512).URL)
	for _, stream := range []bool{false, true} {
		r := story(stream, 16)
		r.Messages = []llm.Message{llm.Text(llm.RoleUser, strings.Repeat("word ", 2000))}
		_, err := client.Stream(t.Context(), r, quiet)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ContextOverflow || e.Window != 512 || e.Started {
			t.Errorf("stream %v: %v", stream, err)
		}
	}
}

func peerDies(t *testing.T, create NewPeer) {
	s := llamatest.Start(t, 4096)
	client := create(t, s.URL)
	_, err := client.Stream(t.Context(), story(true, 4000), func(llm.Event) { s.Kill() })
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Network || !e.Started || !e.Temporary() {
		t.Errorf("killed in mid-stream: %v", err)
	}
	_, err = client.Stream(t.Context(), story(true, 4), quiet)
	if !errors.As(err, &e) || e.Kind != llm.Network || e.Started {
		t.Errorf("while it is down: %v", err)
	}
	s.Restart()
	if answer, err := client.Stream(t.Context(), story(true, 4), quiet); err != nil || answer.Usage.Output != 4 {
		t.Errorf("after a restart: %v %+v", err, answer)
	}
}
