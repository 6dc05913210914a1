package markdown

import (
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// eastAsianEmphasis takes a run of asterisks between a letter of a script
// without spaces and a punctuation mark for what it is meant: 注意：** followed by
// a letter ends bold text. CommonMark wants a space there and would leave the
// asterisks in the text.
type eastAsianEmphasis struct{}

var (
	_ parser.InlineParser       = eastAsianEmphasis{}
	_ parser.DelimiterProcessor = eastAsianEmphasis{}
)

func (eastAsianEmphasis) Trigger() []byte { return []byte{'*'} }

func (e eastAsianEmphasis) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := 1
	for n < len(line) && line[n] == '*' {
		n++
	}
	if n == len(line) {
		return nil
	}
	after := util.ToRune(line, n)
	if !(isEastAsian(before) && util.IsPunctRune(after)) && !(util.IsPunctRune(before) && isEastAsian(after)) {
		return nil
	}
	d := parser.NewDelimiter(true, true, n, '*', e)
	d.Segment = segment.WithStop(segment.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

func (eastAsianEmphasis) IsDelimiter(b byte) bool { return b == '*' }

func (eastAsianEmphasis) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (eastAsianEmphasis) OnMatch(consumes int) ast.Node { return ast.NewEmphasis(consumes) }

func isEastAsian(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
