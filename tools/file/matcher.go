package file

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"sync/atomic"
	"time"
)

// matchBudget is how long a search may compare lines with its pattern, all
// readers together. Nothing can stop a comparison, so lines are short and the
// budget is looked at between them.
const matchBudget = 2 * time.Second

// matcher compares lines with a regular expression. It may be used from several
// goroutines.
type matcher struct {
	expression *regexp.Regexp
	// needed is a text that every match has. Looking for it is so much cheaper
	// than comparing that most lines cost nearly nothing.
	needed []byte
	used   atomic.Int64 // nanoseconds
}

func newMatcher(expression *regexp.Regexp) *matcher {
	m := &matcher{expression: expression}
	if tree, err := syntax.Parse(expression.String(), syntax.Perl); err == nil {
		m.needed = []byte(needed(tree))
	}
	return m
}

// find returns where a line matches first.
func (m *matcher) find(line []byte) (at int, ok bool) {
	if !bytes.Contains(line, m.needed) {
		return 0, false
	}
	begun := time.Now()
	found := m.expression.FindIndex(line)
	m.used.Add(int64(time.Since(begun)))
	if found == nil {
		return 0, false
	}
	return found[0], true
}

// spent reports whether the budget is used up.
func (m *matcher) spent() bool { return time.Duration(m.used.Load()) >= matchBudget }

// needed returns the longest text that is known to be in every match.
func needed(e *syntax.Regexp) string {
	switch e.Op {
	case syntax.OpLiteral:
		if e.Flags&syntax.FoldCase == 0 {
			return string(e.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return needed(e.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range e.Sub {
			if text := needed(sub); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}
