package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
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
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.refused[model], e.Feature) {
		return false
	}
	if l.refused == nil {
		l.refused = map[string][]string{}
	}
	l.refused[model] = append(l.refused[model], e.Feature)
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

// thinkers are the families whose template leaves the tags in the text.
var thinkers = regexp.MustCompile(`(?i)qwen3|qwq|deepseek-?r1|\br1\b|glm-?(z1|4\.[5-9])|magistral|minimax-m|exaone-deep|smollm3|hunyuan|nemotron|phi-?4.*reasoning|seed-oss|gemma-?4|marco-o1|openthinker|cogito|lfm2.*thinking`)

// ThinkTags reports whether a model may begin with <think> in its text.
func ThinkTags(model string) bool { return thinkers.MatchString(model) }
