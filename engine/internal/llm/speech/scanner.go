package speech

import (
	"regexp"
	"strings"
	"unicode"
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
	// plain is what ends thinking whose markers were taken away.
	plain string
	// thought is the thinking that is open, from doubtful on perhaps no thinking.
	thought  strings.Builder
	doubtful int
	// guess says that it may turn out to be text.
	guess bool

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
}

// output is what was let out, as far as it decides about what follows.
type output struct {
	// line is the end of the last line, tail of all.
	line, tail string
	said       bool // something besides white space
	// after says that a marker or a block has just ended, block that it was a block.
	after, block bool
}

type scanMode int

const (
	inText scanMode = iota
	inFence
	inThought
	inHeader
	inRegion
	inValue   // JSON that may be a call
	inBlock   // a block of code that may be a call
	skipping  // what others are made to say
	scanEnded // nothing more belongs to the answer
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

func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[len(text)-n]) {
		n--
	}
	return text[len(text)-n:]
}

// text takes in text up to the next thing that may be more than text.
func (s *scanner) text() bool {
	if s.out.after {
		if decided := s.gap(); !decided {
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
	i := strings.IndexAny(s.held, "<[◁`{\n")
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
	}
	m, more := readMarker(s.held)
	if more && !s.final {
		return false
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
			return s.openPlain()
		}
	case 'f', 't', 'c':
		return s.openNamed()
	}
	return false, false
}

// indented says that a line is code by its indentation.
func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
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

// place is the position of a marker in the text.
type place int

const (
	atStart  place = iota // of a line, or behind another marker
	attached              // to the end of a sentence, or to a word
	behind                // a sentence and a space
	inside                // a sentence
	quoted                // as code, or as an example
)

const (
	sentenceEnds = ".!?…:;。！？»”)>*"
	quotes       = "\"'`“„«‘(/|"
)

func (o *output) place() place {
	before := strings.TrimRight(o.line, " \t")
	if before == "" {
		if indented(o.line) && o.said {
			return quoted
		}
		return atStart
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case o.after:
		return atStart
	case strings.HasSuffix(before, "<code>"), strings.HasSuffix(before, "<pre>"):
		return quoted
	case before == o.line && strings.ContainsRune(quotes, last):
		return quoted
	case before == o.line:
		return attached
	case strings.ContainsRune(sentenceEnds, last):
		return behind
	}
	return inside
}

// endsSentence reports whether the text so far ends with a sentence.
func (o *output) endsSentence() bool {
	last, _ := utf8.DecodeLastRuneInString(o.tail)
	return strings.ContainsRune(sentenceEnds, last)
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
		if at == inside || at == behind && !s.seen.thinker || at == attached && !s.out.endsSentence() || s.out.isExample() {
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

// isExample says that the text before a new line announces what follows.
func (o *output) isExample() bool {
	return strings.TrimSpace(o.line) == "" && strings.HasSuffix(strings.TrimSpace(o.tail), ":")
}

// listsMarkers says that the lines before announce or name markers.
func (o *output) listsMarkers() bool {
	return !o.after && (o.isExample() || strings.TrimSpace(o.line) == "" && strings.HasSuffix(strings.TrimSpace(o.tail), "|>"))
}

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

// token leaves a token of a template out and does what it says.
func (s *scanner) token(m marker, at place) (taken, more bool) {
	if m.name == "s" {
		return s.strike(m)
	}
	r, more := s.next(m.size)
	if more && (at != atStart || s.out.listsMarkers()) {
		return false, true
	}
	switch {
	case at == atStart && r == '\n' && s.out.listsMarkers():
		return false, false
	case at == attached && unicode.IsLetter(r) && m.kind != channelMarker && m.kind != roleMarker && unicode.IsLetter(lastRune(s.out.line)) && !strings.HasPrefix(s.held[m.size:], "\n"):
		return false, false // said about the token
	case at == behind && (r != 0 && r != '\n' && r != '<' || isItem(s.out.line)), at == inside && (r != 0 || isItem(s.out.line)):
		return false, false
	}
	s.take(m.size)
	s.out.after = true
	s.act(m)
	return true, false
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// isItem says that a line is one of a list, or explains something.
func isItem(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasSuffix(line, ":")
}

// strike tells Mistral's tokens from HTML.
func (s *scanner) strike(m marker) (taken, more bool) {
	r, more := s.next(m.size)
	switch {
	case m.close && s.seen.struck:
		s.seen.struck = false
		return false, false
	case m.close:
		if more || r != 0 && r != '\n' && r != '<' && r != '[' {
			return false, more
		}
		s.take(m.size)
		s.mode = scanEnded
		return true, false
	case more:
		return false, true
	case !s.out.said && s.out.line == "" && (r == '[' || strings.HasPrefix(s.held[m.size:], " ") || strings.HasPrefix(s.held[m.size:], "\n")):
		s.take(m.size)
		s.out.after = true
		return true, false
	}
	s.seen.struck = true
	return false, false
}

// act does what a token says.
func (s *scanner) act(m marker) {
	switch m.kind {
	case roleMarker:
		s.header, s.mode = "", inHeader
		if roleNames.MatchString(m.name) {
			s.header = strings.TrimPrefix(m.name, "im_") + " "
			if !strings.HasPrefix(m.name, "im_") {
				s.decideHeader()
			}
		}
	case channelMarker:
		s.header, s.mode = "assistant ", inHeader
	case stopMarker:
		s.out.line = "" // what follows is another message
	case endMarker:
		if s.out.said || len(s.calls) > 0 {
			s.mode = scanEnded
		}
	}
}

// maxHeader bounds what stands before the text of a message.
const maxHeader = 200

// head reads the role and the channel of a message.
func (s *scanner) head() bool {
	i := strings.IndexAny(s.held, "<\n")
	switch {
	case i < 0 && !s.final && len(s.header)+len(s.held) < maxHeader:
		return false
	case i < 0 || len(s.header)+i > maxHeader:
		s.header += s.take(min(len(s.held), 40)) // what no header is comes back
		s.decideHeader()
		return true
	case s.held[i] == '\n':
		s.header += s.take(i + 1)
		s.decideHeader()
		return true
	}
	m, more := readMarker(s.held[i:])
	if more && !s.final {
		return false
	}
	s.header += s.take(i)
	switch {
	case m.kind == headMarker:
		s.take(m.size)
		s.decideHeader()
	case m.kind == channelMarker || m.kind == otherMarker: // <|constrain|>
		s.take(m.size)
		s.header += " "
	default:
		s.decideHeader()
	}
	return true
}

// foreign are the roles whose words are not the model's.
var foreign = regexp.MustCompile(`^(?:system|user|human|tool|observation|developer|ipython|environment)\b`)

// thinkChannels are the channels of thinking.
var thinkChannels = regexp.MustCompile(`^(?:analysis|thought|think|thinking|reasoning)\b`)

// decideHeader begins the text of a message.
func (s *scanner) decideHeader() {
	header := strings.TrimSpace(s.header)
	s.header, s.mode, s.out.after = "", inText, true
	if foreign.MatchString(header) {
		s.mode = skipping
		if s.out.said || len(s.calls) > 0 {
			s.mode = scanEnded
		}
		return
	}
	role, channel, _ := strings.Cut(header, " ")
	if !roleNames.MatchString(role) {
		channel = header
	}
	if _, to, ok := strings.Cut(channel, "to="); ok || strings.Contains(role, "to=") {
		if !ok {
			_, to, _ = strings.Cut(role, "to=")
		}
		name, _, _ := strings.Cut(to, " ")
		s.region = region{endless: true}
		s.region.text.WriteString(name + " ")
		s.mode = inRegion
		return
	}
	channel = strings.TrimSpace(channel)
	word := thinkChannels.FindString(channel)
	rest := strings.TrimSpace(channel[len(word):])
	switch {
	case word != "":
		s.openThought()
		s.held = rest + s.held
	case strings.HasPrefix(channel, "final"), strings.HasPrefix(channel, "commentary"), channel == "", channel == role:
	default:
		s.held = channel + s.held // no header after all
	}
}

// skip leaves out what others are made to say, up to the next message.
func (s *scanner) skip() bool {
	i := strings.IndexAny(s.held, "<[")
	if i < 0 {
		s.held = ""
		return false
	}
	s.take(i)
	m, more := readMarker(s.held)
	switch {
	case more && !s.final:
		return false
	case m.kind == roleMarker || m.kind == channelMarker:
		s.take(m.size)
		s.act(m)
	case m.kind == stopMarker && m.name == "inst":
		s.take(m.size)
		s.mode, s.out.after = inText, true
	default:
		s.take(max(m.size, 1))
	}
	return true
}

// openThought begins thinking.
func (s *scanner) openThought() {
	if s.thought.Len() > 0 { // blocks of thinking are paragraphs
		s.ponder("\n\n")
	}
	s.thought.Reset()
	s.mode, s.plain, s.doubtful = inThought, "", 0
	s.seen.thinker = true
}

// openPlain begins thinking of a server that takes the tokens of channels away.
func (s *scanner) openPlain() (taken, more bool) {
	for _, role := range []string{"assistantfinal", "assistant\n"} {
		if yes, maybe := begins(s.held, role); yes {
			s.take(len(role))
			s.out.after = true
			return true, false
		} else if maybe {
			return false, true
		}
	}
	const channel = "analysis"
	if yes, maybe := begins(s.held, channel); !yes {
		return false, maybe
	}
	r, n := utf8.DecodeRuneInString(s.held[len(channel):])
	if n == 0 {
		return false, true
	}
	if !unicode.IsUpper(r) {
		return false, false
	}
	s.take(len(channel))
	s.openThought()
	s.plain = "assistantfinal"
	return true, false
}

// think takes in thinking up to its end.
func (s *scanner) think() bool {
	if s.plain != "" {
		return s.thinkPlainly()
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

// thinkPlainly takes in thinking up to plain words for its end.
func (s *scanner) thinkPlainly() bool {
	if i := strings.Index(s.held, s.plain); i >= 0 {
		s.thinks(i)
		s.take(len(s.plain))
		s.leaveThought()
		return true
	}
	if n := len(s.held) - len(s.plain); n > 0 && !s.final {
		return s.thinks(n)
	}
	if s.final {
		return s.thinks(len(s.held))
	}
	return false
}
