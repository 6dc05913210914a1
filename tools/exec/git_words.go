package exec

import (
	"errors"
	"strings"
	"unicode"

	"klawbot/tools"
)

// gitDenied refuses what is not safe.
func gitDenied(text string) error { return &refusalError{tools.Security, text} }

// gitInvalid refuses what git would not understand.
func gitInvalid(text string) error { return &refusalError{tools.Validation, text} }

func gitFailed(err error) *tools.Result {
	var r *refusalError
	if !errors.As(err, &r) {
		r = &refusalError{tools.Execution, "git: " + err.Error()}
	}
	result := tools.Fail(r.kind, gitMasked(r.text))
	return &result
}

// maxGitExtra is the longest text of extra, in bytes.
const maxGitExtra = 8 << 10

// gitWords splits extra like a shell, with quotes and backslashes. Nothing is
// expanded: every other sign stands for itself.
func gitWords(extra string) ([]string, error) {
	if len(extra) > maxGitExtra {
		return nil, gitInvalid("extra is too long; at most 8192 bytes")
	}
	for _, c := range extra {
		if unicode.IsControl(c) && c != '\n' && c != '\t' || c == unicode.ReplacementChar {
			return nil, gitInvalid("extra holds a control character")
		}
	}
	var s gitSplitter
	for _, c := range extra {
		s.put(c)
	}
	if s.quote != 0 || s.escaped {
		return nil, gitInvalid("extra has a quote or a backslash that is not closed")
	}
	s.end()
	return s.words, nil
}

// gitSplitter is the state between two characters.
type gitSplitter struct {
	words   []string
	word    strings.Builder
	started bool
	quote   rune
	escaped bool
}

func (s *gitSplitter) put(c rune) {
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

func (s *gitSplitter) end() {
	if s.started {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.started = false
}
