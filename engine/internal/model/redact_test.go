package model

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
)

// heard is a provider that keeps the last request.
type heard struct {
	llm.Provider
	last llm.Request
}

func (h *heard) Stream(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Result, error) {
	h.last = r
	return llm.Result{}, nil
}

// TestNewSecretInKnownTool adds a secret after a tool was declared without it: what was
// searched before must be searched again.
func TestNewSecretInKnownTool(t *testing.T) {
	var secrets redact.Set
	h := &heard{}
	p := discreet{h, &secrets, newCleanTools()}
	r := llm.Request{Tools: []llm.Tool{{Name: "x", Description: "says abcdef-123456", Parameters: json.RawMessage(`{"type":"object","title":"zyxwvu-654321"}`)}}}
	for _, secret := range []string{"", "abcdef-123456", "zyxwvu-654321"} {
		if secret != "" {
			secrets.Add(secret)
		}
		for range 2 { // the second time from what is kept
			if _, err := p.Stream(t.Context(), r, nil); err != nil {
				t.Fatal(err)
			}
			sent := h.last.Tools[0].Description + string(h.last.Tools[0].Parameters)
			if secret != "" && (strings.Contains(sent, secret) || !strings.Contains(sent, redact.Mask)) {
				t.Errorf("%q was sent: %s", secret, sent)
			}
			if secret == "" && sent != r.Tools[0].Description+string(r.Tools[0].Parameters) {
				t.Errorf("a tool without secrets was changed: %s", sent)
			}
		}
	}
	if !strings.Contains(r.Tools[0].Description, "abcdef") {
		t.Error("the caller's request was changed")
	}
}
