package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/engine/settings"
)

// Detected is a model that Detect found.
type Detected struct {
	Model settings.Model
	// Title is a line for people: "Ollama at 127.0.0.1:11434, qwen3:8b".
	Title string
	// Local says that it runs on this machine: nothing said to it leaves.
	Local bool
}

// detectTimeout bounds the search: what runs here answers at once.
const detectTimeout = time.Second

// Detect looks for models that can be used without asking anybody: servers at
// their usual ports of the loopback, then keys in the environment. It takes at
// most a second, asks nothing beyond the loopback and changes nothing. An
// answer of a model is not tried; Probe does that.
func Detect(ctx context.Context, client *http.Client, getenv func(string) string) []Detected {
	d := detector{client, []server{
		{"ollama", "Ollama", "127.0.0.1:11434", findOllama},
		{"lmstudio", "LM Studio", "127.0.0.1:1234", findLMStudio},
		{"llamacpp", "llama.cpp", "127.0.0.1:8080", findLlamaCPP},
		{"vllm", "vLLM", "127.0.0.1:8000", findVLLM},
	}}
	return append(d.local(ctx), fromKeys(getenv)...)
}

// server is a kind of model server at its usual address.
type server struct {
	provider, title, address string
	// find returns the model to use and its context window, 0 for unknown;
	// an empty name means that there is none.
	find func(ctx context.Context, a asker) (name string, window int)
}

func (s server) model(name string, window int) settings.Model {
	m := settings.Model{Provider: s.provider, Type: "openai", BaseURL: "http://" + s.address + "/v1", Name: name, ContextBudget: window}
	if s.provider == "ollama" { // its own protocol says how large the window must be
		m.Type, m.BaseURL = "ollama", "http://"+s.address
	}
	return m
}

type detector struct {
	client  *http.Client
	servers []server
}

// local asks all servers at once and keeps their order.
func (d detector) local(ctx context.Context) []Detected {
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	names, windows := make([]string, len(d.servers)), make([]int, len(d.servers))
	var asking sync.WaitGroup
	for i, s := range d.servers {
		asking.Go(func() { names[i], windows[i] = s.find(ctx, asker{d.client, "http://" + s.address}) })
	}
	asking.Wait()
	var found []Detected
	for i, s := range d.servers {
		if names[i] == "" {
			continue
		}
		found = append(found, Detected{
			Model: s.model(names[i], windows[i]),
			Title: fmt.Sprintf("%s at %s, %s", s.title, s.address, names[i]),
			Local: true,
		})
	}
	return found
}

type asker struct {
	client *http.Client
	base   string
}

// maxDetectBody bounds what a server on a usual port may answer.
const maxDetectBody = 4 << 20

// ask decodes the JSON answer of a server and reports whether there was one. A
// question that is not nil is posted.
func (a asker) ask(ctx context.Context, path string, question, answer any) bool {
	method, body := http.MethodGet, []byte(nil)
	if question != nil {
		method = http.MethodPost
		var err error
		if body, err = json.Marshal(question); err != nil {
			return false
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return false
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(resp.Body, maxDetectBody)).Decode(answer) == nil
}

func findOllama(ctx context.Context, a asker) (string, int) {
	type model struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	}
	var tags struct {
		Models []model `json:"models"`
	}
	if !a.ask(ctx, "/api/tags", nil, &tags) {
		return "", 0
	}
	slices.SortStableFunc(tags.Models, func(x, y model) int { return cmp.Compare(y.Size, x.Size) })
	for _, m := range tags.Models {
		var show struct {
			Capabilities []string `json:"capabilities"`
		}
		question := struct {
			Model string `json:"model"`
		}{m.Name}
		if a.ask(ctx, "/api/show", question, &show) && slices.Contains(show.Capabilities, "tools") {
			return m.Name, 0
		}
	}
	return "", 0
}

// listed is what a server says about a model in its list.
type listed struct {
	ID     string `json:"id"`
	Window int    `json:"max_model_len"`
}

func (a asker) models(ctx context.Context) []listed {
	var list struct {
		Data []listed `json:"data"`
	}
	if !a.ask(ctx, "/v1/models", nil, &list) {
		return nil
	}
	return slices.DeleteFunc(list.Data, func(m listed) bool {
		return m.ID == "" || strings.Contains(strings.ToLower(m.ID), "embed")
	})
}

func findLMStudio(ctx context.Context, a asker) (string, int) {
	for _, m := range a.models(ctx) {
		return m.ID, 0
	}
	return "", 0
}

// findLlamaCPP asks for the properties first: anything may listen at 8080. The
// window there is the one of a slot, which counts.
func findLlamaCPP(ctx context.Context, a asker) (string, int) {
	var props struct {
		Settings *struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if !a.ask(ctx, "/props", nil, &props) || props.Settings == nil {
		return "", 0
	}
	for _, m := range a.models(ctx) {
		return m.ID, props.Settings.Window
	}
	return "", 0
}

// findVLLM wants the window in the list, which other servers do not state.
func findVLLM(ctx context.Context, a asker) (string, int) {
	for _, m := range a.models(ctx) {
		if m.Window > 0 {
			return m.ID, m.Window
		}
	}
	return "", 0
}

// hosted are the providers whose keys people keep in their environment, with a
// model that is able and not dear.
var hosted = []struct{ env, provider, kind, title, baseURL, model string }{
	{"OPENAI_API_KEY", "openai", "openai", "OpenAI", "https://api.openai.com/v1", "gpt-5-mini"},
	{"ANTHROPIC_API_KEY", "anthropic", "anthropic", "Anthropic", "https://api.anthropic.com", "claude-sonnet-4-5"},
	{"OPENROUTER_API_KEY", "openrouter", "openai", "OpenRouter", "https://openrouter.ai/api/v1", "openai/gpt-5-mini"},
	{"DEEPSEEK_API_KEY", "deepseek", "openai", "DeepSeek", "https://api.deepseek.com/v1", "deepseek-chat"},
	{"GEMINI_API_KEY", "gemini", "openai", "Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"},
	{"MISTRAL_API_KEY", "mistral", "openai", "Mistral", "https://api.mistral.ai/v1", "mistral-medium-latest"},
	{"GROQ_API_KEY", "groq", "openai", "Groq", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"},
}

// fromKeys lists the providers whose keys are there. The keys are not tried.
func fromKeys(getenv func(string) string) []Detected {
	var found []Detected
	for _, h := range hosted {
		key := strings.TrimSpace(getenv(h.env))
		if key == "" {
			continue
		}
		found = append(found, Detected{
			Model: settings.Model{Provider: h.provider, Type: h.kind, BaseURL: h.baseURL, APIKey: key, Name: h.model},
			Title: fmt.Sprintf("%s, %s, with the key in %s", h.title, h.model, h.env),
		})
	}
	return found
}
