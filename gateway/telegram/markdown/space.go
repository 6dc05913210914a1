package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// whiteRun is a run of white space that a text may be cut at.
type whiteRun struct{ start, end int }

// spaceRun finds the first run in text that starts at from or later and not
// after limit; an empty one when there is none. It looks no further than limit,
// or a text without spaces would be searched to its end for every part.
func spaceRun(text string, from, limit int) whiteRun {
	window := text[from:min(limit+utf8.UTFMax, len(text))]
	start := strings.IndexFunc(window, isBreakSpace)
	if start < 0 || from+start > limit {
		return whiteRun{}
	}
	length := strings.IndexFunc(window[start:], func(r rune) bool { return !isBreakSpace(r) })
	if length < 0 {
		length = len(window) - start
	}
	return whiteRun{from + start, from + start + length}
}

// isBreakSpace is white space without the spaces that keep words together.
func isBreakSpace(r rune) bool {
	return unicode.IsSpace(r) && r != '\u00A0' && r != '\u202F'
}

// breakable says that the run is not part of a grapheme cluster with its
// neighbours, such as a space that carries an accent.
func (w whiteRun) breakable(text string) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:w.start])
	after, _ := utf8.DecodeRuneInString(text[w.end:])
	if before < 0x300 && after < 0x300 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[w.start:])
	last, _ := utf8.DecodeLastRuneInString(text[:w.end])
	return uniseg.GraphemeClusterCount(string([]rune{before, first})) == 2 &&
		uniseg.GraphemeClusterCount(string([]rune{last, after})) == 2
}

// kind is what the run is worth as a place to cut at.
func (w whiteRun) kind(text string, inside bool) int {
	lines := strings.Count(text[w.start:w.end], "\n")
	switch {
	case lines > 1 && !inside:
		return atBlankLine
	case lines == 1 && !inside:
		return atLine
	case lines > 1:
		return atBlankLineInside
	case lines == 1:
		return atLineInside
	}
	if r, _ := utf8.DecodeLastRuneInString(text[:w.start]); strings.ContainsRune(".!?…。！？", r) {
		return atSentence
	}
	return atSpace
}
