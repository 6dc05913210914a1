// Package markdown turns a model's Markdown into what Telegram shows: plain text
// with entities, split into messages. It is pure: it sends nothing and knows
// nothing of the Bot API but its limits.
package markdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"klawbot/gateway"
)

// messages turns Markdown into the messages to send: plain text with entities,
// never a markup that Telegram would have to parse, so nothing in the text can
// make it refuse a message. Text that is not blank gives at least one part, blank
// text none. Half a document renders as well as a whole one, which streaming
// relies on. The time is linear in the length.
func messages(markdown string) []gateway.Part {
	return splitRich(renderRich(markdown))
}

func renderRich(markdown string) rich {
	md, cut := cleanMarkdown(markdown)
	r := mdRenderer{out: &richWriter{}}
	for _, s := range sections(md) {
		r.out.gap(s.gap)
		var whole string
		whole, r.out.formulas = formulas(s.text)
		whole = squareTables(whole)
		if hostile(whole) {
			r.out.formulas = nil
			r.out.write(s.text)
			continue
		}
		r.source = []byte(whole)
		r.children(markdownParser().Parse(text.NewReader(r.source)))
	}
	r.out.formulas = nil
	if r.out.blank() {
		r.out.write(md) // nothing but definitions and empty markup
	}
	if cut {
		r.out.gap(2)
		r.out.write("✂ …")
	}
	return r.out.finish()
}

// markdownParser is made once; it may be used by several goroutines. It has no Linkify:
// Telegram itself finds bare addresses.
var markdownParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithParserOptions(parser.WithInlineParsers(
			util.Prioritized(literalRuns{}, 450), // before emphasis, which has 500
			util.Prioritized(besideMarks{}, 460),
		)),
	).Parser()
})

// maxIndentLevels bounds the visible indentation; deeper lists line up there.
const maxIndentLevels = 6

const listIndent = "   "

// mdRenderer writes one Markdown tree as rich text.
type mdRenderer struct {
	source []byte
	out    *richWriter
	level  int // of lists around
}

// children writes the blocks below n, as far apart as they are in the source.
func (r mdRenderer) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil {
			r.out.gap(blockGap(c))
		}
		r.block(c)
	}
}

// blockGap keeps the author's blank lines, and gives one to what needs it to
// be read.
func blockGap(n ast.Node) int {
	switch n.Kind() {
	case ast.KindHeading, extast.KindTable:
		return 2
	}
	if n.HasBlankPreviousLines() {
		return 2
	}
	return 1
}

func (r mdRenderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n)
	case *ast.List:
		r.list(n)
	case *ast.Blockquote:
		r.quote(n)
	case *ast.FencedCodeBlock:
		r.code(n, fenceLanguage(n.Language(r.source)))
	case *ast.CodeBlock:
		r.code(n, "")
	case *ast.HTMLBlock:
		r.html(n)
	case *ast.ThematicBreak:
		r.out.indent(r.level)
		r.out.write("———")
	case *extast.Table:
		r.table(n)
	case *ast.LinkReferenceDefinition:
	default:
		r.children(n)
	}
}

// heading writes a bold line. Several lines over "---" are what models write
// when they mean a paragraph and a rule.
func (r mdRenderer) heading(n *ast.Heading) {
	if n.Level == 2 && n.Lines().Len() > 1 {
		r.paragraph(n)
		r.out.gap(1)
		r.out.write("———")
		return
	}
	r.out.indent(r.level)
	r.out.styled(bold, "", func() { r.inlines(n) })
	r.out.markHeading()
}

func (r mdRenderer) paragraph(n ast.Node) {
	r.out.indent(r.level)
	r.inlines(n)
	if e, ok := n.FirstChild().(*ast.Emphasis); ok && e.Level == 2 && e.NextSibling() == nil {
		r.out.markHeading() // models write headings as bold paragraphs, too
	}
}

// quote flattens quotes in quotes: Telegram has no nested ones.
func (r mdRenderer) quote(n ast.Node) {
	r.level = 0
	r.out.quoted(func() { r.children(n) })
}

func (r mdRenderer) code(n ast.Node, language string) {
	var b []byte
	for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		b = append(b, line.Value(r.source)...)
	}
	r.out.pre(expandTabs(string(b)), language)
}

// html keeps raw HTML as the text that it is.
func (r mdRenderer) html(n *ast.HTMLBlock) {
	r.out.indent(r.level)
	html := n.Lines().Value(r.source)
	if n.HasClosure() {
		html = append(html, n.ClosureLine.Value(r.source)...)
	}
	r.out.write(strings.TrimRight(string(html), " \n"))
}

// Parse reads Markdown as this package does, for those who show it otherwise. What is
// Hostile must not be parsed.
func Parse(from text.Reader) ast.Node { return markdownParser().Parse(from) }
