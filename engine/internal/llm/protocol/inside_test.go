package protocol

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
)

func TestIDs(t *testing.T) {
	calls := func(ids ...string) []llm.Message {
		m := llm.Message{Role: llm.RoleAssistant}
		for _, id := range ids {
			ours, wire, _ := strings.Cut(id, "=")
			m.Blocks = append(m.Blocks, llm.Block{Call: &llm.ToolCall{ID: ours, WireID: wire}})
		}
		return []llm.Message{m}
	}
	ids := NewIDs("", calls("1=f:0", "2=f:0", "3", "f:0", strings.Repeat("x", 41)))
	seen := map[string]bool{}
	for _, id := range ids {
		if len(id) == 0 || len(id) > longestID || seen[id] {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
	if ids["1"] != "f:0" || ids["3"] != "3" || len(ids) != 5 {
		t.Errorf("%v", ids)
	}
	for ours, id := range NewIDs("mistral", calls("1", "2", "3=abcDEF123")) {
		if len(id) != mistralID || strings.ContainsAny(id, "-_") || ours == "3" && id != "abcDEF123" {
			t.Errorf("mistral: %q", id)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "2": 2 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "NaN": 0, "soon": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0, "1e300": 366 * 24 * time.Hour,
	} {
		h := http.Header{}
		h.Set("Retry-After", value)
		if got := retryAfter(h, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, now); got != 250*time.Millisecond {
		t.Errorf("milliseconds: %v", got)
	}
}

func TestPatience(t *testing.T) {
	e, err := New(Config{BaseURL: "http://127.0.0.1", Idle: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[time.Duration]time.Duration{
		localFirstByte: e.Patience(0, true), time.Minute: e.Patience(0, false), 7 * time.Second: e.Patience(7, true),
	} {
		if got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestLearnsAFeatureOnce(t *testing.T) {
	var l Learned
	known := func(feature string) bool { return feature == "temperature" }
	refusal := func(feature string) error { return &llm.Error{Kind: llm.Unsupported, Feature: feature} }
	for i, c := range []struct {
		err  error
		want bool
	}{
		{refusal("temperature"), true},
		{refusal("temperature"), false},
		{refusal("tools"), false},
		{&llm.Error{Kind: llm.Unsupported, Feature: "temperature", Started: true}, false},
		{&llm.Error{Kind: llm.BadRequest, Feature: "temperature"}, false},
		{errors.New("odd"), false},
	} {
		if got := l.From("m", c.err, known); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if !l.From("other", refusal("temperature"), known) || len(l.Refused("m")) != 1 {
		t.Error("what one model refuses is not what another one does")
	}
}
