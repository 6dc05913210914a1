// Package markdown turns Markdown into HTML in which nothing can run: all text is
// escaped, HTML in it is text, images are links, and links lead only to the web and to
// mail. It is pure.
package markdown

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"klawbot/gateway/telegram/markdown"
	"klawbot/internal/redact"
)

// maxText is how long a text may be that is read as Markdown, in bytes.
const maxText = 256 << 10

// maxDepth is how deep elements are nested; below, only the text counts.
const maxDepth = 40

// HTML is Markdown as HTML. copyWord is what the button of a block of code says. A text
// that shows a secret only without its markup becomes plain, with the secret masked; a
// link that would lead one away is none.
func HTML(md, copyWord string, secrets *redact.Set) string {
	md = strings.ToValidUTF8(strings.ReplaceAll(md, "\x00", ""), "\uFFFD")
	if len(md) > maxText || markdown.Hostile(md) {
		return plainHTML(md)
	}
	w := &writer{source: []byte(md), copyWord: copyWord, secrets: secrets}
	w.children(markdown.Parse(text.NewReader(w.source)), 0)
	if masked := secrets.Text(w.shown.String()); masked != w.shown.String() {
		return plainHTML(masked)
	}
	return w.out.String()
}

func plainHTML(text string) string { return "<pre class=plain>" + html.EscapeString(text) + "</pre>" }

type writer struct {
	source   []byte
	out      strings.Builder
	shown    strings.Builder // the text of out, as people see it
	copyWord string
	inLink   bool
	secrets  *redact.Set
}

func (w *writer) text(s string) {
	w.out.WriteString(html.EscapeString(s))
	w.shown.WriteString(s)
}

func (w *writer) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if depth > maxDepth {
			w.text(plain(c, w.source))
			continue
		}
		if t, ok := c.(*ast.Text); ok {
			c = w.run(t)
			continue
		}
		w.node(c, depth+1)
	}
}

// run writes the text that goes on from t, and returns its last node. The parser cuts
// text at each sign that might have meant something, also within an address.
func (w *writer) run(t *ast.Text) ast.Node {
	from := t.Segment.Start
	for !t.SoftLineBreak() && !t.HardLineBreak() {
		next, ok := t.NextSibling().(*ast.Text)
		if !ok || next.Segment.Start != t.Segment.Stop {
			break
		}
		t = next
	}
	w.linked(string(w.source[from:t.Segment.Stop]))
	if t.SoftLineBreak() || t.HardLineBreak() {
		w.out.WriteString("<br>") // models mean the ends of their lines
		w.shown.WriteByte('\n')
	}
	return t
}

// address is one that stands in a text.
var address = regexp.MustCompile(`\bhttps?://[^\s<>"«»“”]+`)

// linked writes text in which addresses are links, as people expect.
func (w *writer) linked(s string) {
	for !w.inLink {
		at := address.FindStringIndex(s)
		if at == nil {
			break
		}
		to := strings.TrimRight(s[at[0]:at[1]], ".,;:!?'*_~…")
		for strings.HasSuffix(to, ")") && strings.Count(to, ")") > strings.Count(to, "(") {
			to = strings.TrimRight(strings.TrimSuffix(to, ")"), ".,;:!?'")
		}
		w.text(s[:at[0]])
		w.link(to, func() { w.text(to) })
		s = s[at[0]+len(to):]
	}
	w.text(s)
}

func (w *writer) within(tag string, n ast.Node, depth int) {
	w.out.WriteString("<" + tag + ">")
	w.children(n, depth)
	name, _, _ := strings.Cut(tag, " ")
	w.out.WriteString("</" + name + ">")
	switch name {
	case "strong", "em", "del":
	default:
		w.shown.WriteByte('\n')
	}
}

func (w *writer) node(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Heading:
		// The page has h1 and h2 of its own.
		w.within(fmt.Sprintf("h%d", min(n.Level+2, 6)), n, depth)
	case *ast.Paragraph:
		w.within("p", n, depth)
	case *ast.TextBlock:
		w.children(n, depth)
	case *ast.Blockquote:
		w.within("blockquote", n, depth)
	case *ast.List:
		w.list(n, depth)
	case *ast.ListItem:
		w.within("li", n, depth)
	case *ast.FencedCodeBlock:
		w.code(lines(n, w.source), string(n.Language(w.source)))
	case *ast.CodeBlock:
		w.code(lines(n, w.source), "")
	case *ast.HTMLBlock:
		raw := lines(n, w.source)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(w.source))
		}
		w.out.WriteString("<p>")
		w.text(strings.TrimSpace(raw))
		w.out.WriteString("</p>")
	case *ast.ThematicBreak:
		w.out.WriteString("<hr>")
	case *extast.Table:
		w.out.WriteString("<div class=wide tabindex=0><table>")
		w.children(n, depth)
		w.out.WriteString("</table></div>")
	case *extast.TableHeader:
		w.within("tr", n, depth)
	case *extast.TableRow:
		w.within("tr", n, depth)
	case *extast.TableCell:
		w.cell(n, depth)
	default:
		w.inline(n, depth)
	}
}

func (w *writer) list(n *ast.List, depth int) {
	switch {
	case !n.IsOrdered():
		w.within("ul", n, depth)
	case n.Start > 1:
		w.within(fmt.Sprintf("ol start=%d", n.Start), n, depth)
	default:
		w.within("ol", n, depth)
	}
}

func (w *writer) cell(n *extast.TableCell, depth int) {
	tag := "td"
	if _, head := n.Parent().(*extast.TableHeader); head {
		tag = "th scope=col"
	}
	if n.Alignment == extast.AlignRight {
		tag += " class=right"
	}
	w.within(tag, n, depth)
}

func (w *writer) inline(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.String:
		w.text(string(n.Value))
	case *ast.CodeSpan:
		w.out.WriteString("<code>")
		w.text(plain(n, w.source))
		w.out.WriteString("</code>")
	case *ast.Emphasis:
		if n.Level > 1 {
			w.within("strong", n, depth)
			return
		}
		w.within("em", n, depth)
	case *extast.Strikethrough:
		w.within("del", n, depth)
	case *extast.TaskCheckBox:
		if n.IsChecked {
			w.text("☑ ")
			return
		}
		w.text("☐ ")
	case *ast.Link:
		w.link(string(n.Destination), func() {
			if n.FirstChild() == nil {
				w.text(string(n.Destination))
			}
			w.children(n, depth)
		})
	case *ast.Image:
		w.link(string(n.Destination), func() {
			w.text("🖼 ")
			if plain(n, w.source) == "" {
				w.text(string(n.Destination))
			}
			w.children(n, depth)
		})
	case *ast.AutoLink:
		w.link(string(n.URL(w.source)), func() { w.text(string(n.Label(w.source))) })
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			w.text(string(s.Value(w.source)))
		}
	default:
		w.children(n, depth)
	}
}

// link writes a link to where nothing runs; otherwise only its text.
func (w *writer) link(to string, label func()) {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto" || u.Scheme != "mailto" && u.Host == "" || w.secrets.Address(u.String()) {
		label()
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(u.String()) + `" target=_blank rel="noopener noreferrer nofollow">`)
	w.inLink = true
	label()
	w.inLink = false
	w.out.WriteString("</a>")
}

// code is a block of code with a button that copies it.
func (w *writer) code(text, language string) {
	w.out.WriteString("<figure class=code><figcaption><span>")
	w.text(language)
	w.out.WriteString(`</span><button type=button class=copy hidden>`)
	w.out.WriteString(html.EscapeString(w.copyWord))
	w.out.WriteString("</button></figcaption><pre tabindex=0><code>")
	w.text(strings.TrimSuffix(text, "\n"))
	w.shown.WriteByte('\n')
	w.out.WriteString("</code></pre></figure>")
}

func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		b.Write(s.Value(source))
	}
	return b.String()
}

// plain is the text below a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	}) // the walker makes no errors
	return b.String()
}
