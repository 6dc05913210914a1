package markdown

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

func (r mdRenderer) inlines(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.inline(c)
	}
}

func (r mdRenderer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		r.text(unescape(n.Segment.Value(r.source)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			r.out.newline()
		}
	case *ast.String:
		r.out.write(string(n.Value))
	case *ast.Emphasis:
		r.out.styled(emphasisKind(n.Level), "", func() { r.inlines(n) })
	case *extast.Strikethrough:
		r.out.styled(strikethrough, "", func() { r.inlines(n) })
	case *ast.CodeSpan:
		r.out.styled(code, "", func() { r.out.write(r.codeText(n)) })
	case *ast.Link:
		r.link(n, string(n.Destination), "")
	case *ast.Image:
		r.link(n, string(n.Destination), "🖼 ")
	case *ast.AutoLink:
		r.autoLink(n)
	case *ast.RawHTML:
		r.rawHTML(string(n.Segments.Value(r.source)))
	case *extast.TaskCheckBox: // part of the item's marker
	default:
		r.inlines(n)
	}
}

func emphasisKind(level int) string {
	if level == 2 {
		return bold
	}
	return italic
}

func (r mdRenderer) codeText(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// link writes a label as a link when Telegram takes the address, else both in plain
// sight. An image is a link with a sign before its label.
func (r mdRenderer) link(n ast.Node, destination, sign string) {
	url := restored(unescapeReferences(destination), r.out.formulas)
	start, works := r.out.mark(), linkable(url)
	content := func() {
		r.out.write(sign)
		r.inlines(n)
	}
	if works {
		r.out.styled(textLink, url, content)
	} else {
		content()
	}
	label := strings.TrimSpace(r.out.since(start))
	address := strings.TrimPrefix(strings.TrimPrefix(url, "mailto:"), "tel:")
	switch {
	case label == "":
		r.out.write(address)
	case !works && address != "" && label != address:
		r.out.write(" (" + address + ")")
	}
}

// autoLink leaves the brackets around an address that is no URL: "<a@b.c>" is
// how people write it.
func (r mdRenderer) autoLink(n *ast.AutoLink) {
	label := string(n.Label(r.source))
	if n.AutoLinkType == ast.AutoLinkEmail {
		label = "<" + label + ">"
	}
	r.out.write(label)
}

// rawHTML keeps a tag as the text that it is, but for the line break, which
// models need inside tables.
func (r mdRenderer) rawHTML(tag string) {
	switch strings.ToLower(strings.ReplaceAll(tag, " ", "")) {
	case "<br>", "<br/>":
		r.out.newline()
	default:
		r.out.write(tag)
	}
}

// unescape resolves backslash escapes and character references in one pass: an
// escaped "&" begins no reference. A backslash before a letter is a backslash.
func unescape(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '&') < 0 {
		return string(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			value, n := reference(s[i:])
			b.WriteString(value)
			i += n - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func unescapeReferences(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "&")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		value, n := reference([]byte("&" + after[:min(len(after), longestReference)]))
		b.WriteString(value)
		s = after[n-1:]
	}
}

// longestReference is longer than the longest name of HTML.
const longestReference = 40

// reference resolves the character reference that s begins with and returns
// how long it is; "&" when it is none.
func reference(s []byte) (value string, n int) {
	end := bytes.IndexByte(s[:min(len(s), longestReference)], ';')
	if end < 0 {
		return "&", 1
	}
	ref := s[:end+1]
	resolved := util.ResolveEntityNames(util.ResolveNumericReferences(bytes.Clone(ref)))
	if bytes.Equal(resolved, ref) {
		return "&", 1
	}
	return strings.Map(dropControl, strings.ToValidUTF8(string(resolved), "\uFFFD")), len(ref)
}

func dropControl(r rune) rune {
	if unicode.IsControl(r) || isDirection(r) {
		return -1
	}
	return r
}
