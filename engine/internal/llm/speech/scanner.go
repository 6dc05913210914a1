package speech

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"klawbot/engine/internal/llm"
)

// scanner parts what a model writes into text, thinking and calls, however the
// pieces are cut. Code and what is said about a marker stay text.
type scanner struct {
	tools        []llm.Tool
	emit, ponder func(string)

	mode scanMode
	held string // not decided yet
	// final says that no more will come.
	final bool

	out  output
	seen seen

	fence  string // of the block of code that is open
	header string // of a message: its role and channel
	// plain says that the tokens of channels were taken away.
	plain bool
	// thought is the thinking that is open, from doubtful on perhaps no thinking.
	thought  strings.Builder
	doubtful int
	// guess says that it may turn out to be text.
	guess bool

	tool   string // whose arguments follow a label
	region region
	value  valueEnd
	calls  []Printed
	// hidden says that something was kept back that isn't thinking.
	hidden bool
}

// seen is what markers said before.
type seen struct {
	// thinker says that the model has thought before its text.
	thinker bool
	// struck says that <s> of HTML is open, wrapped that <answer> is.
	struck, wrapped bool
	// named is how many tags were opened that were only mentioned, nested how many
	// inside of thinking.
	named, nested int
	// reasons says that the text so far is a thought of ReAct.
	reasons bool
}

type scanMode int

const (
	inText scanMode = iota
	inFence
	inThought
	inHeader
	inRegion
	inValue    // JSON that may be a call
	inFunction // name(…) that may be a call
	inInput    // arguments behind a label
	inBlock    // a block of code that may be a call
	skipping   // what others are made to say
	scanEnded  // nothing more belongs to the answer
)

// maxHeld is where what may be a call becomes too long to be one.
const maxHeld = 64 << 10

// add takes a piece.
func (s *scanner) add(piece string) {
	s.held += piece
	for s.step() {
	}
}

// end takes what was held back for what it is.
func (s *scanner) end() {
	s.final = true
	for s.step() {
	}
	if s.mode != inThought || !s.guess && s.doubtful == 0 {
		return
	}
	text := s.thought.String() // what was taken for thinking is text
	if !s.guess {
		text = text[s.doubtful:]
		s.out.after, s.out.block = true, true
	}
	s.mode, s.guess, s.doubtful = inText, false, 0
	s.thought.Reset()
	s.add(text)
}

// step decides about the beginning of what is held, and reports whether it did.
func (s *scanner) step() bool {
	if s.held == "" && !(s.final && s.mode != inText) {
		return false
	}
	switch s.mode {
	case inFence:
		return s.code()
	case inThought:
		return s.think()
	case inHeader:
		return s.head()
	case inRegion:
		return s.call()
	case inValue:
		return s.valueCall()
	case inFunction:
		return loose{s}.function()
	case inInput:
		return labelled{s}.input()
	case inBlock:
		return s.codeCall()
	case skipping:
		return s.skip()
	case scanEnded:
		s.held = ""
		return false
	}
	return s.text()
}

// take removes n bytes from what is held.
func (s *scanner) take(n int) string {
	taken := s.held[:n]
	s.held = s.held[n:]
	return taken
}

// say lets n bytes out as text.
func (s *scanner) say(n int) bool {
	piece := s.take(n)
	if piece == "" {
		return false
	}
	s.emit(piece)
	if i := strings.LastIndexByte(piece, '\n'); i >= 0 {
		s.out.line = piece[i+1:]
	} else {
		s.out.line += piece
	}
	s.out.line = lastBytes(s.out.line, 100)
	s.out.tail = lastBytes(s.out.tail+piece, 100)
	if strings.TrimSpace(piece) != "" {
		s.out.said, s.out.after = true, false
	}
	return true
}

// text takes in text up to the next thing that may be more than text.
func (s *scanner) text() bool {
	if s.out.after {
		if decided := s.gap(); !decided {
			return false
		}
	}
	for _, unseen := range []string{"\ufeff", "\u200b", "\u2060"} { // a tag may follow
		if yes, maybe := begins(s.held, unseen); yes && !s.out.said {
			s.take(len(unseen))
			return true
		} else if maybe && !s.out.said && !s.final {
			return false
		}
	}
	blank := strings.TrimSpace(s.out.line) == ""
	if blank {
		if n := len(s.held) - len(strings.TrimLeft(s.held, " \t")); n > 0 {
			return s.say(n)
		}
		switch taken, more := s.lineStart(); {
		case taken:
			return true
		case more && !s.final:
			return false
		}
	}
	i := strings.IndexAny(s.held, "<[◁【`{\n")
	if s.plain {
		switch at, name := (bare{s}).channel(i); {
		case at == 0 && name != "":
			bare{s}.begin(name)
			return true
		case at == 0 && i != 0:
			return false
		case at < len(s.held):
			i = at
		}
	}
	switch {
	case i < 0:
		return s.say(len(s.held))
	case i > 0:
		return s.say(i)
	case s.held[0] == '\n':
		return s.say(1)
	case s.held[0] == '`':
		return s.span()
	case s.held[0] == '{':
		taken, more := s.openWrapper()
		return taken || (!more || s.final) && s.say(1)
	case strings.HasPrefix(s.held, "【"):
		return s.citation()
	}
	m, more := readMarker(s.held)
	if more && !s.final {
		return false
	}
	if m.kind == noMarker && m.size > 0 && len(s.tools) > 0 {
		switch taken, more := (labelled{s}).openTag(m); {
		case taken:
			return true
		case more && !s.final:
			return false
		}
	}
	if m.kind != noMarker {
		switch taken, more := s.marked(m); {
		case taken:
			return true
		case more && !s.final:
			return false
		}
		return s.say(m.size)
	}
	_, n := utf8.DecodeRuneInString(s.held)
	return s.say(n)
}

// citation is the mark of a source, as OpenAI's models put it behind a sentence.
var (
	citation      = regexp.MustCompile(`^【\d+(?::\d+)?†[^】\n]{1,100}】`)
	citationBegun = regexp.MustCompile(`^【(?:\d+(?::\d*)?(?:†[^】\n]{0,100})?)?$`)
)

// citation leaves out a mark that names a source only to the server that made it.
func (s *scanner) citation() bool {
	if mark := citation.FindString(s.held); mark != "" {
		s.take(len(mark))
		return true
	}
	if citationBegun.MatchString(s.held) && !s.final {
		return false
	}
	return s.say(len("【"))
}

// gap leaves out white space behind a marker or block at the beginning, and parts
// the text before a block from the text after it.
func (s *scanner) gap() (decided bool) {
	rest := strings.TrimLeft(s.held, " \t\r\n")
	switch {
	case !s.out.said:
		s.held = rest
		return rest != ""
	case rest == "" && !s.final:
		return false
	}
	switch gap := s.held[:len(s.held)-len(rest)]; {
	case !s.out.block:
	case strings.HasSuffix(s.out.tail, "\n"):
		s.held = rest
	case gap == "" && rest != "" && !strings.HasSuffix(s.out.tail, " "):
		s.held = "\n\n" + rest
	}
	s.out.block, s.out.after = false, rest == ""
	return true
}

// begins reports whether text begins with a prefix, or may when more comes.
func begins(text, prefix string) (yes, more bool) {
	return strings.HasPrefix(text, prefix), strings.HasPrefix(prefix, text)
}

// lineStart looks for what counts only at the start of a line: blocks of code, and
// calls and channels whose markers were taken away.
func (s *scanner) lineStart() (taken, more bool) {
	for _, sign := range []string{"```", "~~~"} {
		if yes, maybe := begins(s.held, sign); yes {
			return s.openFence()
		} else if maybe {
			return false, true
		}
	}
	switch s.held[0] {
	case '{', '[':
		if len(s.tools) > 0 && !indented(s.out.line) {
			return s.openValue()
		}
	case 'a':
		if s.out.line == "" && !s.out.said {
			return bare{s}.open()
		}
	case 'f', 't', 'c':
		if taken, more := s.openNamed(); taken || more {
			return taken, more
		}
	}
	if !s.out.said && s.out.line == "" && len(s.tools) > 0 {
		if taken, more := (loose{s}).open(); taken || more {
			return taken, more
		}
	}
	if s.out.line == "" && strings.ContainsRune("ATFO*✿", firstRune(s.held)) {
		return labelled{s}.open()
	}
	return false, false
}

// firstRune is the first character, also of a part of it.
func firstRune(text string) rune {
	if strings.HasPrefix("✿", text) {
		return '✿'
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// maxFirst bounds the first line of a block of code, and a span of code.
const maxFirst = 1000

// openFence begins a block of code when the line is the first of one.
func (s *scanner) openFence() (taken, more bool) {
	sign := s.held[:1]
	n := len(s.held) - len(strings.TrimLeft(s.held, sign))
	first, _, whole := strings.Cut(s.held, "\n")
	if sign == "`" && strings.Contains(first[n:], "`") {
		return false, false // a span
	}
	switch {
	case !whole && len(s.held) > maxFirst:
		return false, false
	case !whole && !s.final:
		return false, true
	}
	s.fence = s.held[:n]
	if language := strings.TrimSpace(first[n:]); !s.out.said && len(s.tools) > 0 && (language == "" || language == "json" || strings.HasPrefix(language, "tool_")) {
		s.mode = inBlock
		return true, false
	}
	s.mode = inFence
	s.say(min(len(first)+1, len(s.held)))
	return true, false
}

// code lets the lines of a block of code out.
func (s *scanner) code() bool {
	line, _, whole := strings.Cut(s.held, "\n")
	trimmed := strings.TrimSpace(line)
	closes := len(trimmed) >= len(s.fence) && strings.Trim(trimmed, s.fence[:1]) == ""
	switch {
	case whole:
		if closes {
			s.mode, s.fence = inText, ""
		}
		return s.say(len(line) + 1)
	case s.final:
		s.mode = inText
		return s.say(len(line))
	case strings.Trim(trimmed, s.fence[:1]) == "": // perhaps the end of the block
		return false
	}
	return s.say(len(line))
}

// span lets out a span of code.
func (s *scanner) span() bool {
	n := len(s.held) - len(strings.TrimLeft(s.held, "`"))
	sign := s.held[:n]
	for at := n; ; {
		i := strings.IndexAny(s.held[at:], "`\n")
		switch {
		case i < 0 && !s.final && len(s.held) < maxFirst:
			return false
		case i < 0 || s.held[at+i] == '\n': // it never closes, so it isn't code
			return s.say(n)
		}
		at += i
		run := len(s.held[at:]) - len(strings.TrimLeft(s.held[at:], "`"))
		if at+run == len(s.held) && !s.final {
			return false
		}
		if at += run; run == len(sign) {
			return s.say(at)
		}
	}
}

// next is what follows n bytes, blanks left out: a rune, '\n' for the end of a line,
// 0 for the end of all. more says that it has not come yet.
func (s *scanner) next(n int) (r rune, more bool) {
	rest := strings.TrimLeft(s.held[n:], " \t\r")
	if rest == "" {
		return 0, !s.final
	}
	r, _ = utf8.DecodeRuneInString(rest)
	return r, false
}

// marked decides whether a marker is meant, and begins what it begins.
func (s *scanner) marked(m marker) (taken, more bool) {
	at := s.out.place()
	if at == quoted {
		return false, false
	}
	switch m.kind {
	case thinkMarker:
		if m.close {
			return s.strayClose(m, at)
		}
		mentioned, more := mentions(s.held[m.size:])
		if more && !s.final {
			return false, true
		}
		if at == inside || at == behind && !s.seen.thinker || at == attached && !s.out.endsSentence() || s.out.isExample() || mentioned {
			s.seen.named++
			return false, false
		}
		s.take(m.size)
		s.openThought()
		return true, false
	case callMarker, resultMarker:
		return s.openRegion(m, at)
	case answerMarker:
		if !m.close && (!s.seen.thinker || s.out.said) || m.close && !s.seen.wrapped {
			return false, false
		}
		s.seen.wrapped = !m.close
		s.take(m.size)
		s.out.after = true
		return true, false
	}
	return s.token(m, at)
}
