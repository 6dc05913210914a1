package clip

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Cut is a text without its middle.
type Cut struct {
	// Head and Tail are the parts that are shown, whole lines where possible. Tail is
	// empty when nothing was cut.
	Head, Tail string
	// Lines and Chars count what is omitted, Lines by its line ends.
	Lines, Chars int
}

// Ends shortens a text to n characters, half of them from its beginning and half from
// its end, and splits no character that a reader sees as one.
func Ends(text string, n int) Cut {
	chars := utf8.RuneCountInString(text)
	if chars <= n {
		return Cut{Head: text}
	}
	head, tail := len(Head(text, n-n/2)), len(text)-len(Tail(text, n/2))
	if i := strings.LastIndexByte(text[:head], '\n') + 1; i > head/2 {
		head = i
	} else {
		head = seam(text, head)
	}
	if i := strings.IndexByte(text[tail:], '\n') + 1; i > 0 && i < (len(text)-tail)/2 {
		tail += i
	} else if s := seam(text, tail); s < tail {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[s:], -1)
		tail = s + len(cluster)
	}
	omitted := text[head:tail]
	return Cut{text[:head], text[tail:], strings.Count(omitted, "\n"), utf8.RuneCountInString(omitted)}
}

// seam is the last place up to at where a text can be cut without splitting a character
// that a reader sees as one. One of several hundred bytes is split all the same.
func seam(text string, at int) int {
	const far = 256
	start := max(at-far, 0)
	for start < at && !utf8.RuneStart(text[start]) {
		start++
	}
	for { // flags are pairs: begin before the first of several
		if r, size := utf8.DecodeLastRuneInString(text[:start]); r >= '\U0001F1E6' && r <= '\U0001F1FF' {
			start -= size
			continue
		}
		break
	}
	for rest, state, last := text[start:], -1, start; ; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		switch next := last + len(cluster); {
		case next == at || cluster == "":
			return at
		case next > at && at-last > far/2:
			return at
		case next > at:
			return last
		default:
			last = next
		}
	}
}

// Omitted says how much is omitted.
func (c Cut) Omitted() string {
	if c.Lines == 0 {
		return fmt.Sprintf("%d characters omitted", c.Chars)
	}
	return fmt.Sprintf("%d lines (%d characters) omitted", c.Lines, c.Chars)
}

// Join is the text with a line, or several, in the place of its middle.
func (c Cut) Join(note string) string {
	if c.Chars == 0 {
		return c.Head
	}
	return strings.TrimSuffix(c.Head, "\n") + "\n" + note + "\n" + c.Tail
}

// Middle is a text of about so many bytes: its beginning and its end.
func Middle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	c := Ends(text, most*utf8.RuneCountInString(text)/len(text))
	return c.Join("[… " + c.Omitted() + " …]")
}
