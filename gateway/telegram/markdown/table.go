package markdown

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// maxTableWidth is what a phone shows of a line of fixed-width text, in columns.
const maxTableWidth = 45

// maxTitles bounds what repeating the headers may add to a table, in bytes.
const maxTitles = 128 << 10

const (
	columnGap = " | "
	columnSum = "-+-"
)

// table writes a small table as aligned fixed-width text, and one that is wide
// or has links, which cannot live there, as a "header: value" list.
func (r mdRenderer) table(t *extast.Table) {
	grid := r.grid(t)
	if grid.width() <= maxTableWidth && !grid.links {
		r.out.pre(grid.String(), "")
		return
	}
	titles := grid.titles()
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		if row.PreviousSibling() == nil && len(grid.rows) > 1 {
			continue
		}
		r.record(titles, row)
		r.out.gap(2)
	}
}

// record writes one row as lines of "header: value"; without headers as values.
func (r mdRenderer) record(titles []string, row ast.Node) {
	column := 0
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		if cell.HasChildren() {
			r.out.indent(0)
			if column < len(titles) && titles[column] != "" {
				r.out.styled(bold, "", func() { r.out.write(strings.TrimSuffix(titles[column], ":")) })
				r.out.write(": ")
			}
			r.inlines(cell)
			r.out.gap(1)
		}
		column++
	}
}

// cellText is the text of a cell on one line, and whether it has a link.
func (r mdRenderer) cellText(cell ast.Node) (text string, link bool) {
	r.out = &richWriter{formulas: r.out.formulas}
	r.inlines(cell)
	link = slices.ContainsFunc(r.out.spans, func(s span) bool { return s.kind == textLink })
	return strings.Join(strings.Fields(string(r.out.text)), " "), link
}

// textGrid is the text of a table and the widths of its columns.
type textGrid struct {
	rows   [][]string
	widths []int
	links  bool
	align  []extast.Alignment
}

func (r mdRenderer) grid(t *extast.Table) textGrid {
	g := textGrid{align: t.Alignments}
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text, link := r.cellText(cell)
			g.links = g.links || link
			if len(cells) == len(g.widths) {
				g.widths = append(g.widths, 0)
			}
			g.widths[len(cells)] = max(g.widths[len(cells)], uniseg.StringWidth(text))
			cells = append(cells, text)
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

func (g textGrid) width() int {
	sum := len(columnGap) * (len(g.widths) - 1)
	for _, w := range g.widths {
		sum += w
	}
	return sum
}

// titles are the headers to repeat in every row, none when that is too much or
// when there is nothing but headers.
func (g textGrid) titles() []string {
	length := 0
	for _, title := range g.rows[0] {
		length += len(title)
	}
	if len(g.rows) == 1 || length*len(g.rows) > maxTitles {
		return nil
	}
	return g.rows[0]
}

func (g textGrid) String() string {
	var b strings.Builder
	for i, row := range g.rows {
		var line []string
		for column, text := range row {
			line = append(line, g.pad(text, column))
		}
		b.WriteString(strings.TrimRight(strings.Join(line, columnGap), " ") + "\n")
		if i == 0 && len(g.rows) > 1 {
			b.WriteString(g.rule() + "\n")
		}
	}
	return b.String()
}

func (g textGrid) rule() string {
	var line []string
	for _, w := range g.widths {
		line = append(line, strings.Repeat("-", w))
	}
	return strings.Join(line, columnSum)
}

func (g textGrid) pad(text string, column int) string {
	free := g.widths[column] - uniseg.StringWidth(text)
	left := 0
	if column < len(g.align) {
		switch g.align[column] {
		case extast.AlignRight:
			left = free
		case extast.AlignCenter:
			left = free / 2
		}
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", free-left)
}
