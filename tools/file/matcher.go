package file

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"klawbot/tools/budget"
)

// matchBudget is how long a search may compare lines with its pattern, all
// readers together. Nothing can stop a comparison, so lines are short and the
// budget is looked at between them.
const matchBudget = 2 * time.Second

// matcher compares lines, or names, with a regular expression, from several goroutines.
type matcher struct {
	expression *budget.Pattern
	// needed is a text that every match has; with fold, in any case and in
	// lower case here. Looking for it is so much cheaper than comparing that
	// most lines cost nearly nothing.
	needed []byte
	fold   bool
	used   atomic.Int64 // nanoseconds
}

func newMatcher(expression *budget.Pattern) *matcher {
	m := &matcher{expression: expression}
	if tree, err := syntax.Parse(expression.String(), syntax.Perl); err == nil {
		text, fold := needed(tree)
		m.needed, m.fold = []byte(text), fold
	}
	return m
}

// mayMatch reports whether it is worth comparing a line.
func (m *matcher) mayMatch(line []byte) bool {
	if m.fold {
		return containsFold(line, m.needed)
	}
	return bytes.Contains(line, m.needed)
}

// containsFold reports whether a line contains a text of lower ASCII letters in
// any case, or may do so: beyond ASCII there are letters that fold to them.
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

// find returns where a line matches first.
func (m *matcher) find(line []byte) (at int, ok bool) {
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

// spent reports whether the budget is used up. No matcher needs none.
func (m *matcher) spent() bool { return m != nil && time.Duration(m.used.Load()) >= matchBudget }

// needed returns the longest text that is known to be in every match; fold says
// that it is there in any case, and then it is ASCII.
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
