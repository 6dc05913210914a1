package probe

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/model"
	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
)

// answers is a server that gives fixed answers by path. A POST's body is part
// of the path.
func answers(t *testing.T, byPath map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer, ok := byPath[r.URL.Path+string(body)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, answer) // the client may be gone
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestDetectLocal(t *testing.T) {
	ollama := answers(t, map[string]string{
		"/api/tags":                     `{"models":[{"name":"small:1b","size":1},{"name":"phi:14b","size":9},{"name":"qwen3:8b","size":5}]}`,
		`/api/show{"model":"phi:14b"}`:  `{"capabilities":["completion"]}`,
		`/api/show{"model":"qwen3:8b"}`: `{"capabilities":["completion","tools"]}`,
		`/api/show{"model":"small:1b"}`: `{"capabilities":["tools"]}`,
	})
	studio := answers(t, map[string]string{"/v1/models": `{"data":[{"id":"text-embedding-nomic"},{"id":"gemma"}]}`})
	llama := answers(t, map[string]string{"/props": `{"default_generation_settings":{"n_ctx":8192}}`, "/v1/models": `{"data":[{"id":"q.gguf"}]}`})
	vllm := answers(t, map[string]string{"/v1/models": `{"data":[{"id":"org/model","max_model_len":16384}]}`})
	d := detector{httpclient.New(httpclient.Options{}), []server{
		{"ollama", "Ollama", ollama, findOllama}, {"lmstudio", "LM Studio", studio, findLMStudio},
		{"llamacpp", "llama.cpp", llama, findLlamaCPP}, {"vllm", "vLLM", vllm, findVLLM},
	}}
	model := func(provider, address, name string, window int) settings.Model {
		return settings.Model{Provider: provider, Type: "openai", BaseURL: "http://" + address + "/v1", Name: name, ContextBudget: window}
	}
	native := model("ollama", ollama, "qwen3:8b", 0)
	native.Type, native.BaseURL = "ollama", "http://"+ollama
	want := []Detected{
		{native, "Ollama at " + ollama + ", qwen3:8b", true},
		{model("lmstudio", studio, "gemma", 0), "LM Studio at " + studio + ", gemma", true},
		{model("llamacpp", llama, "q.gguf", 8192), "llama.cpp at " + llama + ", q.gguf", true},
		{model("vllm", vllm, "org/model", 16384), "vLLM at " + vllm + ", org/model", true},
	}
	if diff := cmp.Diff(want, d.local(t.Context())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDetectIgnoresOtherServers(t *testing.T) {
	silent := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer hangs.Close()
	defer close(silent)
	page := answers(t, map[string]string{"/api/tags": "<html>", "/props": "{}", "/v1/models": `{"data":[{"id":"x"}]}`})
	d := detector{httpclient.New(httpclient.Options{}), []server{
		{"ollama", "Ollama", page, findOllama}, {"lmstudio", "LM Studio", strings.TrimPrefix(hangs.URL, "http://"), findLMStudio},
		{"llamacpp", "llama.cpp", page, findLlamaCPP}, {"vllm", "vLLM", page, findVLLM}, {"gone", "Gone", "127.0.0.1:1", findVLLM},
	}}
	start := time.Now()
	if found := d.local(t.Context()); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
	if took := time.Since(start); took > 10*detectTimeout {
		t.Errorf("took %v", took)
	}
}

func TestDetectKeys(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "k1", "GROQ_API_KEY": " k2 ", "MISTRAL_API_KEY": " "}
	found := fromKeys(func(name string) string { return env[name] })
	if len(found) != 2 || found[0].Model.APIKey != "k1" || found[1].Model.APIKey != "k2" || found[0].Local {
		t.Fatalf("found %+v", found)
	}
	for _, d := range found {
		if _, err := model.NewProvider(d.Model, http.DefaultClient, 0, nil); err != nil || strings.Contains(d.Title, d.Model.APIKey) {
			t.Errorf("%s: %v", d.Title, err)
		}
	}
	raw, err := json.Marshal(found[0].Title)
	if err != nil || string(raw) != `"OpenAI, gpt-5-mini, with the key in OPENAI_API_KEY"` {
		t.Errorf("%v %s", err, raw)
	}
}
