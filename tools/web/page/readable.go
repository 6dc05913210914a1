// Package page turns a web page into Markdown for a model, without what a user would not
// see. Each step has a limit: a page beyond it becomes plain text or is cut.
package page

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// Readability and Markdown can take longer than the size of a page explains. A page
	// with more nodes, bytes of text or sum of depths becomes plain text.
	maxNodes  = 60_000
	maxText   = 2_000_000
	maxDepths = 2_000_000
	// enough is the shortest text of an article.
	enough = 250
)

// Markdown turns a page into Markdown: its article if it has one, else all that a user
// would see.
func Markdown(ctx context.Context, page string, at *url.URL) (string, error) {
	doc, cut, late, err := parse(ctx, page)
	var text string
	if err == nil {
		text, err = written(ctx, doc, at)
	} else {
		text, err = flat(page), ctx.Err() // nested too deep
	}
	if cut || late && text != "" {
		text = strings.TrimSpace(text + "\n\n(page cut: too many elements)")
	}
	return text, err
}

// written is a parsed page as text.
func written(ctx context.Context, doc *html.Node, at *url.URL) (string, error) {
	unsightly(doc)
	nodes := strip(doc)
	apart(doc)
	lead(doc, at)
	if err := ctx.Err(); err != nil || nodes > maxNodes || dear(doc) {
		return plain(doc), err
	}
	flatten(doc)
	title := strings.TrimSpace(textOf(find(doc, atom.Title)))
	all := markdown(ctx, doc)
	if article := articleOf(doc, at); article != nil {
		if text := markdown(ctx, article); len(text) > enough && len(text) > len(all)/10 {
			all = text
		}
	}
	if title != "" && !strings.HasPrefix(all, "# "+tidy(title)) {
		all = "# " + tidy(title) + "\n\n" + all
	}
	return strings.TrimSpace(all), ctx.Err()
}

// dear reports whether a page has too much text or depth for readability and Markdown.
func dear(doc *html.Node) bool {
	depths, text := 0, 0
	for n := range doc.Descendants() {
		if n.Type == html.TextNode {
			text += len(n.Data)
			for p := n.Parent; p != nil; p = p.Parent {
				depths++
			}
		}
	}
	return text > maxText || depths > maxDepths
}

// articleOf is the article that readability finds in a copy of the page, or nil. It may
// panic on a page.
func articleOf(doc *html.Node, at *url.URL) (article *html.Node) {
	defer func() {
		if recover() != nil {
			article = nil
		}
	}()
	a, err := readability.FromDocument(doc, at)
	if err != nil {
		return nil
	}
	return a.Node
}

// markdown is a part of a page as Markdown, or as plain text if the converter fails.
func markdown(ctx context.Context, n *html.Node) (text string) {
	defer func() {
		if recover() != nil {
			text = plain(n)
		}
	}()
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	source, err := c.ConvertNode(n, converter.WithContext(ctx))
	if err != nil {
		return plain(n)
	}
	return blankLines.ReplaceAllString(strings.TrimSpace(string(source)), "\n\n")
}

var blankLines = regexp.MustCompile(`\n[ \t]*\n(?:[ \t]*\n)+`)

// dropped are elements without text for a reader.
var dropped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Math: true, atom.Iframe: true,
	atom.Object: true, atom.Embed: true, atom.Canvas: true, atom.Link: true, atom.Audio: true, atom.Video: true,
}

// strip removes invisible elements and counts the rest.
func strip(n *html.Node) int {
	count := 1
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		if child.Type == html.CommentNode || dropped[child.DataAtom] || unseen(child) {
			n.RemoveChild(child)
		} else {
			count += strip(child)
		}
		child = next
	}
	return count
}

// apart separates texts that a browser separates and the converter does not.
func apart(doc *html.Node) {
	var after []*html.Node
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.Summary, atom.Legend, atom.Center, atom.Marquee:
			n.DataAtom, n.Data = atom.Div, "div"
		case atom.Option, atom.Select, atom.Button:
			after = append(after, n)
		}
	}
	for _, n := range after {
		gap := " "
		if n.DataAtom == atom.Option && n.NextSibling != nil {
			gap = ", "
		}
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: gap}, n.NextSibling)
	}
}

// unseen reports whether an attribute hides an element.
func unseen(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return strings.EqualFold(strings.TrimSpace(a.Val), "true") && n.DataAtom != atom.Body
		case "type":
			if n.DataAtom == atom.Input && strings.EqualFold(a.Val, "hidden") {
				return true
			}
		}
	}
	return false
}

func find(n *html.Node, what atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.DataAtom == what && d.Type == html.ElementNode {
			return d
		}
	}
	return nil
}

// tidy is a text on one line.
func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }

// textOf is all text below a node, "" for nil.
func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// plain is the text of a part of a page, a line for each piece.
func plain(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			if text := tidy(d.Data); text != "" {
				b.WriteString(text + "\n")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// flat is the text of a page that the parser refuses.
func flat(page string) string {
	var b strings.Builder
	skip := false
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.StartTagToken:
			name, _ := z.TagName()
			skip = dropped[atom.Lookup(name)]
		case html.EndTagToken:
			skip = false
		case html.TextToken:
			if text := tidy(string(z.Text())); text != "" && !skip {
				b.WriteString(text + "\n")
			}
		}
	}
}
