// Package redact takes secrets out of text, by value: whoever reads a key from
// the configuration adds it here, and every log line, error and outgoing text
// is passed through. Patterns catch keys that nobody announced. It knows
// nothing about where text goes.
package redact

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask stands where a secret stood.
const Mask = "[redacted]"

// minLength keeps short values from being masked all over the text.
const minLength = 6

// Set is a set of known secrets. The zero value is ready and only knows the
// patterns. It may be used from several goroutines.
type Set struct {
	mu       sync.RWMutex
	values   []string // guarded by mu; longest first
	replacer *strings.Replacer
}

// patterns are the shapes of keys that are secret wherever they stand: bot
// tokens of Telegram, keys of model providers, bearer headers, and names with
// passwords in addresses.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`\d{6,12}:[A-Za-z0-9_-]{30,}`),
	regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*`),
}

var userinfo = regexp.MustCompile(`(://)[^\s/:@]+:[^\s/@]+@`)

// Add makes values known as secrets. Blank and very short ones are ignored.
func (s *Set) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v)} {
			if len(form) >= minLength && !slices.Contains(s.values, form) {
				s.values = append(s.values, form)
			}
		}
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(s.values))
	for _, v := range s.values {
		pairs = append(pairs, v, Mask)
	}
	s.replacer = strings.NewReplacer(pairs...)
}

// Text returns text without secrets.
func (s *Set) Text(text string) string {
	s.mu.RLock()
	r := s.replacer
	s.mu.RUnlock()
	if r != nil {
		text = r.Replace(text)
	}
	for _, p := range patterns {
		text = p.ReplaceAllString(text, Mask)
	}
	return userinfo.ReplaceAllString(text, "${1}"+Mask+"@")
}

// Error wraps err so that its text carries no secrets. errors.Is and errors.As
// still find what is inside.
func (s *Set) Error(err error) error {
	if err == nil {
		return nil
	}
	return &redacted{err: err, text: s.Text(err.Error())}
}

type redacted struct {
	err  error
	text string
}

func (e *redacted) Error() string { return e.text }

func (e *redacted) Unwrap() error { return e.err }

// Handler passes log records on to next without secrets in their message and
// attributes.
func (s *Set) Handler(next slog.Handler) slog.Handler { return &handler{set: s, next: next} }

type handler struct {
	set  *Set
	next slog.Handler
}

func (h *handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.set.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return &handler{h.set, h.next.WithAttrs(clean)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.set, h.next.WithGroup(name)}
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.set.Text(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, g := range v.Group() {
			group = append(group, h.attr(g))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		return slog.String(a.Key, h.set.Text(fmt.Sprint(v.Any())))
	}
	return slog.Attr{Key: a.Key, Value: v}
}
