package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// swelling are pages that are small for what a careless reader makes of them.
func swelling() map[string]string {
	const most = 1_500_000
	fill := func(piece string) string { return strings.Repeat(piece, most/scale/len(piece)) }
	each := func(n int, piece string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, piece, i)
		}
		return b.String()
	}
	return map[string]string{
		"links that end each other":  fill("<p><a href=x>"),
		"elements opened again":      "<p>" + each(450, "<b a%d>") + fill("</p><p>x"),
		"misnested":                  fill("<a><b><p>"),
		"misnested under a picture":  "<svg><style>" + strings.Repeat("<p><a href=x>", most/13), // beyond maxElements
		"attributes":                 "<p" + each(400_000, " a%d=1") + ">x",
		"quoted attributes":          "<p" + each(300_000, " a%d='>'") + ">x",
		"many attributes":            fill("<p a b c d e f g h i j k l>"),
		"texts that grow":            fill("word</b>"),
		"texts that grow before":     "<table>" + fill("word</b>"),
		"texts of a choice":          "<select>" + fill("word</b>"),
		"deep paragraphs":            strings.Repeat("<div>", 480) + strings.Repeat("x</p>", most/5/(scale*scale)),
		"deep texts":                 strings.Repeat("<div>many words, and more", 480) + strings.Repeat("<p>some, words", 15_000),
		"a table with one wide row":  "<table><tr>" + strings.Repeat("<td>x", 25_000/min(scale, 10)) + strings.Repeat("<tr><td>x", 1000/min(scale, 10)),
		"cells that span":            "<table>" + strings.Repeat("<tr><td colspan=1000>x<td rowspan=1000>y", 3000/scale),
		"a cell that spans for ever": "<table><tr><td colspan=99999999999999999999 rowspan=1000000000>x",
		"a long cell":                "<table>" + strings.Repeat("<tr><td>x<td>y", 5000/scale) + "<tr><td>" + strings.Repeat("z", 1_000_000/scale),
		"deep quotations":            strings.Repeat(strings.Repeat("<blockquote>", 200)+strings.Repeat("<p>some words", 50)+strings.Repeat("</blockquote>", 200), 100/scale),
		"links from a long base":     "<base href='http://h.example/" + strings.Repeat("y", 2_000_000) + "/'>" + strings.Repeat("<a href=x>y</a> ", 12_000/scale),
		"stars":                      "<p>" + fill("*_"),
		"a long attribute":           "<p title='" + fill("x") + "'>x</p>",
		"a large picture":            "<svg>" + fill("<path d='M0'/>") + "</svg>x",
		"a large style sheet":        "<style>" + fill("a.b{display:none}") + "</style>x",
		"pictures":                   fill("<img src=a alt=b>"),
	}
}

// TestHugeMarkdownIsAvoided: no page makes more elements, more text or more work than a
// few times what it is.
func TestHugeMarkdownIsAvoided(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.com"}
	for name, page := range swelling() {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			text, err := Markdown(t.Context(), page, at)
			took := time.Since(begun)
			if err != nil || took > 30*time.Second || len(text) > 3*len(page)+100_000 {
				t.Errorf("%d bytes of text, %v, %v", len(text), took, err)
			}
			doc, cut, _, err := parse(t.Context(), page)
			if err != nil {
				return // nested too deep: it has no elements
			}
			n := 0
			for range doc.Descendants() {
				n++
			}
			if n > 2*maxElements {
				t.Errorf("%d elements", n)
			}
			if said := strings.HasSuffix(text, "(page cut: too many elements)"); cut && !said {
				t.Errorf("nothing says that it was cut: %q", text[max(0, len(text)-100):])
			}
		})
	}
}

// TestTamePages: what a page says stays as it is, also where its tags are wrong.
func TestTamePages(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.com"}
	for page, want := range map[string]string{
		"<p><b>bold</b>, <I>slanted</I>, <CODE>code</CODE>":                      "**bold**, *slanted*, `code`",
		"<p><a href=/x>one<p><a href=/y>two</a>":                                 "[one](https://example.com/x)\n\n[two](https://example.com/y)",
		"<a href=/x>one<a href=/y>two</a>":                                       "[one](https://example.com/x)[two](https://example.com/y)",
		"<p>before <svg viewBox='0 0'><title>No</title><path d=M0 /></svg>after": "before after",
		"<svg><style>.a{}</style><p>a picture that is left open":                 "a picture that is left open",
		"<p>1 <!-- x -->2":       "1 2",
		"<p>1 &lt;<!-- x -->b>2": "1 <b>2",
		"<p><<!-- x -->b>2":      "<b>2",
		"<title>A <b>title</b></title><p>" + strings.Repeat("x", 10):                       "# A <b>title</b>\n\nxxxxxxxxxx",
		"<p>" + strings.Repeat("<b>", 3) + "x</p><p>y":                                     "**x**\n\ny",
		"<table><tr><th>a<th>b<tr><td colspan=2>c</table>":                                 "| a | b |\n|---|---|\n| c |  |",
		"<blockquote>a<blockquote>b</blockquote></blockquote><ul><li>c<ul><li>d</ul></ul>": "> a\n> \n> > b\n\n- c\n  \n  - d",
	} {
		text, err := Markdown(t.Context(), page, at)
		if text = strings.NewReplacer(`\<`, "<", `\>`, ">", "&lt;", "<", "&gt;", ">").Replace(text); err != nil || text != want {
			t.Errorf("%s: %q, %v; want %q", page, text, err, want)
		}
	}
}

// FuzzCountAttributes: the count is never less than what the tokenizer finds, up
// to the bound.
func FuzzCountAttributes(f *testing.F) {
	for _, seed := range []string{"<p a b=c d='e>' f=\"g\"/>", "<p/a/b=/c>", "<p =a==b>", "<p a= >", "<a b='", "<p a\n=\t'x'y>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		at := 0
		for z := html.NewTokenizer(strings.NewReader(page)); ; {
			kind := z.Next()
			if kind == html.ErrorToken {
				return
			}
			begin := at
			at += len(z.Raw())
			if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
				continue
			}
			found := len(z.Token().Attr)
			if n := countAttributes(page[begin:]); n < min(found, maxAttributes) {
				t.Errorf("%d attributes, %d are counted in %q", found, n, page[begin:at])
			}
		}
	})
}
