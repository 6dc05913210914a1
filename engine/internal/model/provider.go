package model

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/anthropic"
	"klawbot/engine/internal/llm/ollama"
	"klawbot/engine/internal/llm/openai"
	"klawbot/engine/internal/llm/script"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
)

// providers builds the provider of a model and keeps it while what it was built
// from stays the same, so that a reload of the configuration only rebuilds what
// changed: a provider knows what its models refused, a script how far it is.
type providers struct {
	http *http.Client
	log  *slog.Logger
	idle func() time.Duration
	// secrets are what no model is told.
	secrets *redact.Set
	// measure is Config.Measure.
	measure func(name string, p llm.Provider) llm.Provider

	mu   sync.Mutex
	kept map[string]built // guarded by mu; by endpoint
}

// built is a provider and what it was built from.
type built struct {
	from     string
	provider llm.Provider
}

// endpoint is what a provider is built from. How long an answer may be and what
// a request may take is said with each request.
type endpoint struct {
	Provider, Type, BaseURL, APIKey, Name string
	Compat                                map[string]any
	Idle                                  time.Duration
}

func (p *providers) get(m settings.Model) (llm.Provider, error) {
	idle := p.idle()
	from, err := json.Marshal(endpoint{m.Provider, m.Type, m.BaseURL, m.APIKey, m.Name, m.Compat, idle})
	if err != nil {
		return nil, fmt.Errorf("compat: %w", err)
	}
	name := m.Provider + "\x00" + m.Name
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.kept[name]; ok && b.from == string(from) {
		return b.provider, nil
	}
	provider, err := NewProvider(m, p.http, idle, p.log)
	if err != nil {
		return nil, err
	}
	provider = discreet{provider, p.secrets}
	if p.measure != nil {
		provider = p.measure(m.Provider, provider)
	}
	p.kept[name] = built{string(from), provider}
	return provider, nil
}

// NewProvider builds the provider of a model. It does not connect.
func NewProvider(m settings.Model, client *http.Client, idle time.Duration, log *slog.Logger) (llm.Provider, error) {
	compat, err := json.Marshal(m.Compat)
	if err != nil {
		return nil, fmt.Errorf("compat: %w", err)
	}
	c := llm.Config{Provider: m.Provider, BaseURL: m.BaseURL, APIKey: m.APIKey, HTTP: client, Compat: compat, IdleTimeout: idle, Log: log}
	switch m.Type {
	case "openai":
		return openai.New(c)
	case "anthropic":
		return anthropic.New(c)
	case "ollama":
		return ollama.New(c)
	case "script":
		return newScript(m.BaseURL)
	}
	return nil, fmt.Errorf("provider %s has the type %q; there are openai, anthropic, ollama and script", m.Provider, m.Type)
}

// newScript reads a script, or takes the demo's when there is no file.
func newScript(file string) (llm.Provider, error) {
	if file == "" {
		return script.Demo(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := script.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
