package markdown

import "strings"

const (
	// maxMarkers is how many quotes and lists may open on one line.
	maxMarkers = 32
	// maxCells bounds a table: a parser fills short rows up to the width of
	// the header.
	maxCells = 30_000
	// denseFrom is the length in bytes from which markup that makes up a
	// third of the text is not meant as such.
	denseFrom = 8 << 10
	// maxLinks and maxEscapedTicks bound what makes the parser search the rest
	// of a paragraph in vain, each time: a link that does not end, and a run
	// of backticks made shorter by a backslash, which has no partner.
	maxLinks        = 1000
	maxEscapedTicks = 100
)

// hostile reports text that would cost the Markdown parser more than linear
// time or memory. No person and no sane model writes it; it is shown as it is.
func hostile(md string) bool {
	lines, pipes, marks := 0, 0, 0
	for _, mark := range []string{"*", "_", "~", "[", "]"} {
		marks += strings.Count(md, mark)
	}
	for line := range strings.Lines(md) {
		lines++
		pipes = max(pipes, strings.Count(line, "|"))
		if markers(line) > maxMarkers {
			return true
		}
	}
	return pipes*lines > maxCells || len(md) > denseFrom && marks*3 > len(md) ||
		strings.Count(md, "](") > maxLinks || strings.Count(md, "\\`") > maxEscapedTicks
}

// markers counts what opens a block in front of the line's text.
func markers(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case isSpaceByte(c):
		case c == '>':
			n++
		case strings.IndexByte("-+*.)", c) >= 0 && i+1 < len(line) && isSpaceByte(line[i+1]):
			n++
		case '0' <= c && c <= '9':
		default:
			return n
		}
	}
	return n
}

// Hostile reports text that would cost a Markdown parser too much.
func Hostile(md string) bool { return hostile(md) }
