package markdown

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// besideMarks takes asterisks and tildes beside a punctuation mark for what they are
// meant. CommonMark wants a space outside of **注意：** and of **Note:**, which scripts
// without spaces do not have and models leave out; it would show the asterisks.
type besideMarks struct{}

var (
	_ parser.InlineParser       = besideMarks{}
	_ parser.DelimiterProcessor = besideMarks{}
)

func (besideMarks) Trigger() []byte { return []byte{'*', '~'} }

func (e besideMarks) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := 1
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n == len(line) {
		return nil
	}
	after := util.ToRune(line, n)
	if unicode.IsSpace(before) || unicode.IsSpace(after) || !isWide(before) && !isWide(after) && !endsLabel(block.Source(), segment.Start, n, before, after) {
		return nil // CommonMark's rule is right
	}
	var processor parser.DelimiterProcessor = e
	if line[0] == '~' {
		processor = strikeMarks{}
	}
	d := parser.NewDelimiter(true, true, n, line[0], processor)
	d.Segment = segment.WithStop(segment.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

func (besideMarks) IsDelimiter(b byte) bool { return b == '*' || b == '~' }

func (besideMarks) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (besideMarks) OnMatch(consumes int) ast.Node { return ast.NewEmphasis(consumes) }

// strikeMarks is the same for runs of tildes.
type strikeMarks struct{ besideMarks }

func (strikeMarks) OnMatch(int) ast.Node { return extast.NewStrikethrough() }

// isWide reports the letters and marks of scripts without spaces, quotation marks that
// they share with others, and signs such as emoji.
func isWide(r rune) bool {
	switch {
	case 0x3001 <= r && r <= 0x303F, 0xFE30 <= r && r <= 0xFE6F, 0xFF01 <= r && r <= 0xFF65, 0xFFE0 <= r && r <= 0xFFEE:
		return true
	}
	return strings.ContainsRune("“”‘’…—·", r) ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.So)
}

// maxLabel bounds the search for the beginning of a label, in bytes.
const maxLabel = 300

// endsLabel reports whether two asterisks end bold text such as "**Note:**" although a
// letter follows: where the last two before them can only have begun it.
func endsLabel(source []byte, at, n int, before, after rune) bool {
	if n != 2 || source[at] != '*' || !strings.ContainsRune(":.!?,;`)]\"'%", before) || !unicode.IsLetter(after) {
		return false
	}
	back := source[max(0, at-maxLabel):at]
	i := bytes.LastIndex(back, []byte("**"))
	return i >= 0 && i+2 < len(back) && !isSpaceByte(back[i+2]) && (i == 0 || isSpaceByte(back[i-1]) || back[i-1] == '(') &&
		!bytes.Contains(back[i:], []byte("\n\n"))
}
