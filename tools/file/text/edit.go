package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a text with LF line ends and composed letters (NFC). A model's text is
// looked for in it, so that it need not know how the file spells them.
type view struct {
	text string
	// from says for each byte of text, and for its end, where it is in the file's.
	from []int
}

func viewOf(text string) view {
	v := view{from: make([]int, 0, len(text)+1)}
	var b strings.Builder
	var letters norm.Iter
	for letters.InitString(norm.NFC, text); !letters.Done(); {
		at := letters.Pos()
		letter := letters.Next()
		if letter[0] == '\r' && strings.HasPrefix(text[at:], "\r\n") {
			continue // the \n that follows begins one byte earlier
		}
		if letter[0] == '\n' && at > 0 && text[at-1] == '\r' {
			at--
		}
		for range letter {
			v.from = append(v.from, at)
		}
		b.Write(letter)
	}
	v.text, v.from = b.String(), append(v.from, len(text))
	return v
}

// between reports whether a place in the view lies between two letters.
func (v view) between(at int) bool { return at == 0 || v.from[at] != v.from[at-1] }

// Span is a piece of a text, from one byte to another, and the line it begins in.
type Span struct{ From, To, Line int }

// Find lists the places of old in the text, also overlapping ones, up to most+1 of them.
// Line ends and forms of letters do not matter.
func (t Text) Find(old string, most int) (found []Span) {
	v, what := viewOf(t.Body), viewOf(old).text
	if what == "" {
		return nil
	}
	line, counted := 1, 0
	for from := 0; len(found) <= most; {
		at := strings.Index(v.text[from:], what)
		if at < 0 {
			break
		}
		at += from
		if v.between(at) && v.between(at+len(what)) {
			line += strings.Count(v.text[counted:at], "\n")
			counted = at
			found = append(found, Span{v.from[at], v.from[at+len(what)], line})
		}
		_, size := utf8.DecodeRuneInString(v.text[at:])
		from = at + size
	}
	return found
}

// Replace puts a text in the place of a span. Each line keeps its line end, lines
// that are added get the one near them, and decomposed letters stay decomposed.
func (t Text) Replace(s Span, with string) Text {
	old := t.Body[s.From:s.To]
	if !norm.NFC.IsNormalString(old) && norm.NFD.IsNormalString(old) {
		with = norm.NFD.String(with)
	}
	var own []string
	for line := range strings.Lines(old) {
		if strings.HasSuffix(line, "\n") {
			own = append(own, LineEnd(line, 0))
		}
	}
	t.Body = t.Body[:s.From] + withEnds(with, own, LineEnd(t.Body, s.To)) + t.Body[s.To:]
	return t
}
