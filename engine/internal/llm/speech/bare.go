package speech

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bare reads the channels of harmony where a server took their tokens away.
type bare struct{ *scanner }

// open begins thinking of a server that takes the tokens of channels away.
func (s bare) open() (taken, more bool) {
	for _, role := range []string{"assistantfinal", "assistantcommentary to=", "assistant\n"} {
		if yes, maybe := begins(s.held, role); yes {
			s.take(len(strings.TrimSuffix(role, "to=")))
			s.out.after = true
			return true, false
		} else if maybe {
			return false, true
		}
	}
	for _, channel := range []string{"analysis", "assistantanalysis"} {
		yes, maybe := begins(s.held, channel)
		if !yes && maybe {
			return false, true
		} else if !yes {
			continue
		}
		rest := s.held[len(channel):]
		if r, n := utf8.DecodeRuneInString(rest); n == 0 || !unicode.IsUpper(r) {
			return false, n == 0
		}
		usual := channel != "analysis" || thoughtStart.MatchString(rest)
		if !usual && (s.final || len(rest) < len("Provide ")) {
			return false, true
		}
		if usual {
			s.take(len(channel))
		}
		s.openThought()
		s.plain, s.guess = true, !usual
		return true, false
	}
	return false, false
}

// thoughtStart is how most thoughts of harmony begin. What else stands behind "analysis"
// may be the rest of a name: it is text if no channel follows it.
var thoughtStart = regexp.MustCompile(`^(?:The|This|They|There|We|User|Need|It|I|Let|So|Ok(?:ay)?|Just|Simple|Provide|Answer)\b.`)

// bareChannels begin a channel whose tokens were taken away.
var bareChannels = []string{"assistantfinal", "assistantcommentary", "assistantanalysis"}

// channel finds the next channel without its tokens in the first n bytes, in all for
// -1. The name is empty when too little is held to tell; at is behind them where none begins.
func (s bare) channel(n int) (at int, name string) {
	if n < 0 {
		n = len(s.held)
	}
	for at = range n {
		for _, channel := range bareChannels {
			yes, maybe := begins(s.held[at:], channel)
			switch {
			case yes:
				return at, channel
			case maybe && !s.final:
				return at, ""
			}
		}
	}
	return n, ""
}

// begin begins a channel whose tokens were taken away.
func (s bare) begin(name string) {
	s.take(len(name))
	if name == "assistantanalysis" {
		s.openThought()
		s.plain = true
		return
	}
	s.leaveThought()
}

// think takes in thinking up to plain words for its end.
func (s bare) think() bool {
	at, name := s.channel(-1)
	if at == 0 && name != "" {
		s.begin(name)
		return true
	}
	return s.thinks(at)
}
