// Package redact takes secrets out of text, by value: whoever reads a key from
// the configuration adds it here, and every log line, error and outgoing text
// is passed through. Patterns catch keys that nobody announced. It knows
// nothing about where text goes.
package redact

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
)

// Mask stands where a secret stood.
const Mask = "[redacted]"

// Bars stand where AlignedJSON and AlignedKnownJSON took a secret away, as many characters as it had. They
// are not what a person would write.
const Bars = "█░█░█░"

const (
	// minLength keeps short values from being masked all over the text.
	minLength = 6
	// minLetters is how many letters and digits a value must have to be found
	// whatever stands between them.
	minLetters = 12
)

// Set is a set of known secrets. The zero value is ready and only knows the
// patterns. It may be used from several goroutines.
type Set struct {
	mu sync.RWMutex
	// values are looked for as they are, letters without what is neither a letter
	// nor a digit. Guarded by mu, and replaced as a whole.
	values, letters []string
}

// Add makes values known as secrets, also as they stand in an address and in
// JSON. Blank and very short ones are ignored.
func (s *Set) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, letters := slices.Clone(s.values), slices.Clone(s.letters)
	for _, v := range values {
		if len(v) < minLength {
			continue
		}
		for _, form := range forms(v) {
			if !slices.Contains(all, form) {
				all = append(all, form)
			}
			if l := alphanumeric.keep(form); len(l) >= minLetters && !slices.Contains(letters, l) {
				letters = append(letters, l)
			}
		}
	}
	s.values, s.letters = all, letters
}

// forms are the ways in which a value is written.
func forms(v string) []string {
	return []string{v, url.QueryEscape(v), url.PathEscape(v), quote(v, false), quote(v, true)}
}

func quote(text string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(text) // a string can be encoded, and a Buffer takes it
	return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n")[1:], `"`)
}

// Size is how many values are looked for. It only grows: what was clean for a size is
// clean until the size is another one.
func (s *Set) Size() int {
	values, _ := s.known()
	return len(values)
}

func (s *Set) known() (values, letters []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.values, s.letters
}

// Text returns text without secrets: without known values, whatever stands
// between the letters and digits of a long one, and without what the patterns
// find. Characters that cannot be seen hide nothing.
func (s *Set) Text(text string) string { return Replace(text, s.Find(text), mask) }

// Known is Text for known values only.
func (s *Set) Known(text string) string { return Replace(text, s.findKnown(text), mask) }

func mask(string) string { return Mask }

// JSON returns a JSON text whose strings hold no secrets; nothing else of it
// changes. What is no JSON is taken as text.
func (s *Set) JSON(raw []byte) []byte { return eachString(raw, s.Text) }

// KnownJSON is JSON for known values only.
func (s *Set) KnownJSON(raw []byte) []byte { return eachString(raw, s.Known) }

// AlignedJSON is JSON that keeps every string as long as it was, in UTF-16 code
// units, so that offsets into it stay right.
func (s *Set) AlignedJSON(raw []byte) []byte {
	return eachString(raw, func(text string) string { return Replace(text, s.Find(text), bars) })
}

// AlignedKnownJSON is AlignedJSON for known values only.
func (s *Set) AlignedKnownJSON(raw []byte) []byte {
	return eachString(raw, func(text string) string { return Replace(text, s.findKnown(text), bars) })
}

func bars(secret string) string {
	n := len(utf16.Encode([]rune(secret)))
	return string([]rune(strings.Repeat(Bars, n/6+1))[:n])
}

// Address reports whether an address leads a secret away, also percent-encoded.
func (s *Set) Address(address string) bool {
	for range 3 { // an address may be part of another one
		if len(s.Find(address)) > 0 {
			return true
		}
		decoded := percentDecoded(address)
		if decoded == address {
			return false
		}
		address = decoded
	}
	return len(s.Find(address)) > 0
}

// percentDecoded is an address with its escapes decoded, those that are any.
func percentDecoded(address string) string {
	var b strings.Builder
	for i := 0; i < len(address); i++ {
		if i+2 < len(address) && address[i] == '%' {
			if c, err := url.PathUnescape(address[i : i+3]); err == nil {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(address[i])
	}
	return b.String()
}

// eachString returns a JSON text with each string changed by clean.
func eachString(raw []byte, clean func(string) string) []byte {
	if !looksLikeJSON(raw) {
		if text := string(raw); clean(text) != text {
			return []byte(clean(text))
		}
		return raw
	}
	out := raw
	changed := 0 // how much longer out is than raw so far
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := i + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		literal := raw[i : end+1]
		if now := cleanString(literal, clean); now != nil {
			if changed == 0 && &out[0] == &raw[0] {
				out = bytes.Clone(raw)
			}
			out = slices.Replace(out, i+changed, i+changed+len(literal), now...)
			changed += len(now) - len(literal)
		}
		i = end
	}
	return out
}

// cleanString is a string of a JSON text as clean wants it, nil when it stays. A
// JSON text in a string is changed like the one around it.
func cleanString(literal []byte, clean func(string) string) []byte {
	text := string(literal[1 : len(literal)-1])
	if bytes.IndexByte(literal, '\\') >= 0 {
		if json.Unmarshal(literal, &text) != nil {
			return nil
		}
	}
	now := string(eachString([]byte(text), clean))
	if now == text {
		return nil
	}
	return []byte(`"` + quote(now, false) + `"`)
}

func looksLikeJSON(raw []byte) bool {
	head := bytes.TrimLeft(raw, " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[' || head[0] == '"') && json.Valid(raw)
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
