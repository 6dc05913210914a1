package speech

import (
	"strings"
	"unicode/utf8"
)

// strayClose leaves a closing tag out that nothing opened. What stands before it was
// thinking; that is for Speech to say, since it is out already.
func (s *scanner) strayClose(m marker, at place) (taken, more bool) {
	if s.seen.named > 0 {
		s.seen.named--
		return false, false
	}
	if at == inside || at == behind {
		r, more := s.next(m.size)
		if more || r != '\n' && r != 0 || strings.Contains(s.out.line, "<") {
			return false, more
		}
	} else if at == attached {
		last, _ := utf8.DecodeLastRuneInString(s.out.line)
		r, more := s.next(m.size)
		if more || strings.ContainsRune(",", last) || strings.ContainsRune(",.;", r) && r != 0 {
			return false, more
		}
	}
	s.take(m.size)
	s.stray()
	return true, false
}

// stray is called behind a closing tag that nothing opened.
func (s *scanner) stray() {
	if s.out.after, s.out.block = true, true; s.seen.thinker && s.seen.nested == 0 {
		return
	}
	s.seen.nested = 0
	s.emit(strayMark)
	s.out.said, s.out.line, s.out.tail, s.seen.thinker = false, "", "", true
}

// strayMark tells Speech where a stray closing tag stood; no model can write it.
const strayMark = "\xFF"

// unsaidMark tells Speech that what was said so far is thinking.
const unsaidMark = "\xFE"

// openThought begins thinking.
func (s *scanner) openThought() {
	if s.thought.Len() > 0 { // blocks of thinking are paragraphs
		s.ponder("\n\n")
	}
	s.thought.Reset()
	s.mode, s.plain, s.doubtful = inThought, false, 0
	s.seen.thinker = true
}

// think takes in thinking up to its end.
func (s *scanner) think() bool {
	if s.plain {
		return bare{s}.think()
	}
	i := strings.IndexAny(s.held, "<[◁")
	if i < 0 {
		return s.thinks(len(s.held))
	}
	// The sign before a tag says whether it is quoted.
	if i > 0 {
		return s.thinks(i)
	}
	m, more := readMarker(s.held)
	if more && !s.final {
		return false
	}
	thought := s.thought.String()
	quotedTag := thought != "" && strings.ContainsRune("`\"'“", lastRune(thought))
	switch {
	case m.kind == noMarker || quotedTag:
		return s.thinks(max(m.size, 1))
	case m.kind == thinkMarker && m.close:
		return s.closeThought(m, thought)
	case m.kind == thinkMarker && !m.close && !s.guess && strings.TrimSpace(thought) == "":
		s.seen.nested++ // the template may have opened it, too
		return s.thinks(m.size)
	case m.kind == thinkMarker && s.guess && strings.TrimSpace(thought) == "":
		s.guess = false
		s.take(m.size)
	case m.kind == roleMarker || m.kind == channelMarker:
		s.take(m.size)
		s.leaveThought()
		s.act(m)
	case m.kind == stopMarker || m.kind == endMarker && m.name != "s":
		s.take(m.size)
		s.leaveThought()
	default:
		return s.thinks(m.size)
	}
	return true
}

// thinks lets n bytes out as thinking.
func (s *scanner) thinks(n int) bool {
	if n < len(s.held) && n > 0 {
		for n < len(s.held) && !utf8.RuneStart(s.held[n]) {
			n++
		}
	}
	piece := s.take(n)
	if piece == "" {
		return false
	}
	s.thought.WriteString(piece)
	if !s.guess {
		s.ponder(piece)
	}
	return true
}

// native says that thinking comes apart from the text.
func (s *scanner) native() {
	s.seen.thinker = true
	if s.guess && s.thought.Len() == 0 {
		s.mode, s.guess = inText, false
	}
}

// closeThought ends thinking, unless it only mentions the tag. That is in doubt when
// the tag stands between two words.
func (s *scanner) closeThought(m marker, thought string) bool {
	if strings.HasSuffix(thought, " ") {
		rest := s.held[m.size:]
		if rest == "" && !s.final {
			return false
		}
		r, _ := utf8.DecodeRuneInString(rest)
		if r == ' ' || r == ',' || r == '.' {
			s.thinks(m.size)
			s.doubtful = s.thought.Len()
			return true
		}
	}
	s.take(m.size)
	s.leaveThought()
	return true
}

func (s *scanner) leaveThought() {
	if s.guess {
		s.guess = false
		s.ponder(s.thought.String())
	}
	s.mode, s.out.after, s.out.block, s.doubtful = inText, true, true, 0
}
