package speech

import (
	"encoding/json"
	"regexp"
	"strings"
)

// loose reads what stands for the whole answer: a call as a function, a call without its
// end, and a message of a protocol.
type loose struct{ *scanner }

// cutName is the name of a tool in a call that may have no end.
var cutName = regexp.MustCompile(`^\[?\s*\{\s*"(?:name|tool|tool_name|action)"\s*:\s*"([\w.:-]+)"`)

// cut takes in a call without its end: it is read if braces are all it lacks, and
// else kept back.
func (s loose) cut() bool {
	calls := readCalls(s.held, s.tools)
	name := cutName.FindStringSubmatch(s.held)
	if len(calls) == 0 && (name == nil || !declared(DeclaredName(name[1], s.tools), s.tools) || strings.Contains(s.held, "\n\n")) {
		return false
	}
	s.hidden = s.hidden || len(calls) == 0
	s.calls = append(s.calls, calls...)
	s.held = ""
	return true
}

// unwrap takes the text out of an answer that is a message of a protocol.
func (s loose) unwrap(end int) bool {
	var message map[string]string
	if s.out.said || json.Unmarshal([]byte(s.held[:end]), &message) != nil || len(message) != 2 || message["role"] != "assistant" || message["content"] == "" {
		return false
	}
	s.held = message["content"]
	return true
}

// open begins a call that is the whole answer: name(argument=value), name {…}.
func (s loose) open() (taken, more bool) {
	names := []string{"multi_tool_use.parallel"}
	for _, t := range s.tools {
		names = append(names, t.Name)
	}
	for _, name := range names {
		yes, maybe := begins(s.held, name)
		if more = more || maybe && !yes; !yes {
			continue
		}
		rest := strings.TrimLeft(s.held[len(name):], " \n")
		if rest == "" {
			return false, true
		}
		if rest[0] == '{' || strings.HasPrefix(s.held[len(name):], "(") {
			s.mode, s.value = inFunction, valueEnd{at: len(s.held) - len(rest)}
			return true, false
		}
	}
	return false, more
}

// function takes in a call that is the whole answer. What another text follows, or
// has no end, is text.
func (s loose) function() bool {
	whole := s.value.find(s.held)
	if !whole && !s.final && len(s.held) < maxHeld {
		return false
	}
	r, more := s.next(s.value.at)
	if whole && more || whole && r == '\n' && !s.final {
		return false
	}
	s.mode = inText
	if whole && strings.TrimSpace(s.held[s.value.at:]) == "" {
		if calls := readCalls(s.held, s.tools); len(calls) > 0 {
			s.calls, s.held = append(s.calls, calls...), ""
			return true
		}
	}
	return s.say(s.value.at)
}
