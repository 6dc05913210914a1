package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"klawbot/engine/internal/llm"
)

// Learned are the parameters that models refused while the process runs. The
// zero value is ready, and may be used from several goroutines.
type Learned struct {
	mu      sync.Mutex
	refused map[string][]string // guarded by mu; by model
}

// From learns from an error and reports whether to ask again: known says
// whether the client can do without a feature. Each is learned once, so this
// ends.
func (l *Learned) From(model string, err error, known func(feature string) bool) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Unsupported || e.Started || !known(e.Feature) {
		return false
	}
	return l.Note(model, e.Feature)
}

// OpenedThinking is noted of a model whose template begins its thinking.
const OpenedThinking = "opened thinking"

// Note remembers something of a model, and reports whether it is new.
func (l *Learned) Note(model, feature string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.refused[model], feature) {
		return false
	}
	if l.refused == nil {
		l.refused = map[string][]string{}
	}
	l.refused[model] = append(l.refused[model], feature)
	return true
}

// Refused lists what a model refused.
func (l *Learned) Refused(model string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.refused[model])
}

// Override sets the fields of a client's compat that the configuration names.
// An unknown one is an error.
func Override(into any, fields json.RawMessage) error {
	if len(fields) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(fields))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	return nil
}

// Local reports whether a host is this machine or its network.
func Local(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}

// Under reports whether a host is a domain or below it.
func Under(host, domain string) bool {
	host = strings.ToLower(host)
	return host == domain || strings.HasSuffix(host, "."+domain)
}
