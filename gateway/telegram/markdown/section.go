package markdown

import (
	"strings"

	"klawbot/internal/clip"
)

// maxSection is how much is parsed at once, in bytes. Markdown parsers are not
// linear for every text; sections of bounded size are.
const maxSection = 32 << 10

// section is a piece of Markdown that is parsed on its own. Its link
// definitions are not seen by the others.
type section struct {
	// gap is the number of line ends between this and the section before.
	gap  int
	text string
}

// sections cuts a long text between blocks where it can. A code fence that has
// to be cut is opened again in the next section.
func sections(md string) []section {
	var all []section
	var fence string
	gap := 0
	for len(md) > maxSection {
		s := findSeam(clip.Bytes(md, maxSection), fence)
		all = append(all, section{gap, fence + md[:s.end]})
		md, fence, gap = md[s.end:], s.fence, s.gap
	}
	return append(all, section{gap, fence + md})
}

// seam is a place to cut at: what the next section is to begin with, and how
// far it is from this one.
type seam struct {
	end   int
	fence string
	gap   int
}

// findSeam prefers, in this order: the last unindented line after a blank one,
// the last line, the last character.
func findSeam(md, fence string) seam {
	var best, last seam
	at, blank := 0, false
	for line := range strings.SplitAfterSeq(md, "\n") {
		if at > 0 {
			last = seam{at, fence, 1}
			if blank && fence == "" && !isSpaceByte(byteAt([]byte(line), 0)) {
				best = seam{at, "", 2}
			}
		}
		blank = strings.TrimSpace(line) == ""
		fence = nextFence(line, fence)
		at += len(line)
	}
	switch {
	case best.end > 0:
		return best
	case last.end > 0:
		return last
	}
	return seam{len(md), fence, 0}
}

// nextFence returns the line that opened the code fence which is open after
// line, "" for none. Very long lines are taken for no fence.
func nextFence(line, open string) string {
	bare := strings.TrimLeft(line, " ")
	if len(line)-len(bare) > 3 || len(line) > 100 {
		return open
	}
	mark := fenceMark(bare)
	switch {
	case mark == "":
		return open
	case open == "":
		return strings.TrimRight(line, "\n") + "\n"
	case strings.TrimSpace(bare) == mark && strings.HasPrefix(mark, fenceMark(strings.TrimLeft(open, " "))):
		return ""
	}
	return open
}

// fenceMark is the run of at least three backticks or tildes that line begins
// with.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
