package protocol

import (
	"strings"
	"unicode/utf8"
)

// thinkTags are the pairs that models put around their thinking.
var thinkTags = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<seed:think>", "</seed:think>"}}

// splitter parts thinking in tags at the start of a message from the text after
// it, however the pieces are cut. Elsewhere the tags are text like any other.
type splitter struct {
	state splitState
	close string
	held  string // what may be the beginning of a tag
}

type splitState int

const (
	beforeText splitState = iota
	inThinking
	afterClose // the blank lines behind the thinking are left out
	inText
)

// add takes a piece and returns what is certain by now.
func (s *splitter) add(piece string) (thought, said string) {
	s.held += piece
	for {
		before := s.state
		t, r := s.step()
		thought, said = thought+t, said+r
		if s.state == before {
			return thought, said
		}
	}
}

func (s *splitter) step() (thought, said string) {
	switch s.state {
	case beforeText:
		s.begin()
	case inThinking:
		return s.think(), ""
	case afterClose:
		if s.held = strings.TrimLeft(s.held, " \t\r\n"); s.held != "" {
			s.state = inText
		}
	case inText:
		said, s.held = s.held, ""
	}
	return "", said
}

// begin waits until it is clear whether the message begins with a tag.
func (s *splitter) begin() {
	start := strings.TrimLeft(s.held, " \t\r\n")
	for _, tag := range thinkTags {
		if rest, ok := strings.CutPrefix(start, tag[0]); ok {
			s.state, s.close, s.held = inThinking, tag[1], rest
			return
		}
		if strings.HasPrefix(tag[0], start) {
			return
		}
	}
	s.state = inText
}

// think returns thinking up to the closing tag, keeping back what may be one. A
// tag between back quotes is talked about, not meant.
func (s *splitter) think() string {
	from := 0
	for {
		i := strings.Index(s.held[from:], s.close)
		if i < 0 {
			break
		}
		i += from
		end := i + len(s.close)
		if i > 0 && s.held[i-1] == '`' {
			if end == len(s.held) { // the next byte decides
				return s.release(i-1, from)
			}
			if s.held[end] == '`' {
				from = end
				continue
			}
		}
		thought := s.held[:i]
		s.held, s.state = s.held[end:], afterClose
		return thought
	}
	// One byte more than a tag is kept, to see the back quote before it.
	return s.release(len(s.held)-len(s.close), from)
}

// release returns what is held up to a rune near n, but not less than least.
func (s *splitter) release(n, least int) string {
	n = max(n, least)
	for n > least && n < len(s.held) && !utf8.RuneStart(s.held[n]) {
		n--
	}
	thought := s.held[:n]
	s.held = s.held[n:]
	return thought
}

// rest returns what was held back, when the message has ended. Thinking that
// never closed is thinking all the same.
func (s *splitter) rest() (thought, said string) {
	held := s.held
	s.held = ""
	if s.state == inThinking {
		return held, ""
	}
	return "", held
}

// strayClose parts a text at a closing tag that nothing opened: the template of
// the model had opened it. A tag inside code is left alone.
func strayClose(said string) (thought, rest string, ok bool) {
	for _, tag := range thinkTags {
		i := strings.Index(said, tag[1])
		if i < 0 || strings.Count(said[:i], "`")%2 == 1 || strings.Contains(said[:i], tag[0]) {
			continue
		}
		return strings.TrimSpace(said[:i]), strings.TrimLeft(said[i+len(tag[1]):], " \t\r\n"), true
	}
	return "", said, false
}
