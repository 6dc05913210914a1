package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// The types of entities, in Telegram's words.
const (
	bold          = "bold"
	italic        = "italic"
	strikethrough = "strikethrough"
	code          = "code"
	pre           = "pre"
	textLink      = "text_link"
	quote         = "blockquote"
	longQuote     = "expandable_blockquote"
)

// longQuoteLines is the length from which a quote is folded.
const longQuoteLines = 8

// span is an entity before it is counted in UTF-16: start and end are bytes.
type span struct {
	kind       string
	start, end int
	url        string
	language   string
}

// block spans keep the indentation of their first line and stand on lines of
// their own.
func (s span) block() bool { return s.kind == pre || s.kind == quote || s.kind == longQuote }

// rich is formatted text. Its spans are sorted (outer before inner), not
// empty, properly nested, and nothing is in or around code and pre but quotes.
type rich struct {
	text  string
	spans []span
	// headings are the places where a heading ends, ascending.
	headings []int
}

// richWriter builds rich text. Line ends and indentation are owed until the
// next text comes, so that there are none before nothing.
type richWriter struct {
	text     []byte
	spans    []span
	headings []int
	owedGap  int
	owed     string // indentation, or the space after a marker
	hang     string // indentation of the lines after the first
	inQuote  bool
	formulas []formula // of the section that is written
	active   map[string]bool
}

// gap asks for n line ends before the next text.
func (w *richWriter) gap(n int) { w.owedGap = max(w.owedGap, n) }

// indent begins a block in the given level of lists.
func (w *richWriter) indent(level int) {
	w.owed = strings.Repeat(listIndent, level)
	w.hang = w.owed
}

// hanging indents what follows after the line that has begun.
func (w *richWriter) hanging(level int) { w.hang = strings.Repeat(listIndent, level) }

// owe puts a space before the next text, should it come on the same line.
func (w *richWriter) owe(space string) { w.owed = space }

func (w *richWriter) newline() {
	w.gap(1)
	w.owed = w.hang
}

func (w *richWriter) write(s string) {
	if s == "" {
		return
	}
	s = restored(s, w.formulas)
	if len(w.text) > 0 {
		w.text = append(w.text, "\n\n"[:w.owedGap]...)
	}
	w.text = append(w.text, w.owed...)
	w.owedGap, w.owed = 0, ""
	w.text = append(w.text, s...)
}

func (w *richWriter) mark() int { return len(w.text) }

func (w *richWriter) since(mark int) string { return string(w.text[mark:]) }

func (w *richWriter) blank() bool { return isBlank(string(w.text)) }

func (w *richWriter) markHeading() { w.headings = append(w.headings, len(w.text)) }

// styled formats what content writes. Inside code, or inside the same style,
// there is nothing to format; a link with code in it is a link.
func (w *richWriter) styled(kind, url string, content func()) {
	if w.active[kind] || kind == code && w.active[textLink] {
		content()
		return
	}
	if w.active == nil {
		w.active = map[string]bool{}
	}
	w.active[kind] = true
	start := len(w.text)
	content()
	w.spans = append(w.spans, span{kind: kind, start: start, end: len(w.text), url: url})
	w.active[kind] = false
}

func (w *richWriter) quoted(content func()) {
	if w.inQuote {
		content()
		return
	}
	w.inQuote = true
	start := len(w.text)
	content()
	s := span{kind: quote, start: start, end: len(w.text)}
	if bytes.Count(bytes.TrimSpace(w.text[start:]), []byte("\n")) >= longQuoteLines {
		s.kind = longQuote
	}
	w.spans = append(w.spans, s)
	w.inQuote = false
}

// pre writes a block of code or a table.
func (w *richWriter) pre(s, language string) {
	s = strings.TrimRightFunc(strings.TrimLeft(s, "\n"), unicode.IsSpace)
	if s == "" {
		return
	}
	w.indent(0)
	start := len(w.text)
	w.write(s)
	w.spans = append(w.spans, span{kind: pre, start: start, end: len(w.text), language: language})
}

// finish returns what was written, with its spans in order.
func (w *richWriter) finish() rich {
	text := string(w.text)
	spans := spare(w.spans)
	kept := spans[:0]
	for _, s := range spans {
		if s = s.trim(text); s.start < s.end {
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, compareSpans)
	return rich{text, kept, w.headings}
}

func compareSpans(a, b span) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(b.rank(), a.rank()))
}

// rank orders spans over the same text as Telegram does: quotes are around
// all, links around styles.
func (s span) rank() int {
	switch s.kind {
	case quote, longQuote:
		return 4
	case textLink:
		return 3
	case bold:
		return 2
	case italic:
		return 1
	}
	return 0
}

// splittable says that two pieces look like one.
func (s span) splittable() bool {
	return s.kind == bold || s.kind == italic || s.kind == strikethrough
}

// trim takes white space off both ends. The indentation of code stays.
func (s span) trim(text string) span {
	t := strings.TrimRightFunc(text[s.start:s.end], unicode.IsSpace)
	s.end = s.start + len(t)
	if s.block() {
		t = strings.TrimLeft(t, "\n")
	} else {
		t = strings.TrimLeftFunc(t, unicode.IsSpace)
	}
	s.start = s.end - len(t)
	return s
}

// spare cuts the styles around code into the pieces beside it: Telegram
// allows no entity around code but quotes and links.
func spare(spans []span) []span {
	var codes []span
	for _, s := range spans {
		if s.kind == code {
			codes = append(codes, s)
		}
	}
	if len(codes) == 0 {
		return spans
	}
	var out []span
	for _, s := range spans {
		if !s.splittable() {
			out = append(out, s)
			continue
		}
		i, _ := slices.BinarySearchFunc(codes, s.start, func(c span, at int) int { return cmp.Compare(c.start, at) })
		for ; i < len(codes) && codes[i].start < s.end; i++ {
			piece := s
			piece.end = codes[i].start
			out = append(out, piece)
			s.start = codes[i].end
		}
		out = append(out, s)
	}
	return out
}

// isBlank says whether nothing of s would be seen. Telegram refuses a message
// without visible text.
func isBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !isInvisible(r) })
}

func isInvisible(r rune) bool {
	if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
		return true
	}
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u2800', '\u3164', '\uFFA0':
		return true
	}
	return false
}
