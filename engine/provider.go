package engine

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/openai"
)

// providers builds the provider of a model and keeps it while its
// configuration stays the same.
type providers struct {
	http *http.Client
	log  *slog.Logger
	idle func() time.Duration
	mu   sync.Mutex
	kept map[string]built
}

type built struct {
	model    Model
	idle     time.Duration
	provider llm.Provider
}

func (p *providers) get(m Model) (llm.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := m.Provider + "\x00" + m.Name
	if b, ok := p.kept[key]; ok && reflect.DeepEqual(b.model, m) && b.idle == p.idle() {
		return b.provider, nil
	}
	compat, err := json.Marshal(m.Compat)
	if err != nil {
		return nil, err
	}
	if m.Type != "openai" {
		return nil, fmt.Errorf("unknown type %q", m.Type)
	}
	c, err := openai.New(openai.Config{Provider: m.Provider, BaseURL: m.BaseURL, APIKey: m.APIKey, HTTP: p.http, Compat: compat, IdleTimeout: p.idle(), Log: p.log})
	if err != nil {
		return nil, err
	}
	p.kept[key] = built{m, p.idle(), c}
	return c, nil
}
