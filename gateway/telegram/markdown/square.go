package markdown

import (
	"regexp"
	"strings"
)

var (
	// delimiterRow matches the second line of a table.
	delimiterRow = regexp.MustCompile(`^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	// linePrefix matches what stands before a block in quotes and lists.
	linePrefix = regexp.MustCompile(`^[ \t>]*((?:[-*+]|\d{1,9}[.)])[ \t]+)?`)
)

// maxRow is the longest row in which pipes inside of code are looked for, in bytes.
const maxRow = 4 << 10

// squareTables repairs tables so that the parser keeps all of them. It drops cells
// beyond the header's width, cuts cells at pipes inside of code, and takes a delimiter
// row of another width for no table. Models write all three.
func squareTables(md string) string {
	if !strings.Contains(md, "|") {
		return md
	}
	lines := strings.Split(md, "\n")
	fence := ""
	for i := 0; i < len(lines); i++ {
		if fence = nextFence(lines[i][len(linePrefix.FindString(lines[i])):], fence); fence != "" || i+1 == len(lines) {
			continue
		}
		head, rule := lines[i], lines[i+1]
		if strings.Contains(head, "|") && strings.Contains(rule, "|") && delimiterRow.MatchString(rule) && !delimiterRow.MatchString(head) {
			end := i + 2
			for end < len(lines) && isRow(lines[end]) {
				end++
			}
			squareTable(lines[i:end])
			i = end - 1
		}
	}
	return strings.Join(lines, "\n")
}

// isRow reports whether a line below a table's header belongs to it.
func isRow(line string) bool {
	prefix := linePrefix.FindStringSubmatch(line)
	return strings.Contains(line, "|") && prefix[1] == "" && fenceMark(line[len(prefix[0]):]) == ""
}

// squareTable repairs the lines of one table.
func squareTable(lines []string) {
	rows := make([]tableRow, len(lines))
	rule := cells(lines[1][len(linePrefix.FindString(lines[1])):], false)
	width := len(rule)
	for i, line := range lines {
		prefix := linePrefix.FindString(line)
		if i > 0 {
			prefix = line[:len(line)-len(strings.TrimLeft(line, " \t>"))] // a cell may begin with a dash
		}
		rows[i] = newRow(prefix, line[len(prefix):], len(rule))
		width = max(width, len(rows[i].cells))
	}
	if width*len(rows) > maxCells {
		return
	}
	for i, row := range rows {
		switch {
		case i == 1 && len(row.cells) < width:
			row.fill(width, "-")
		case i == 0 && len(row.cells) < width:
			row.fill(width, " ")
		case !row.repaired:
			continue
		}
		lines[i] = row.prefix + "|" + strings.Join(row.cells, "|") + "|"
	}
}

// tableRow is a row as it was written. repaired says that a pipe in it was escaped.
type tableRow struct {
	prefix   string
	cells    []string
	repaired bool
}

// newRow reads a row. Where it has more cells than wanted, pipes inside of code do not
// end one.
func newRow(prefix, line string, wanted int) tableRow {
	r := tableRow{prefix: prefix, cells: cells(line, false)}
	if len(r.cells) <= wanted || len(line) > maxRow {
		return r
	}
	if all := cells(line, true); len(all) < len(r.cells) {
		r.cells, r.repaired = all, true
	}
	return r
}

func (r *tableRow) fill(width int, cell string) {
	for len(r.cells) < width {
		r.cells = append(r.cells, cell)
	}
}

// cells cuts a row at its pipes. With code, those inside of code stay, escaped.
func cells(line string, code bool) (all []string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line):
			b.WriteString(line[i : i+2])
			i++
		case c == '|':
			all = append(all, b.String()+" ")
			b.Reset()
		case c == '`' && code:
			span := codeSpan(line[i:])
			b.WriteString(escapePipes(span))
			i += len(span) - 1
		default:
			b.WriteByte(c)
		}
	}
	if strings.TrimSpace(b.String()) != "" || len(all) == 0 {
		all = append(all, b.String())
	}
	return all
}

// codeSpan is the code that line begins with, or its backticks when no code ends.
func codeSpan(line string) string {
	ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	for at := len(ticks); ; {
		i := strings.Index(line[at:], ticks)
		if i < 0 {
			return ticks
		}
		at += i
		end := at + len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if end-at == len(ticks) {
			return line[:end]
		}
		at = end
	}
}

func escapePipes(code string) string {
	return strings.ReplaceAll(strings.ReplaceAll(code, `\|`, "|"), "|", `\|`)
}
