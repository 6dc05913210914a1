package document

import (
	"context"
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/confined"
)

// maxColumns and maxRows bound a sheet, as Excel does.
const (
	maxColumns = 16384
	maxRows    = 1 << 20
)

// workbook is an xlsx file; its sheets are read when they are asked for.
type workbook struct {
	a       *archive
	sheets  []sheetEntry
	strings []string
	// dates says which styles of cells show a date, which a time beside it.
	formats []cellFormat
	since   time.Time
}

type sheetEntry struct{ name, target string }

// cellFormat is how a number is shown.
type cellFormat struct{ date, clock bool }

func (w *workbook) unit() string { return "sheet" }

func (w *workbook) count() int { return len(w.sheets) }

func (a *archive) xlsx() (parts, error) {
	const name = "xl/workbook.xml"
	rel, err := a.relations(name)
	if err != nil {
		return nil, err
	}
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	w := &workbook{a: a, since: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	err = newScanner(r).each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			if v := attr(e, "date1904"); v == "1" || v == "true" {
				w.since = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			for _, at := range e.Attr {
				if at.Name.Local == "id" && rel[at.Value].target != "" {
					w.sheets = append(w.sheets, sheetEntry{attr(e, "name"), rel[at.Value].target})
				}
			}
		}
		return nil
	})
	if err == nil && len(w.sheets) == 0 {
		err = &confined.Fault{Kind: confined.Broken, Detail: "no sheets"}
	}
	if err == nil {
		err = w.readStrings(targetOf(rel, "sharedStrings"))
	}
	if err == nil {
		err = w.readFormats(targetOf(rel, "styles"))
	}
	return w, err
}

// readStrings reads the texts that cells refer to.
func (w *workbook) readStrings(name string) error {
	if name == "" || !w.a.has(name) {
		return nil
	}
	r, err := w.a.open(name)
	if err != nil {
		return err
	}
	s := newScanner(r)
	return s.each(func(e xml.StartElement) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := cellText(s)
		w.strings = append(w.strings, text)
		return err
	})
}

// cellText is the text of the element that has just begun, without what is said of how
// it is spoken.
func cellText(s *scanner) (string, error) {
	var b strings.Builder
	for end := s.depth - 1; s.depth > end; {
		t, err := s.next()
		if err != nil {
			return "", unexpected(err)
		}
		e, is := t.(xml.StartElement)
		switch {
		case is && e.Name.Local == "t":
			text, err := s.text()
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		case is && e.Name.Local == "rPh":
			if err := s.skip(); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// readFormats reads which styles show dates.
func (w *workbook) readFormats(name string) error {
	if name == "" || !w.a.has(name) {
		return nil
	}
	r, err := w.a.open(name)
	if err != nil {
		return err
	}
	codes := map[int]string{}
	s, cells := newScanner(r), false
	return s.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			codes[number(e, "numFmtId", 0, math.MaxInt32)] = attr(e, "formatCode")
		case "cellXfs":
			cells = true
		case "cellStyles", "dxfs":
			cells = false
		case "xf":
			if cells {
				id := number(e, "numFmtId", 0, math.MaxInt32)
				w.formats = append(w.formats, formatOf(id, codes[id]))
			}
		}
		return nil
	})
}

// formatOf reads a format: one that Excel has, or a code such as dd/mm/yyyy hh:mm.
func formatOf(id int, code string) cellFormat {
	switch {
	case id >= 14 && id <= 17:
		return cellFormat{date: true}
	case id >= 18 && id <= 21, id >= 45 && id <= 47:
		return cellFormat{clock: true}
	case id == 22:
		return cellFormat{date: true, clock: true}
	}
	// What stands in quotes, brackets and behind a backslash is text.
	var plain strings.Builder
	quoted, skip := rune(0), false
	for _, r := range strings.ToLower(code) {
		switch {
		case skip:
			skip = false
		case r == '\\' || r == '_':
			skip = true
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '"':
			quoted = '"'
		case r == '[':
			quoted = ']'
		default:
			plain.WriteRune(r)
		}
	}
	code = plain.String()
	if strings.Contains(code, "general") {
		return cellFormat{}
	}
	return cellFormat{date: strings.ContainsAny(code, "yd"), clock: strings.ContainsAny(code, "h") || strings.Contains(code, "ss")}
}

// part reads a sheet, as CSV.
func (w *workbook) part(ctx context.Context, n int) (part, error) {
	r, err := w.a.open(w.sheets[n-1].target)
	if err != nil {
		return part{}, err
	}
	s := newScanner(r)
	var out output
	var row []string
	shared := map[string]string{}
	for {
		t, err := s.next()
		if err == io.EOF {
			return part{title: w.sheets[n-1].name, text: out.String()}, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return part{}, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				row = row[:0]
			case "c":
				if row, err = w.cell(s, t, row, shared); err != nil {
					return part{}, err
				}
			}
		case xml.EndElement:
			if t.Name.Local == "row" {
				writeRow(&out, row)
				if err := out.full(); err != nil {
					return part{}, err
				}
			}
		}
	}
}

// cell reads a cell and puts it at its column.
func (w *workbook) cell(s *scanner, e xml.StartElement, row []string, shared map[string]string) ([]string, error) {
	kind, style := attr(e, "t"), number(e, "s", -1, math.MaxInt32)
	column := columnOf(attr(e, "r"))
	if column < 0 {
		column = len(row)
	}
	value, formula, err := cellContent(s, shared)
	if err != nil {
		return nil, err
	}
	switch {
	case kind == "s":
		if i, err := strconv.Atoi(value); err == nil && i >= 0 && i < len(w.strings) {
			value = w.strings[i]
		}
	case kind == "b":
		value = map[string]string{"0": "FALSE", "1": "TRUE"}[value]
	case kind == "" || kind == "n":
		value = w.shown(value, style)
	}
	if value == "" && formula != "" {
		value = "=" + formula
	}
	if value == "" || column >= maxColumns {
		return row, nil
	}
	for len(row) <= column {
		row = append(row, "")
	}
	row[column] = value
	return row, nil
}

// cellContent reads what is in a cell.
func cellContent(s *scanner, shared map[string]string) (value, formula string, err error) {
	for end := s.depth - 1; s.depth > end; {
		t, err := s.next()
		if err != nil {
			return "", "", unexpected(err)
		}
		e, is := t.(xml.StartElement)
		if !is {
			continue
		}
		switch e.Name.Local {
		case "v":
			value, err = s.text()
		case "is":
			value, err = cellText(s)
		case "f":
			formula, err = s.text()
			// Only the first cell of a group has the formula.
			if group := attr(e, "si"); group != "" && formula != "" {
				shared[group] = formula
			} else if group != "" {
				formula = shared[group]
			}
		}
		if err != nil {
			return "", "", err
		}
	}
	return value, formula, nil
}

// shown is a number as its cell shows it, as far as a model needs that.
func (w *workbook) shown(value string, style int) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	if style >= 0 && style < len(w.formats) && n >= 0 && n < 3_000_000 {
		f := w.formats[style]
		at := w.since.Add(time.Duration(math.Round(n*86400)) * time.Second)
		switch {
		case f.date && (f.clock || n != math.Floor(n)):
			return at.Format("2006-01-02 15:04:05")
		case f.date:
			return at.Format(time.DateOnly)
		case f.clock && n < 1:
			return at.Format(time.TimeOnly)
		}
	}
	// 0.1+0.2 is stored as 0.30000000000000004 and shown as 0.3.
	if r := strconv.FormatFloat(n, 'g', 15, 64); len(r) < len(value) && !strings.ContainsAny(r, "eE") {
		return r
	}
	return value
}

// columnOf is the column in a name like "AB12", from 0; -1 for none.
func columnOf(name string) int {
	n := 0
	for _, r := range name {
		if r < 'A' || r > 'Z' {
			break
		}
		if n = n*26 + int(r-'A') + 1; n > maxColumns {
			return maxColumns
		}
	}
	return n - 1
}

// writeRow writes a row as CSV. An empty one says nothing.
func writeRow(out *output, row []string) {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	for i, cell := range row {
		if i > 0 {
			out.WriteByte(',')
		}
		cell = strings.Join(strings.FieldsFunc(cell, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
		if strings.ContainsAny(cell, ",\"") {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		out.WriteString(cell)
	}
	if len(row) > 0 {
		out.WriteByte('\n')
	}
}
