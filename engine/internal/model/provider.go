package model

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/anthropic"
	"klawbot/engine/internal/llm/ollama"
	"klawbot/engine/internal/llm/openai"
	"klawbot/engine/internal/llm/script"
	"klawbot/engine/internal/localmodel"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
	"klawbot/tools/sandbox"
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
	// dir is the data directory.
	dir string
	// measure is Config.Measure.
	measure func(name string, p llm.Provider) llm.Provider

	mu   sync.Mutex
	kept map[string]built // guarded by mu; by endpoint
}

// built is a provider and what it was built from.
type built struct {
	from     string
	provider llm.Provider
	// seer is the same without what counts its calls, nil where it cannot tell what sees.
	seer  llm.Seer
	close func()
	// local is the provider if it runs on this machine.
	local *localmodel.Model
}

// endpoint is what a provider is built from. How long an answer may be and what
// a request may take is said with each request.
type endpoint struct {
	Provider, Type, BaseURL, APIKey, Name string
	Compat                                map[string]any
	Idle                                  time.Duration
	Local                                 settings.Local
	Window                                int // of a model on this machine
}

func (p *providers) get(m settings.Model) (llm.Provider, error) {
	idle := p.idle()
	e := endpoint{m.Provider, m.Type, m.BaseURL, m.APIKey, m.Name, m.Compat, idle, m.Local, 0}
	if m.Type == Managed {
		m.Local.Dir = p.dir
		e.Window = m.Window()
	}
	from, err := json.Marshal(e)
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
	seer, _ := provider.(llm.Seer)
	old := p.kept[name].close
	kept := built{from: string(from), seer: seer, close: func() {}}
	if c, ok := provider.(interface{ Close() }); ok {
		kept.close = c.Close
	}
	kept.local, _ = provider.(*localmodel.Model)
	if old != nil {
		go old() // a model of this machine that is replaced may be at work
	}
	provider = discreet{provider, p.secrets, newCleanTools()}
	if p.measure != nil {
		provider = p.measure(m.Provider, provider)
	}
	kept.provider = provider
	p.kept[name] = kept
	return provider, nil
}

// local are the models that run on this machine, by provider.
func (p *providers) local() (states []localmodel.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.kept)) {
		if m := p.kept[name].local; m != nil {
			states = append(states, m.State())
		}
	}
	return states
}

// seer returns what knows whether a model sees, nil for nothing.
func (p *providers) seer(m settings.Model) (llm.Seer, error) {
	if _, err := p.get(m); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept[m.Provider+"\x00"+m.Name].seer, nil
}

// Close ends the models that run on this machine.
func (p *providers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.kept {
		b.close()
	}
}

// Managed is the type of a model that klawbot runs on this machine.
const Managed = "managed"

// NewProvider builds the provider of a model. It does not connect. One with a method
// Close holds a program and must be closed.
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
	case Managed:
		return newManaged(m, c), nil
	}
	return nil, fmt.Errorf("provider %s has the type %q; there are openai, anthropic, ollama, managed and script", m.Provider, m.Type)
}

// newManaged runs nothing yet. The caller closes such a provider.
func newManaged(m settings.Model, c llm.Config) *localmodel.Model {
	find := func() (program, weights string) { return localmodel.Find(m.Local.Dir, m.Local.Program, m.Name) }
	return localmodel.New(localmodel.Config{
		Provider: m.Provider, Find: find, Context: m.Window(), Threads: m.Local.Threads, Slots: m.Local.Slots,
		UnloadAfter: m.Local.UnloadAfter, Dir: filepath.Join(m.Local.Dir, "localmodel"),
		HTTP: c.HTTP, Idle: c.IdleTimeout, Runner: sandbox.Off(), Log: c.Log,
	})
}

// newScript reads a script, or takes the demo's without a file.
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
