package document

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"klawbot/engine/internal/confined"
)

// openDocument reads odt, ods and odp.
func (a *archive) openDocument(mimetype string) (kind string, all parts, err error) {
	if manifest, err := a.whole("META-INF/manifest.xml"); err == nil && strings.Contains(manifest, "encryption-data") {
		return "", nil, &confined.Fault{Kind: confined.Locked}
	}
	r, err := a.open("content.xml")
	if err != nil {
		return "", nil, err
	}
	o := &openText{s: newScanner(r)}
	switch {
	case strings.Contains(mimetype, "spreadsheet"):
		kind, o.unit = "ods", "sheet"
	case strings.Contains(mimetype, "presentation"):
		kind, o.unit = "odp", "slide"
	default:
		kind = "odt"
	}
	if err := o.read(); err != nil {
		return "", nil, err
	}
	if o.unit == "" {
		return kind, pieces(tidy(o.out.String())), nil
	}
	if len(o.all) == 0 {
		o.all = []part{{}}
	}
	return kind, list{o.unit, o.all}, nil
}

// openText reads content.xml.
type openText struct {
	s *scanner
	// unit is "sheet" or "slide", empty for a text.
	unit string
	all  []part
	out  output
	// total is how much text the parts hold so far.
	total int
	para  strings.Builder
	// nested counts the paragraphs that the reader is in: a frame in one has others.
	nested int
	prefix string
	list   int
	rows   []openRow
	title  string
	shape  string
	notes  bool
}

// openRow is a row of a table, as far as it was read.
type openRow struct {
	cells  []string
	repeat int
	// cell is what is written into the cell, value and times what its element says.
	cell         strings.Builder
	value        string
	times, empty int
}

// The most that a repeated cell or row stands for. A sheet ends with a row that is
// repeated a million times, and is empty.
const (
	maxRepeatedCells = 1000
	maxRepeatedRows  = 1000
)

func (o *openText) read() error {
	for {
		t, err := o.s.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = o.out.full()
		}
		if err == nil {
			switch t := t.(type) {
			case xml.StartElement:
				err = o.begin(t)
			case xml.EndElement:
				err = o.end(t.Name.Local)
			case xml.CharData:
				if o.nested > 0 {
					o.para.WriteString(strings.NewReplacer("\n", " ", "\r", "", "\t", " ").Replace(string(t)))
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

func (o *openText) begin(e xml.StartElement) error {
	switch e.Name.Local {
	case "tracked-changes", "annotation", "hidden-text", "hidden-paragraph", "automatic-styles", "font-face-decls", "note-citation", "desc":
		return o.s.skip()
	case "p", "h":
		if o.nested == 0 && e.Name.Local == "h" {
			o.prefix = strings.Repeat("#", max(1, number(e, "outline-level", 1, 6))) + " "
		} else if o.nested == 0 && o.list > 0 && o.prefix == "" {
			o.prefix = "- "
		}
		o.nested++
	case "note-body":
		o.para.WriteString(" [note: ")
	case "s":
		o.para.WriteString(strings.Repeat(" ", number(e, "c", 1, 100)))
	case "tab":
		o.para.WriteByte('\t')
	case "line-break":
		o.para.WriteByte('\n')
	case "list":
		o.list++
	case "notes":
		o.notes = true
	case "frame", "custom-shape":
		o.shape = attr(e, "class")
	default:
		return o.table(e)
	}
	return nil
}

// table begins tables, their rows and cells, and slides.
func (o *openText) table(e xml.StartElement) error {
	switch e.Name.Local {
	case "page":
		if o.unit == "slide" {
			o.out.Reset()
			o.title = attr(e, "name")
		}
	case "table":
		if o.unit == "sheet" && len(o.rows) == 0 {
			o.out.Reset()
			o.title = attr(e, "name")
		}
	case "table-row":
		if len(o.rows) >= maxNested {
			return &confined.Fault{Kind: confined.TooMuch, Detail: "tables in more than 20 others"}
		}
		o.rows = append(o.rows, openRow{repeat: number(e, "number-rows-repeated", 1, maxRows)})
	case "table-cell", "covered-table-cell":
		if n := len(o.rows); n > 0 {
			r := &o.rows[n-1]
			r.times, r.value = number(e, "number-columns-repeated", 1, maxColumns), cellValue(e)
			r.cell.Reset()
		}
	}
	return nil
}

// cellValue is what the attributes of a cell say; the text in it is often rounded.
func cellValue(e xml.StartElement) string {
	for _, name := range []string{"date-value", "time-value", "boolean-value", "value"} {
		if v := attr(e, name); v != "" {
			return v
		}
	}
	// "of:=SUM([.A1:.A2])" without a value
	if _, formula, ok := strings.Cut(attr(e, "formula"), "="); ok && attr(e, "value-type") == "" {
		return "=" + formula
	}
	return ""
}

func (o *openText) end(name string) error {
	switch name {
	case "p", "h":
		o.nested = max(0, o.nested-1)
		if o.nested > 0 {
			o.para.WriteByte(' ')
			return nil
		}
		o.paragraph()
	case "note-body":
		o.para.WriteByte(']')
	case "list":
		o.list = max(0, o.list-1)
	case "frame", "custom-shape":
		o.shape = ""
	case "table-cell", "covered-table-cell":
		o.endCell()
	case "table-row":
		o.endRow()
	case "table":
		if o.unit == "sheet" && len(o.rows) == 0 {
			return o.endPart()
		}
	case "notes":
		o.notes = false
	case "page":
		if o.unit == "slide" {
			return o.endPart()
		}
	}
	return nil
}

// paragraph writes the paragraph that has ended, into its cell when it is in one.
func (o *openText) paragraph() {
	text, prefix := strings.TrimRight(o.para.String(), " "), o.prefix
	o.para.Reset()
	o.prefix = ""
	if n := len(o.rows); n > 0 {
		cell := &o.rows[n-1].cell
		if cell.Len() > 0 && text != "" {
			cell.WriteByte(' ')
		}
		cell.WriteString(text)
		return
	}
	switch {
	case o.unit == "slide" && o.shape == "title" && text != "":
		o.title = text
		return
	case o.notes && text != "":
		prefix = "Notes: "
	}
	o.out.WriteString(prefix + text + "\n")
}

func (o *openText) endCell() {
	n := len(o.rows)
	if n == 0 {
		return
	}
	r := &o.rows[n-1]
	text := r.cell.String()
	if r.value != "" && (o.unit == "sheet" || text == "") {
		text = r.value
	}
	if text == "" {
		r.empty += r.times // written when another cell follows
		return
	}
	for range min(r.empty, maxColumns-min(len(r.cells), maxColumns)) {
		r.cells = append(r.cells, "")
	}
	r.empty = 0
	for range min(r.times, maxRepeatedCells) {
		if len(r.cells) < maxColumns {
			r.cells = append(r.cells, text)
		}
	}
}

func (o *openText) endRow() {
	n := len(o.rows)
	if n == 0 {
		return
	}
	r := o.rows[n-1]
	o.rows = o.rows[:n-1]
	if len(r.cells) == 0 {
		return
	}
	var row output
	if o.unit == "sheet" {
		writeRow(&row, r.cells)
	} else {
		fmt.Fprintf(&row, "| %s |\n", strings.Join(r.cells, " | "))
	}
	if n > 1 { // a table in a cell
		o.rows[n-2].cell.WriteString(" " + strings.TrimSpace(row.String()))
		return
	}
	for range min(r.repeat, maxRepeatedRows) {
		o.out.WriteString(row.String())
		if o.out.full() != nil {
			return // the reader says so
		}
	}
}

// endPart ends a sheet or a slide.
func (o *openText) endPart() error {
	text := o.out.String()
	if o.unit == "slide" {
		text = tidy(text)
	}
	o.all = append(o.all, part{title: o.title, text: text})
	o.total += o.out.Len()
	o.out.Reset()
	if o.total > maxText {
		return &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
	}
	return nil
}
