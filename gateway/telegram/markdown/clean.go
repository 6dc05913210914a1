package markdown

import (
	"strings"
	"unicode"

	"klawbot/internal/clip"
)

const (
	// maxMarkdown is the longest text that is rendered, in bytes; the rest is
	// cut off with a visible mark.
	maxMarkdown = 1 << 20
	// maxBlankLines in a row are kept: each one costs the parser a walk
	// through all open blocks.
	maxBlankLines = 3
)

// cleanMarkdown makes valid UTF-8 with "\n" line ends out of any bytes, without
// control characters (tab excepted) and without the marks that turn the
// direction of text, which can make a text read other than it is.
func cleanMarkdown(s string) (clean string, cut bool) {
	short := clip.Bytes(s, maxMarkdown)
	cut = len(short) < len(s)
	s = strings.ToValidUTF8(short, "\uFFFD")
	var b strings.Builder
	b.Grow(len(s))
	blank := 0
	for line := range strings.Lines(strings.ReplaceAll(s, "\r\n", "\n")) {
		line = strings.Map(cleanRune, line)
		if strings.TrimLeft(line, " \t\n") == "" {
			blank++
		} else {
			blank = 0
		}
		if blank <= maxBlankLines {
			b.WriteString(line)
		}
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace), cut
}

func cleanRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r >= firstFormula:
		return '\uFFFD'
	default:
		return dropControl(r)
	}
}

// isDirection reports the embeddings, overrides and isolates of text direction.
func isDirection(r rune) bool {
	return '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}
