package openai_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/engine/internal/llm/openai"
)

var update = flag.Bool("update", false, "write what comes out into the .want files")

const canary = llmtest.Key

// newClient returns a client whose requests f answers.
func newClient(t *testing.T, c llm.Config, f llmtest.RoundTrip) *openai.Client {
	t.Helper()
	if c.BaseURL == "" {
		c.BaseURL = "https://model.example/v1"
	}
	return withHTTP(t, c, llmtest.Client(f))
}

// TestQuirks plays every fixture, whole and byte by byte.
func TestQuirks(t *testing.T) {
	llmtest.Quirks(t, "testdata/quirks", 100, *update, func(t *testing.T, client *http.Client, compat json.RawMessage) llm.Provider {
		return withHTTP(t, llm.Config{BaseURL: "https://model.example/v1", Compat: compat}, client)
	})
}
