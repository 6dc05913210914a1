//go:build peers && linux

package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
	"klawbot/internal/llamatest"
)

// TestPeerIsDetected finds a real llama.cpp at an address that Detect would
// look at, and asks it what the setup asks a model.
func TestPeerIsDetected(t *testing.T) {
	s := llamatest.Start(t, 2048)
	client := httpclient.New(httpclient.Options{})
	defer client.CloseIdleConnections()
	address := s.Address()
	d := detector{client, []server{
		{"ollama", "Ollama", address, findOllama}, {"llamacpp", "llama.cpp", address, findLlamaCPP}, {"vllm", "vLLM", address, findVLLM},
	}}
	model := settings.Model{Provider: "llamacpp", Type: "openai", BaseURL: s.URL + "/v1", Name: llamatest.Model, ContextBudget: 2048}
	want := []Detected{{model, "llama.cpp at " + address + ", " + llamatest.Model, true}}
	if diff := cmp.Diff(want, d.local(t.Context())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := Check(t.Context(), client, model); err != nil {
		t.Errorf("check: %v", err)
	}
	model.MaxTokens = 16
	if answer, err := Ask(t.Context(), client, model); err != nil || answer == "" {
		t.Errorf("probe: %q, %v", answer, err)
	}
	model.Name = "other"
	if err := Check(t.Context(), client, model); err == nil || !strings.Contains(err.Error(), "it has "+llamatest.Model) {
		t.Errorf("check of a model that is not there: %v", err)
	}
	s.Kill()
	if found := d.local(t.Context()); len(found) != 0 {
		t.Errorf("found %+v, which is gone", found)
	}
	if _, err := Ask(t.Context(), client, model); err == nil || !strings.Contains(err.Error(), "is the server running") {
		t.Errorf("probe of a server that is gone: %v", err)
	}
}

// TestPeerIsFoundWhileItLoads asks a server that is not ready yet.
func TestPeerIsFoundWhileItLoads(t *testing.T) {
	s, loaded := llamatest.StartLoading(t, 1024)
	client := httpclient.New(httpclient.Options{})
	defer client.CloseIdleConnections()
	d := detector{client, []server{{"llamacpp", "llama.cpp", s.Address(), findLlamaCPP}}}
	if found := d.local(t.Context()); len(found) != 0 {
		t.Errorf("found %+v, which cannot answer yet", found)
	}
	model := settings.Model{Provider: "llamacpp", Type: "openai", BaseURL: s.URL + "/v1", Name: llamatest.Model}
	if _, err := Ask(t.Context(), client, model); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("probe: %v", err)
	}
	loaded()
	if found := d.local(t.Context()); len(found) != 1 || found[0].Model.ContextBudget != 1024 {
		t.Errorf("found %+v", found)
	}
}
