package git

import (
	"errors"
	"strings"
	"unicode"

	"klawbot/tools"
)

// denied refuses what is not safe.
func denied(text string) error { return &tools.Refusal{Kind: tools.Security, Text: text} }

// invalid refuses what git would not understand.
func invalid(text string) error { return &tools.Refusal{Kind: tools.Validation, Text: text} }

func failed(err error) *tools.Result {
	var r *tools.Refusal
	if !errors.As(err, &r) {
		r = &tools.Refusal{Kind: tools.Execution, Text: "git: " + err.Error()}
	}
	result := tools.Fail(r.Kind, masked(r.Text))
	return &result
}

// maxExtra is the longest text of extra, in bytes.
const maxExtra = 8 << 10

// splitWords splits extra like a shell, with quotes and backslashes. Nothing is
// expanded: every other character is literal.
func splitWords(extra string) ([]string, error) {
	if len(extra) > maxExtra {
		return nil, invalid("extra is too long; at most 8192 bytes")
	}
	for _, c := range extra {
		if unicode.IsControl(c) && c != '\n' && c != '\t' || c == unicode.ReplacementChar {
			return nil, invalid("extra holds a control character")
		}
	}
	var s splitter
	for _, c := range extra {
		s.put(c)
	}
	if s.quote != 0 || s.escaped {
		return nil, invalid("extra has a quote or a backslash that is not closed")
	}
	s.end()
	return s.words, nil
}

// splitter is the state between two characters.
type splitter struct {
	words   []string
	word    strings.Builder
	started bool
	quote   rune
	escaped bool
}

func (s *splitter) put(c rune) {
	switch {
	case s.escaped:
		s.escaped = false
		if s.quote == '"' && !strings.ContainsRune("\"\\$`\n", c) {
			s.word.WriteRune('\\')
		}
		if c != '\n' {
			s.word.WriteRune(c)
		}
	case c == '\\' && s.quote != '\'':
		s.escaped, s.started = true, true
	case s.quote != 0 && c == s.quote:
		s.quote = 0
	case s.quote != 0:
		s.word.WriteRune(c)
	case c == '\'' || c == '"':
		s.quote, s.started = c, true
	case c == ' ' || c == '\t' || c == '\n':
		s.end()
	default:
		s.started = true
		s.word.WriteRune(c)
	}
}

func (s *splitter) end() {
	if s.started {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.started = false
}
