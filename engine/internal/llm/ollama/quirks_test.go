package ollama_test

import (
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/engine/internal/llm/ollama"
)

var update = flag.Bool("update", false, "write what comes out into the .want files")

// newClient returns a client with the test's key.
func newClient(t *testing.T, c llm.Config) *ollama.Client {
	t.Helper()
	c.Provider, c.APIKey, c.Log = "p", llmtest.Key, slog.New(slog.DiscardHandler)
	client, err := ollama.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestQuirks plays every fixture, whole and byte by byte.
func TestQuirks(t *testing.T) {
	llmtest.Quirks(t, "testdata/quirks", 34, *update, func(t *testing.T, client *http.Client, compat json.RawMessage) llm.Provider {
		return newClient(t, llm.Config{HTTP: client, Compat: compat})
	})
}
