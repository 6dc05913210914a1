package document

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/engine/internal/confined"
	"klawbot/tools/charset"
	"klawbot/tools/terminal"
	"klawbot/tools/web/page"
)

// maxText bounds the text that a reader makes of a document, in bytes.
const maxText = 24 << 20

// pieceChars is about how long a piece of a text is that has no parts of its own.
const pieceChars = 4000

// list is a document whose parts are all known.
type list struct {
	name string
	all  []part
}

func (l list) unit() string { return l.name }

func (l list) count() int { return len(l.all) }

func (l list) part(_ context.Context, n int) (part, error) { return l.all[n-1], nil }

// pieces cuts a text into parts, at the end of a paragraph where there is one near, else
// of a line, else of a word.
func pieces(text string) list {
	l := list{name: "part"}
	text = strings.Trim(text, "\n")
	for text != "" {
		end := pieceEnd(text)
		l.all = append(l.all, part{text: strings.TrimRight(text[:end], "\n")})
		text = strings.TrimLeft(text[end:], "\n")
	}
	if len(l.all) == 0 {
		l.all = []part{{}}
	}
	return l
}

// pieceEnd is where the first piece of a text ends.
func pieceEnd(text string) int {
	end, chars := len(text), 0
	for i := range text {
		if chars == pieceChars {
			end = i
			break
		}
		chars++
	}
	if end == len(text) {
		return end
	}
	head := text[:end]
	for _, sign := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(head, sign); i > end/2 {
			return i + len(sign)
		}
	}
	return end
}

// plain reads text of whatever kind: tables, Markdown, JSON, code, web pages.
func (in *input) plain(ctx context.Context) (kind string, all parts, err error) {
	if in.size > maxText {
		return "", nil, &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
	}
	raw, err := io.ReadAll(io.LimitReader(in.File, maxText))
	if err != nil {
		return "", nil, err
	}
	if in.isPage(raw) {
		text, err := webPage(ctx, charset.Decode(raw, "", false).Body)
		return "html", pieces(text), err
	}
	t, ok := charset.Guess(raw)
	if strings.Contains(t.Body, "\x1b[") { // a log with colours
		t.Body = terminal.Text(t.Body)
	}
	if !ok || binary(t.Body) {
		return "", nil, &confined.Fault{Kind: confined.Broken, Detail: "it is no text"}
	}
	kind = "text"
	switch ext := in.extension(); ext {
	case "csv", "tsv", "md", "json":
		kind = ext
	}
	return kind, pieces(tidy(t.Body)), nil
}

// isPage reports whether a text is a web page.
func (in *input) isPage(raw []byte) bool {
	switch in.extension() {
	case "html", "htm", "xhtml", "mht":
		return bytes.IndexByte(raw, '<') >= 0
	case "":
		head := bytes.ToLower(bytes.TrimSpace(raw[:min(len(raw), 512)]))
		return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
	}
	return strings.HasPrefix(in.mime, "text/html") || strings.HasPrefix(in.mime, "application/xhtml")
}

// webPage is the text of a page, by the reader of http_request.
func webPage(ctx context.Context, text string) (string, error) {
	md, err := page.Markdown(ctx, text, &url.URL{Scheme: "file", Path: "/"})
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &confined.Fault{Kind: confined.Broken, Detail: "its page cannot be read"}
	}
	return tidy(md), nil
}

// binary reports whether a text is none: one character in fifty is a control character.
func binary(text string) bool {
	odd := 0
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r == utf8.RuneError {
			odd++
		}
	}
	return odd*50 > utf8.RuneCountInString(text)
}

// tidy is a text without control characters, spaces at the ends of lines, and more than
// one empty line in a row.
func tidy(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	var b strings.Builder
	empty := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t\u00a0")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:min(empty, 1)+1])
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}
