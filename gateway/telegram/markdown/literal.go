package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// literalRuns keeps runs of *, _ and ~ that belong to a name, a product, a
// path or an address as they are written: __init__.py, 2*3*4, /*.go, ~5~10,
// https://a.b/_c_. CommonMark would take them for emphasis and eat them. It
// comes before the emphasis parsers and leaves all other runs to them.
type literalRuns struct{}

var _ parser.InlineParser = literalRuns{}

func (literalRuns) Trigger() []byte { return []byte{'*', '_', '~'} }

// urlWordKey holds the last word that was looked at, so that a long word with
// many runs is searched only once.
var urlWordKey = parser.NewContextKey()

type urlWord struct{ url, end int }

func (literalRuns) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := 1
	for n < len(line) && line[n] == line[0] {
		n++
	}
	run := delimiterRun{char: line[0], length: n, before: before, rest: line[n:]}
	if name := dunderName(line, n); name > 0 && !isAlnumRune(before) {
		n = name
	} else if !run.literal() && !insideURL(block.Source(), segment, n, pc) {
		return nil
	}
	block.Advance(n)
	return ast.NewTextSegment(segment.WithStop(segment.Start + n))
}

// delimiterRun is a run of one character with what stands around it.
type delimiterRun struct {
	char   byte
	length int
	before rune
	rest   []byte
}

func (d delimiterRun) literal() bool {
	after, second := byteAt(d.rest, 0), byteAt(d.rest, 1)
	wordBefore, wordAfter := isAlnumRune(d.before), isAlnumByte(after)
	switch {
	case d.char == '~':
		return d.length != 2
	case wordBefore && wordAfter:
		return true
	case d.char == '_' && (d.before == '.' && wordAfter || after == '.' && isAlnumByte(second)):
		return true
	case d.char == '*' && d.before == '/':
		return wordAfter || after == '.' || after == '/'
	case d.char == '*' && after == '/':
		return wordBefore
	}
	return false
}

// dunderName returns the length of a name such as __init__ or __FILE__ at the
// start of line, whose first n bytes are its underscores; 0 if there is none.
// __Note__ is none: that is how some write bold.
func dunderName(line []byte, n int) int {
	if line[0] != '_' || n != 2 {
		return 0
	}
	end := n
	for end < len(line) && isWordByte(line[end]) {
		end++
	}
	name := line[n:end]
	if len(name) < 3 || !bytes.HasSuffix(name, []byte("__")) {
		return 0
	}
	if bytes.Equal(name, bytes.ToLower(name)) || bytes.Equal(name, bytes.ToUpper(name)) {
		return end
	}
	return 0
}

// insideURL says whether the run of n bytes at segment is inside a bare address
// and is followed by more of it.
func insideURL(source []byte, segment text.Segment, n int, pc parser.Context) bool {
	at := segment.Start
	word, _ := pc.Get(urlWordKey).(urlWord)
	if at >= word.end {
		word = findURLWord(source, at, word.end)
		pc.Set(urlWordKey, word)
	}
	if word.url < 0 || at < word.url || at+n >= word.end {
		return false
	}
	next := source[at+n]
	return isAlnumByte(next) || bytes.IndexByte([]byte("/(-%=&?#"), next) >= 0
}

// findURLWord returns the end of the word around at, and the place of its
// "://", -1 for none. Nothing before from belongs to the word.
func findURLWord(source []byte, at, from int) urlWord {
	start := at
	for start > from && !isSpaceByte(source[start-1]) {
		start--
	}
	end := at
	for end < len(source) && !isSpaceByte(source[end]) {
		end++
	}
	url := bytes.Index(source[start:end], []byte("://"))
	if url < 0 {
		return urlWord{url, end}
	}
	url += start
	if to := url + addressEnd(source[url:end]); to > at {
		return urlWord{url, to}
	}
	return urlWord{-1, end} // it has ended before
}

// addressEnd is where an address ends in a word: at a bracket that was open before it,
// as that of a link, or at a letter or mark of a script without spaces.
func addressEnd(word []byte) int {
	depth := 0
	for i, r := range string(word) {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
		if depth < 0 || isWide(r) {
			return i
		}
	}
	return len(word)
}

func byteAt(b []byte, i int) byte {
	if i < len(b) {
		return b[i]
	}
	return ' '
}

func isSpaceByte(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// isAlnumByte knows ASCII only: in scripts without spaces emphasis inside a
// word is common and means emphasis.
func isAlnumByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isAlnumRune(r rune) bool { return 0 <= r && r < 0x80 && isAlnumByte(byte(r)) }

func isWordByte(c byte) bool { return c == '_' || isAlnumByte(c) }
