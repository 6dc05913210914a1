package page

import (
	"context"
	"io"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The limits of a page. The rest is cut.
const (
	maxElements   = 250_000 // elements, their attributes and the texts between them
	maxAttributes = 500     // of one element
	maxParse      = 2 * time.Second
)

// ownPrefix is put before the names of formatting elements while a page is parsed. The
// parser reopens each open one in every paragraph, so that a small page could make millions
// of elements. An element with an unknown name ends with its parent.
const ownPrefix = "k-"

var formatting = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.Big: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Nobr: true,
	atom.S: true, atom.Small: true, atom.Strike: true, atom.Strong: true, atom.Tt: true, atom.U: true,
}

// rawText are elements in which a tag is text.
var rawText = map[atom.Atom]bool{
	atom.Iframe: true, atom.Noembed: true, atom.Noframes: true, atom.Noscript: true, atom.Plaintext: true, atom.Script: true,
	atom.Style: true, atom.Textarea: true, atom.Title: true, atom.Xmp: true,
}

// leaveForeign are elements that end a picture or a formula that was left open.
var leaveForeign = map[atom.Atom]bool{
	atom.Body: true, atom.Div: true, atom.Dl: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.Li: true,
	atom.Ol: true, atom.P: true, atom.Pre: true, atom.Span: true, atom.Table: true, atom.Ul: true,
}

// parse parses a page, and reports whether it was cut for its size or for the time.
func parse(ctx context.Context, page string) (doc *html.Node, cut, late bool, err error) {
	t := &tamer{page: page}
	t.run()
	w := &watched{in: strings.NewReader(t.out.String()), until: time.Now().Add(maxParse), ctx: ctx}
	if doc, err = html.Parse(w); err != nil {
		return nil, t.cut, w.late, err
	}
	for n := range doc.Descendants() {
		if name, ok := strings.CutPrefix(n.Data, ownPrefix); ok && n.Type == html.ElementNode {
			n.Data, n.DataAtom = name, atom.Lookup([]byte(name))
		}
	}
	return doc, t.cut, w.late, ctx.Err()
}

// tamer rewrites a page so that each tag makes few elements.
type tamer struct {
	page    string
	out     strings.Builder
	count   int
	link    bool      // a link is open
	foreign atom.Atom // the picture or formula that is left out
	cut     bool
}

func (t *tamer) run() {
	t.out.Grow(len(t.page))
	z := html.NewTokenizer(strings.NewReader(t.page))
	raw := false // what comes is the text of an element of rawText
	for at := 0; ; {
		if !raw && countAttributes(t.page[at:]) > maxAttributes {
			t.cut = true
			return
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		text := string(z.Raw())
		at += len(text)
		if t.count++; t.count > maxElements {
			t.cut = true
			return
		}
		raw = t.take(z, kind, text)
	}
}

// take writes a token, and reports whether text of an element of rawText follows.
func (t *tamer) take(z *html.Tokenizer, kind html.TokenType, text string) (raw bool) {
	var name atom.Atom
	if kind == html.StartTagToken || kind == html.SelfClosingTagToken || kind == html.EndTagToken {
		tag, _ := z.TagName()
		name = atom.Lookup(tag)
	}
	start := kind == html.StartTagToken || kind == html.SelfClosingTagToken
	if start {
		t.count += countAttributes(text)
		raw = rawText[name]
	}
	switch {
	case kind == html.CommentToken:
		text = apartFromBefore
	case t.foreign != 0 && start && leaveForeign[name]:
		t.foreign = 0
	case t.foreign != 0:
		if kind == html.EndTagToken && name == t.foreign {
			t.foreign = 0
		}
		return raw
	case name == atom.Svg || name == atom.Math:
		if kind == html.StartTagToken {
			t.foreign = name
		}
		text = apartFromBefore
	case start && formatting[name]:
		if name == atom.A && t.link {
			t.out.WriteString("</" + ownPrefix + "a>")
		}
		t.link = t.link || name == atom.A
		text = "<" + ownPrefix + text[1:]
	case formatting[name]:
		t.link = t.link && name != atom.A
		text = "</" + ownPrefix + text[2:]
	}
	t.out.WriteString(text)
	return raw
}

// apartFromBefore replaces what is left out: the text before and after could make a tag.
const apartFromBefore = "<!---->"

// countAttributes counts the attributes of the tag at the beginning of text, up to
// maxAttributes+1.
func countAttributes(text string) (n int) {
	if len(text) < 2 || text[0] != '<' || text[1]|0x20 < 'a' || text[1]|0x20 > 'z' {
		return 0
	}
	at := 1
	skip := func(stops string) {
		for at < len(text) && strings.IndexByte(stops, text[at]) < 0 {
			at++
		}
	}
	blanks := func() {
		for at < len(text) && strings.IndexByte(" \n\r\t\f", text[at]) >= 0 {
			at++
		}
	}
	skip(" \n\r\t\f/>")
	for blanks(); at < len(text) && text[at] != '>' && n <= maxAttributes; blanks() {
		n++
		if text[at] == '=' {
			at++
		}
		skip(" \n\r\t\f/>=")
		blanks()
		switch {
		case at == len(text) || text[at] == '>':
		case text[at] == '/':
			at++
		case text[at] == '=':
			at++
			if blanks(); at == len(text) || text[at] == '>' {
				continue
			}
			if quote := text[at]; quote == '\'' || quote == '"' {
				at++
				skip(string(quote))
				at++
			} else {
				skip(" \n\r\t\f>")
			}
		}
	}
	return n
}

// watched is a reader that ends when parsing takes too long.
type watched struct {
	in    io.Reader
	until time.Time
	ctx   context.Context
	late  bool
}

func (w *watched) Read(p []byte) (int, error) {
	if w.late = w.late || time.Now().After(w.until); w.late || w.ctx.Err() != nil {
		return 0, io.EOF
	}
	return w.in.Read(p[:min(len(p), 1<<10)])
}
