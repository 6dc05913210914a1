package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// vt is a terminal: what a person sees of what a program writes. It knows the commands
// that editors of lines use.
type vt struct {
	cols, rows int
	cells      [][]rune
	above      []string // lines that have left the screen
	x, y       int
	wrap       bool // the next character begins a line
	keptX      int
	keptY      int
	last       rune
	part       []byte // of a character or a command
}

func newVT(cols, rows int) *vt {
	v := &vt{cols: cols, rows: rows}
	for range rows {
		v.cells = append(v.cells, v.blank())
	}
	return v
}

func (v *vt) blank() []rune { return []rune(strings.Repeat(" ", v.cols)) }

// text is all that is and was on the screen, without the blanks at the ends.
func (v *vt) text() string {
	var b strings.Builder
	for _, line := range v.above {
		b.WriteString(line + "\n")
	}
	for _, row := range v.cells {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// Write takes what a program writes.
func (v *vt) Write(p []byte) (int, error) {
	v.part = append(v.part, p...)
	for len(v.part) > 0 {
		n := v.take(v.part)
		if n == 0 {
			break
		}
		v.part = v.part[n:]
	}
	return len(p), nil
}

// take acts on the first character or command, and returns its length, 0 when it is not
// complete.
func (v *vt) take(p []byte) int {
	switch c := p[0]; {
	case c == '\x1b':
		return v.escape(p)
	case c == '\r':
		v.x, v.wrap = 0, false
	case c == '\n':
		v.down()
	case c == '\b':
		v.x, v.wrap = max(v.x-1, 0), false
	case c == '\t':
		v.x = min((v.x/8+1)*8, v.cols-1)
	case c < ' ' || c == 0x7f:
	default:
		if !utf8.FullRune(p) {
			return 0
		}
		r, n := utf8.DecodeRune(p)
		v.put(r)
		return n
	}
	return 1
}

func (v *vt) put(r rune) {
	width := 1
	switch {
	case unicode.In(r, unicode.Mn, unicode.Cf) || r == 0xFE0F:
		return
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFF60, r >= 0x1F300 && r <= 0x1FAFF, r == '⏰', r == '✅':
		width = 2
	}
	if v.wrap || v.x+width > v.cols {
		v.x, v.wrap = 0, false
		v.down()
	}
	v.cells[v.y][v.x] = r
	if width == 2 {
		v.cells[v.y][v.x+1] = 0
	}
	v.last = r
	if v.x += width; v.x >= v.cols {
		v.x, v.wrap = v.cols-1, true
	}
}

func (v *vt) down() {
	if v.y < v.rows-1 {
		v.y++
		return
	}
	v.above = append(v.above, strings.TrimRight(strings.ReplaceAll(string(v.cells[0]), "\x00", ""), " "))
	v.cells = append(v.cells[1:], v.blank())
}

// escape acts on a command.
func (v *vt) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				v.control(string(p[2:i]), p[i])
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^':
		for i := 2; i < len(p); i++ {
			if p[i] == '\a' {
				return i + 1
			}
			if p[i] == '\x1b' && i+1 < len(p) && p[i+1] == '\\' {
				return i + 2
			}
		}
		return 0
	case '(', ')':
		if len(p) < 3 {
			return 0
		}
		return 3
	case '7':
		v.keptX, v.keptY = v.x, v.y
	case '8':
		v.x, v.y, v.wrap = v.keptX, v.keptY, false
	case 'M':
		if v.y > 0 {
			v.y--
		} else {
			v.cells = append([][]rune{v.blank()}, v.cells[:v.rows-1]...)
		}
	case 'D':
		v.down()
	case 'E':
		v.x = 0
		v.down()
	}
	return 2
}

// control acts on a command with numbers.
func (v *vt) control(args string, command byte) {
	if strings.ContainsAny(args, "?<>=$ ") {
		return // modes and questions
	}
	var n []int
	for part := range strings.SplitSeq(args, ";") {
		number, _ := strconv.Atoi(part) // none is 0
		n = append(n, number)
	}
	one := max(n[0], 1)
	if command != 'm' {
		v.wrap = false
	}
	row := v.cells[v.y]
	switch command {
	case 'A':
		v.y = max(v.y-one, 0)
	case 'B':
		v.y = min(v.y+one, v.rows-1)
	case 'C':
		v.x = min(v.x+one, v.cols-1)
	case 'D':
		v.x = max(v.x-one, 0)
	case 'E':
		v.x, v.y = 0, min(v.y+one, v.rows-1)
	case 'F':
		v.x, v.y = 0, max(v.y-one, 0)
	case 'G', '`':
		v.x = min(one, v.cols) - 1
	case 'd':
		v.y = min(one, v.rows) - 1
	case 'H', 'f':
		column := 1
		if len(n) > 1 {
			column = max(n[1], 1)
		}
		v.x, v.y = min(column, v.cols)-1, min(one, v.rows)-1
	case 'I':
		v.x = min((v.x/8+one)*8, v.cols-1)
	case 'Z':
		v.x = max(((v.x+7)/8-one)*8, 0)
	case 'X':
		for i := v.x; i < min(v.x+one, v.cols); i++ {
			row[i] = ' '
		}
	case 'P':
		copy(row[v.x:], append(row[min(v.x+one, v.cols):], v.blank()...))
	case '@':
		kept := string(row[v.x:])
		copy(row[v.x:], append([]rune(strings.Repeat(" ", one)), []rune(kept)...))
	case 'b':
		for range one {
			v.put(v.last)
		}
	case 'K', 'J':
		v.erase(command, n[0])
	case 'L':
		for range one {
			v.cells = append(v.cells[:v.y], append([][]rune{v.blank()}, v.cells[v.y:v.rows-1]...)...)
		}
	case 'M':
		for range one {
			v.cells = append(append(v.cells[:v.y], v.cells[v.y+1:]...), v.blank())
		}
	case 'S':
		for range one {
			v.above = append(v.above, strings.TrimRight(string(v.cells[0]), " "))
			v.cells = append(v.cells[1:], v.blank())
		}
	case 'T':
		for range one {
			v.cells = append([][]rune{v.blank()}, v.cells[:v.rows-1]...)
		}
	}
}

// erase clears a part of the line or of the screen.
func (v *vt) erase(command byte, how int) {
	row := v.cells[v.y]
	from, to := v.x, v.cols
	switch how {
	case 1:
		from, to = 0, v.x+1
	case 2:
		from = 0
	}
	for i := from; i < to; i++ {
		row[i] = ' '
	}
	if command != 'J' {
		return
	}
	for y := range v.cells {
		if how == 2 || how == 3 || how == 0 && y > v.y || how == 1 && y < v.y {
			v.cells[y] = v.blank()
		}
	}
}
