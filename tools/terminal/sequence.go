package terminal

import (
	"slices"
	"strconv"
	"strings"
)

// escape takes the sequence after an ESC and returns what follows it.
func (s *screen) escape(text string) (rest string) {
	if text == "" {
		return ""
	}
	switch c := text[0]; {
	case c == '[':
		return s.control(text[1:])
	case strings.IndexByte("]PX^_", c) >= 0:
		return skipString(text[1:], c == 'P')
	case c >= ' ' && c <= '/': // it has one more character: ESC ( 0 selects line drawing
		if len(text) < 2 || text[1] < ' ' || text[1] > '~' {
			return text[1:]
		}
		if set := strings.IndexByte("()", c); set >= 0 {
			s.drawing[set] = text[1] == '0'
		}
		return text[2:]
	case c == '7':
		s.saved = [2]int{s.row, s.col}
	case c == '8':
		s.move(s.saved[0], s.saved[1])
	case c == 'c':
		s.alternate(false)
		s.clear()
		s.row, s.col, s.lines, s.drawing = 0, 0, s.lines[:1], [2]bool{}
	case c == 'D':
		s.move(s.row+1, s.col)
	case c == 'E':
		s.newline()
	case c == 'M':
		s.move(s.row-1, s.col)
	case c < ' ' || c > '~': // no sequence
		return text
	}
	return text[1:]
}

// skipString returns what follows the string of a sequence: a title, a link, a picture.
// One that does not end in its line is no string; only those of a device (DCS) have
// several lines.
func skipString(text string, lines bool) (rest string) {
	for i, r := range text {
		switch {
		case r == 0x07 || r == 0x9c:
			return text[i+len(string(r)):]
		case r == 0x1b:
			return strings.TrimPrefix(text[i+1:], `\`)
		case r == '\n' && !lines:
			return text[i:]
		}
	}
	return ""
}

// control takes a control sequence after its CSI and returns what follows it.
func (s *screen) control(text string) (rest string) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '?' {
		i++
	}
	end := i
	for end < len(text) && text[end] >= ' ' && text[end] <= '/' {
		end++
	}
	if end == len(text) {
		return ""
	}
	if text[end] < '@' || text[end] > '~' { // broken off
		return text[end:]
	}
	if end == i && s.steps.Spend(1) {
		s.perform(text[end], text[:i])
	}
	return text[end+1:]
}

// numbers are the first two parameters of a sequence, 0 for those that are missing.
func numbers(parameters string) (first, second int) {
	a, b, _ := strings.Cut(parameters, ";")
	b, _, _ = strings.Cut(b, ";")
	first, _ = strconv.Atoi(a)
	second, _ = strconv.Atoi(b)
	return min(max(first, 0), 9999), min(max(second, 0), 9999)
}

// perform does what a control sequence says.
func (s *screen) perform(final byte, parameters string) {
	if mode, private := strings.CutPrefix(parameters, "?"); private {
		if set := final == 'h'; (set || final == 'l') && slices.Contains([]string{"47", "1047", "1049"}, mode) {
			s.alternate(set)
		}
		if final != 'J' && final != 'K' {
			return
		}
		parameters = mode
	}
	first, second := numbers(parameters)
	n := max(first, 1)
	switch final {
	case 'A':
		s.move(s.row-n, s.col)
	case 'B', 'e':
		s.move(s.below(n), s.col)
	case 'C', 'a':
		s.move(s.row, s.col+n)
	case 'D':
		s.move(s.row, s.col-n)
	case 'E':
		s.move(s.below(n), 0)
	case 'F':
		s.move(s.row-n, 0)
	case 'G', '`':
		s.move(s.row, n-1)
	case 'd':
		s.move(n-1, s.col)
	case 'H', 'f':
		s.move(n-1, max(second, 1)-1)
	case 's':
		s.saved = [2]int{s.row, s.col}
	case 'u':
		s.move(s.saved[0], s.saved[1])
	default:
		s.edit(final, first)
	}
}

// below is the row n rows down. A terminal stops at its last row, which most often is
// the last line.
func (s *screen) below(n int) int { return min(s.row+n, max(len(s.lines)-1, s.row)) }

// edit erases, inserts and deletes.
func (s *screen) edit(final byte, first int) {
	n, l := max(first, 1), s.line(0)
	if !s.steps.Spend(height + len(*l)/8 + n) {
		return
	}
	switch final {
	case 'J':
		s.erase(first)
	case 'K':
		switch first {
		case 0:
			l.cut(s.col)
		case 1:
			l.blank(0, s.col+1)
		case 2:
			*l = nil
		}
	case 'X':
		l.blank(s.col, s.col+n)
	case 'P':
		if s.col < len(*l) {
			l.blank(s.col, s.col+n)
			*l = slices.Delete(*l, s.col, min(s.col+n, len(*l)))
		}
	case '@':
		if s.col < len(*l) {
			l.blank(s.col, s.col)
			*l = slices.Insert(*l, s.col, slices.Repeat([]string{" "}, min(n, width))...)
		}
	case 'L':
		s.col = 0
		s.lines = slices.Insert(s.lines, s.row, make([]line, min(n, base))...)
		s.lines = s.lines[:min(len(s.lines), height)]
	case 'M':
		s.col = 0
		s.lines = slices.Delete(s.lines, s.row, min(s.row+n, len(s.lines)))
	case 'b':
		for range min(n, width) {
			if s.last != "" && s.blanks.Spend(1) {
				s.print(s.last)
			}
		}
	}
}

// erase erases the screen: below the cursor, above it, or all.
func (s *screen) erase(part int) {
	switch part {
	case 0:
		if s.row == 0 && s.col == 0 {
			s.clear()
			return
		}
		s.line(0).cut(s.col)
		s.lines = s.lines[:s.row+1]
	case 1:
		clear(s.lines[:s.row])
		s.line(0).blank(0, s.col+1)
	case 2:
		s.clear()
	case 3: // what has left the screen
		s.done.Reset()
	}
}
