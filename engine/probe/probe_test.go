package probe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

func TestAsk(t *testing.T) {
	s := modeltest.Start("right")
	defer s.Close()
	client := httpclient.New(httpclient.Options{})
	m := settings.Model{Provider: "mine", Type: "openai", BaseURL: s.URL + "/v1", APIKey: "right", Name: "test-model"}
	if answer, err := Ask(t.Context(), client, m); err != nil || answer != "OK" {
		t.Errorf("%q %v", answer, err)
	}
	s.Push(modeltest.Reply{})
	if _, err := Ask(t.Context(), client, m); err == nil || !strings.Contains(err.Error(), "empty reply") {
		t.Errorf("an empty answer: %v", err)
	}
	if answer, err := Ask(t.Context(), client, settings.Model{Type: "script"}); err != nil || !strings.Contains(answer, "script") {
		t.Errorf("the demo: %q %v", answer, err)
	}
}

func TestCheck(t *testing.T) {
	s := modeltest.Start("")
	defer s.Close()
	client := httpclient.New(httpclient.Options{})
	m := settings.Model{Provider: "mine", Type: "openai", BaseURL: s.URL + "/v1", Name: "qwen3"}
	s.SetModels("qwen3:latest", "b", "c", "d", "e", "f")
	if err := Check(t.Context(), client, m); err != nil {
		t.Error(err)
	}
	m.Name = "odd"
	if err := Check(t.Context(), client, m); err == nil || !strings.Contains(err.Error(), "it has b, c, d, e, f and 1 more") {
		t.Errorf("an unknown model: %v", err)
	}
	s.SetModels()
	if err := Check(t.Context(), client, m); err != nil {
		t.Errorf("a server that lists nothing: %v", err)
	}
	if err := Check(t.Context(), client, settings.Model{Type: "script"}); err != nil {
		t.Error(err)
	}
	if s.Completions() != nil {
		t.Error("a check made a completion")
	}
}

func TestModelErrorsAreForPeople(t *testing.T) {
	s := modeltest.Start("right")
	defer s.Close()
	client := httpclient.New(httpclient.Options{})
	m := settings.Model{Provider: "mine", Type: "openai", BaseURL: s.URL + "/v1", APIKey: "right", Name: "m"}
	wrong, gone := m, m
	wrong.APIKey = "canary-key"
	gone.BaseURL = "http://127.0.0.1:1/v1"
	for _, c := range []struct {
		model settings.Model
		reply modeltest.Reply
		want  string
	}{
		{wrong, modeltest.Reply{}, "check models.providers.mine.apiKey"},
		{gone, modeltest.Reply{}, "http://127.0.0.1:1/v1 does not answer; is the server running"},
		{m, modeltest.Error(404, "model m not found"), "knows no model m"},
		{m, modeltest.Reply{Status: 429, Code: "insufficient_quota", Message: "pay"}, "no money or quota left"},
		{m, modeltest.RateLimited(time.Hour), "try again in a minute"},
		{m, modeltest.HTML(502), "try again in a minute"},
		{m, modeltest.Error(400, "what?"), "the request is refused"},
		{m, modeltest.Error(400, "maximum context length is 5"), "context window is too small"},
		{m, modeltest.Reply{Fault: modeltest.ResetBefore}, "does not answer"},
	} {
		if c.reply.Status != 0 || c.reply.Fault != "" {
			s.Push(c.reply)
		}
		if c.reply.Fault != "" {
			s.Push(c.reply) // a connection that was used before is tried twice
		}
		_, err := Ask(t.Context(), client, c.model)
		var e *llm.Error
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "canary") || !errors.As(err, &e) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Ask(ctx, http.DefaultClient, m); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
