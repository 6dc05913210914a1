// Package terminal turns what a program wrote into what a terminal would show of it in
// the end: progress bars in their last state, no colours, no control characters.
//
// The screen differs from a real one where that keeps text: lines never wrap, a tab stays
// a tab, and a screen that was cleared at the very end is shown as it was before. The work
// is bounded; what is left then is shown without cursor movements.
package terminal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"klawbot/tools/budget"
)

// The size of the screen. Lines above height are final, while the cursor reaches an
// empty part of the screen only within width and base.
const (
	height = 200
	base   = 24
	width  = 80
	tab    = 8

	maxCharacter = 64      // bytes of a character with what joins it later
	maxBlanks    = 1 << 16 // besides a quarter of the text
)

// Text is the text that a terminal shows after a program wrote raw.
func Text(raw string) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(raw, "\uFFFD"), "\r\n", "\n")
	if !strings.ContainsFunc(text, controls) {
		return text
	}
	s := &screen{lines: make([]line, 1), steps: budget.For(len(text)), blanks: budget.Of(maxBlanks + len(text)/4)}
	for text != "" {
		text = s.write(text)
	}
	return s.text()
}

// Captured is Text for what may be the output of a program or the content of a file: only
// a text with an escape sequence is changed.
func Captured(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return Text(text)
}

func controls(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// line holds one character per column. "" continues the wide character or tab before it.
type line []string

// screen is a terminal.
type screen struct {
	done     strings.Builder // the lines above the screen
	lines    []line
	row, col int
	saved    [2]int
	// cleared is what was there before the screen was last cleared or left.
	cleared []line
	// main is the main screen while the alternate one is shown.
	main *screen
	// drawing says which of the two character sets draws lines; second, that it is in use.
	drawing [2]bool
	second  int
	last    string // the last character, for REP
	steps   *budget.Budget
	// blanks bounds how many blanks the cursor may leave behind, so that a short output
	// does not become a long one.
	blanks *budget.Budget
}

// write takes one control sequence or a run of text, and returns what follows.
func (s *screen) write(text string) (rest string) {
	r, size := utf8.DecodeRuneInString(text)
	rest = text[size:]
	switch r {
	case '\n', '\v', '\f', 0x85:
		s.newline()
	case '\r':
		if s.col = 0; s.steps.Spent() {
			s.newline()
		}
	case '\b':
		s.col = max(s.col-1, 0)
	case '\t':
		s.tab()
	case 0x0e, 0x0f:
		s.second = int(0x0f - r)
	case 0x1b:
		return s.escape(rest)
	case 0x9b:
		return s.control(rest)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return skipString(rest, r == 0x90)
	default:
		if unicode.IsControl(r) {
			return rest
		}
		return s.print(text)
	}
	return rest
}

// print writes the first character of a text.
func (s *screen) print(text string) (rest string) {
	c, columns := text[:1], 1
	if rest = text[1:]; text[0] >= utf8.RuneSelf || rest != "" && rest[0] >= utf8.RuneSelf {
		c, rest, columns, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	}
	if s.drawing[s.second] && len(c) == 1 {
		if i := strings.IndexByte("jklmnqtuvwx`a~", c[0]); i >= 0 {
			c = string([]rune("┘┐┌└┼─├┤┴┬│◆▒·")[i])
		}
	}
	s.put(c, columns)
	s.last = c
	return rest
}

// put writes a character at the cursor.
func (s *screen) put(c string, columns int) {
	l := s.line(s.col)
	if columns == 0 && s.col == 0 {
		columns = 1
	}
	if columns == 0 { // it joins the character before it
		before := s.col - 1
		for before > 0 && (*l)[before] == "" {
			before--
		}
		if before >= 0 && len((*l)[before]) < maxCharacter {
			(*l)[before] += c
		}
		return
	}
	l.blank(s.col, s.col+columns)
	for i := range columns {
		if s.col+i == len(*l) {
			*l = append(*l, "")
		}
		(*l)[s.col+i] = ""
	}
	(*l)[s.col] = c
	s.col += columns
}

// line is the line of the cursor, with at least so many columns.
func (s *screen) line(columns int) *line {
	for s.row >= len(s.lines) {
		s.lines = append(s.lines, nil)
	}
	l := &s.lines[s.row]
	for len(*l) < columns {
		*l = append(*l, " ")
	}
	return l
}

// blank erases columns. A wide character that loses a half is erased as a whole.
func (l line) blank(from, to int) {
	to = min(to, len(l))
	if from >= to {
		return
	}
	for from > 0 && l[from] == "" {
		from--
	}
	for to < len(l) && l[to] == "" {
		to++
	}
	for i := from; i < to; i++ {
		l[i] = " "
	}
}

// cut erases a line from a column on.
func (l *line) cut(from int) {
	l.blank(from, len(*l))
	*l = (*l)[:min(from, len(*l))]
}

// tab moves the cursor. At the end of a line it is written, so that tables stay what
// they are.
func (s *screen) tab() {
	next := (s.col/tab + 1) * tab
	if l := s.line(0); s.col >= len(*l) {
		s.put("\t", next-s.col)
	}
	s.col = next
}

func (s *screen) newline() {
	s.col = 0
	if s.row++; s.row < height {
		s.line(0)
		return
	}
	if s.main == nil {
		s.done.WriteString(s.lines[0].String() + "\n")
	}
	s.lines = s.lines[1:]
	s.row--
	s.line(0)
}

func (l line) String() string { return strings.TrimRight(strings.Join(l, ""), " ") }

// move sets the cursor, within the screen.
func (s *screen) move(row, col int) {
	s.row = max(min(row, max(len(s.lines), base)-1), 0)
	length := 0
	if s.row < len(s.lines) {
		length = len(s.lines[s.row])
	}
	s.col = max(min(col, max(width-1, length)), 0)
	if s.col > length && !s.blanks.Spend(s.col-length) {
		s.col = length
	}
}

// clear empties the screen and keeps the cursor.
func (s *screen) clear() {
	if !s.empty() {
		s.cleared = s.lines
	}
	s.lines = make([]line, s.row+1)
}

func (s *screen) empty() bool {
	return s.done.Len() == 0 && !slices.ContainsFunc(s.lines, func(l line) bool { return l.String() != "" })
}

// alternate shows the alternate screen, or the main one again.
func (s *screen) alternate(on bool) {
	switch {
	case on && s.main == nil:
		main := &screen{lines: s.lines, row: s.row, col: s.col}
		s.lines, s.main = make([]line, s.row+1), main
	case !on && s.main != nil:
		if slices.ContainsFunc(s.lines, func(l line) bool { return l.String() != "" }) {
			s.cleared = s.lines
		}
		s.lines, s.row, s.col, s.main = s.main.lines, s.main.row, s.main.col, nil
	}
}

// text is what is shown in the end.
func (s *screen) text() string {
	var b strings.Builder
	b.WriteString(s.done.String())
	if s.main != nil && !s.main.empty() {
		b.WriteString(join(s.main.lines))
		b.WriteString("\n")
	}
	b.WriteString(join(s.lines))
	if text := b.String(); strings.TrimSpace(text) != "" || s.cleared == nil {
		return text
	}
	return join(s.cleared)
}

// join is the text of lines without empty ones at the end.
func join(lines []line) string {
	last := len(lines)
	for last > 1 && len(lines[last-1]) == 0 && len(lines[last-2]) == 0 {
		last--
	}
	all := make([]string, last)
	for i, l := range lines[:last] {
		all[i] = l.String()
	}
	return strings.Join(all, "\n")
}
