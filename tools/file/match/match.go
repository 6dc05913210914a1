// Package match compares names and lines with patterns that a model wrote, within
// a time limit. Composed and decomposed letters (NFC and NFD) are the same.
package match

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"klawbot/tools/budget"
)

// alike are characters of names that look like those of a keyboard: Macs put U+202F into
// the names of screenshots.
var alike = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'")

// Form is the form in which names are compared: two names with the same form look the same.
func Form(name string) string { return alike.Replace(norm.NFC.String(name)) }

// Varies reports whether other names can have the same form.
func Varies(name string) bool {
	return strings.ContainsAny(name, " '") || name != Form(name) || name != norm.NFD.String(name)
}

// Budget is how long one matcher may compare. A comparison cannot be stopped, so
// callers ask Spent between lines.
const Budget = 2 * time.Second

// Matcher compares lines or names with a pattern, from several goroutines.
type Matcher struct {
	expression *budget.Pattern
	// needed is a text that is in every match, in lower case and in any case if
	// fold is set. Searching for it first is much cheaper than comparing.
	needed []byte
	fold   bool
	used   atomic.Int64 // nanoseconds
}

// Regex compiles a regular expression (RE2).
func Regex(pattern string) (*Matcher, error) {
	expression, err := budget.Compile(norm.NFC.String(pattern))
	if err != nil {
		return nil, err
	}
	return New(expression), nil
}

// New makes a Matcher of an expression.
func New(expression *budget.Pattern) *Matcher {
	m := &Matcher{expression: expression}
	if tree, err := syntax.Parse(expression.String(), syntax.Perl); err == nil {
		text, fold := needed(tree)
		m.needed, m.fold = []byte(text), fold
	}
	return m
}

// mayMatch reports whether it is worth comparing a line.
func (m *Matcher) mayMatch(line []byte) bool {
	if m.fold {
		return containsFold(line, m.needed)
	}
	return bytes.Contains(line, m.needed)
}

// containsFold reports whether a line may contain a text of lower-case ASCII
// letters in any case. Letters beyond ASCII can fold to them (K, the Kelvin sign).
func containsFold(line, text []byte) bool {
	for i, c := range line {
		if c >= utf8.RuneSelf {
			return true
		}
		if lower(c) == text[0] && len(line)-i >= len(text) && bytes.EqualFold(line[i:i+len(text)], text) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Find returns where a line, in NFC, first matches.
func (m *Matcher) Find(line []byte) (at int, ok bool) {
	if !m.fold && !m.mayMatch(line) {
		return 0, false
	}
	begun := time.Now()
	defer func() { m.used.Add(int64(time.Since(begun))) }()
	if m.fold && !m.mayMatch(line) {
		return 0, false
	}
	found := m.expression.FindIndex(line)
	if found == nil {
		return 0, false
	}
	return found[0], true
}

// Spent reports whether the time is used up. A nil Matcher needs none.
func (m *Matcher) Spent() bool { return m != nil && time.Duration(m.used.Load()) >= Budget }

// needed is the longest text that is in every match. With fold it is ASCII and
// may stand there in any case.
func needed(e *syntax.Regexp) (text string, fold bool) {
	switch e.Op {
	case syntax.OpLiteral:
		text, fold = string(e.Rune), e.Flags&syntax.FoldCase != 0
		if !fold {
			return text, false
		}
		if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			return strings.ToLower(text), true
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return needed(e.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			if t, f := needed(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
		return text, fold
	}
	return "", false
}
