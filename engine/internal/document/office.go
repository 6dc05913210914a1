package document

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"klawbot/engine/internal/confined"
)

// flow reads the text of a Word document or of a slide: paragraphs, tables and notes.
// Both formats name them alike.
type flow struct {
	s *scanner
	// headings are the levels of the styles that are headings.
	headings map[string]int
	out      output
	// cells are the tables that the reader is in: the cells of the current row.
	cells  [][]string
	inside []int // where in out each cell begins
	para   strings.Builder
	prefix string
	run    bool // within a run, where a tab is one
	hidden bool
	title  string // of a slide
	place  string // the kind of placeholder of the shape
}

// maxNested bounds tables in tables.
const maxNested = 20

// docx reads word/document.xml.
func (a *archive) docx() (parts, error) {
	const name = "word/document.xml"
	rel, err := a.relations(name)
	if err != nil {
		return nil, err
	}
	headings, err := a.headings(targetOf(rel, "styles"))
	if err != nil {
		return nil, err
	}
	text, err := a.flowing(name, headings)
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{"footnotes", "endnotes", "comments"} {
		notes := targetOf(rel, kind)
		if notes == "" || !a.has(notes) {
			continue
		}
		more, err := a.flowing(notes, nil)
		if err != nil {
			return nil, err
		}
		if more = strings.TrimSpace(more); more != "" {
			text += "\n\n" + strings.ToUpper(kind[:1]) + kind[1:] + ":\n" + more
		}
	}
	return pieces(tidy(text)), nil
}

func (a *archive) flowing(name string, headings map[string]int) (string, error) {
	r, err := a.open(name)
	if err != nil {
		return "", err
	}
	f := flow{s: newScanner(r), headings: headings}
	err = f.read()
	return f.out.String(), err
}

// headings reads which styles are headings. Their ids are translated; their names are
// mostly not.
func (a *archive) headings(name string) (map[string]int, error) {
	all := map[string]int{}
	if name == "" || !a.has(name) {
		return all, nil
	}
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	id := ""
	err = newScanner(r).each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
		case "name":
			switch n := strings.ToLower(attr(e, "val")); {
			case n == "title":
				all[id] = 1
			case strings.HasPrefix(n, "heading "):
				if level, err := strconv.Atoi(n[len("heading "):]); err == nil && level > 0 {
					all[id] = min(level, 6)
				}
			}
		}
		return nil
	})
	return all, err
}

func (f *flow) read() error {
	for {
		t, err := f.s.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f.out.full()
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = f.begin(t)
		case xml.EndElement:
			f.end(t.Name.Local)
		}
		if err != nil {
			return err
		}
	}
}

func (f *flow) begin(e xml.StartElement) (err error) {
	switch e.Name.Local {
	case "Fallback", "moveFrom", "instrText", "delText", "rubyPr": // said elsewhere, or no longer
		return f.s.skip()
	case "r":
		f.run, f.hidden = true, false
	case "vanish":
		if v := attr(e, "val"); f.run && v != "0" && v != "false" {
			f.hidden = true // a reader would not see it
		}
	case "t":
		text, err := f.s.text()
		if err != nil {
			return err
		}
		if !f.hidden {
			f.para.WriteString(text)
		}
	case "tab":
		f.sign("\t")
	case "br", "cr":
		f.sign("\n")
	case "noBreakHyphen":
		f.sign("-")
	case "footnoteReference", "endnoteReference":
		f.para.WriteString("[^" + attr(e, "id") + "]")
	case "pStyle":
		if level := f.headings[attr(e, "val")]; level > 0 {
			f.prefix = strings.Repeat("#", level) + " "
		}
	case "numPr":
		if f.prefix == "" {
			f.prefix = "- "
		}
	case "ph":
		f.place = attr(e, "type")
	default:
		return f.structure(e)
	}
	return nil
}

// sign writes a character where it is one: the same elements also describe paragraphs.
func (f *flow) sign(text string) {
	if f.run || f.place != "" {
		f.para.WriteString(text)
	}
}

// structure begins tables, shapes and notes.
func (f *flow) structure(e xml.StartElement) error {
	switch e.Name.Local {
	case "tr":
		if len(f.cells) >= maxNested {
			return &confined.Fault{Kind: confined.TooMuch, Detail: "tables in more than 20 others"}
		}
		f.cells = append(f.cells, nil)
	case "tc":
		f.inside = append(f.inside, f.out.Len())
	case "sp":
		f.place = ""
	case "footnote", "endnote", "comment":
		if kind := attr(e, "type"); kind == "separator" || kind == "continuationSeparator" {
			return f.s.skip()
		}
		f.prefix = "[^" + attr(e, "id") + "]: "
		if who := attr(e, "author"); who != "" {
			f.prefix = oneLine(who, maxTitle) + ": "
		}
	}
	return nil
}

func (f *flow) end(name string) {
	switch name {
	case "r":
		f.run, f.hidden = false, false
	case "p":
		f.paragraph()
	case "sp":
		f.place = ""
	case "tc":
		if len(f.inside) == 0 {
			return
		}
		from := f.inside[len(f.inside)-1]
		f.inside = f.inside[:len(f.inside)-1]
		cell := strings.ReplaceAll(strings.Join(strings.Fields(string(f.out.Bytes()[from:])), " "), "|", "\\|")
		f.out.Truncate(from)
		if n := len(f.cells); n > 0 {
			f.cells[n-1] = append(f.cells[n-1], cell)
		}
	case "tr":
		if n := len(f.cells); n > 0 {
			fmt.Fprintf(&f.out, "| %s |\n", strings.Join(f.cells[n-1], " | "))
			f.cells = f.cells[:n-1]
		}
	case "tbl":
		f.out.WriteString("\n")
	}
}

// paragraph writes the paragraph that has ended.
func (f *flow) paragraph() {
	text := strings.TrimSpace(f.para.String())
	f.para.Reset()
	prefix := f.prefix
	f.prefix = ""
	switch f.place {
	case "title", "ctrTitle":
		if f.title == "" && text != "" {
			f.title = text
			return
		}
	case "sldNum", "dt", "ftr", "hdr":
		return
	}
	if text == "" {
		f.out.WriteString("\n")
		return
	}
	f.out.WriteString(prefix + text + "\n")
	if strings.HasPrefix(prefix, "#") {
		f.out.WriteString("\n")
	}
}

// pptx reads the slides in their order, with their notes.
func (a *archive) pptx() (parts, error) {
	const name = "ppt/presentation.xml"
	rel, err := a.relations(name)
	if err != nil {
		return nil, err
	}
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	l := list{name: "slide"}
	total := 0
	err = newScanner(r).each(func(e xml.StartElement) error {
		if e.Name.Local != "sldId" {
			return nil
		}
		// The attribute id has the same name without its prefix, and comes first.
		target := ""
		for _, at := range e.Attr {
			if at.Name.Local == "id" && at.Name.Space != "" {
				target = rel[at.Value].target
			}
		}
		if target == "" {
			return nil
		}
		p, err := a.slide(target)
		if total += len(p.text); err == nil && total > maxText {
			err = &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
		}
		l.all = append(l.all, p)
		return err
	})
	if err == nil && len(l.all) == 0 {
		l.all = []part{{}}
	}
	return l, err
}

func (a *archive) slide(name string) (part, error) {
	r, err := a.open(name)
	if err != nil {
		return part{}, err
	}
	f := flow{s: newScanner(r)}
	if err := f.read(); err != nil {
		return part{}, err
	}
	p := part{title: f.title, text: tidy(f.out.String())}
	rel, err := a.relations(name)
	if err != nil {
		return part{}, err
	}
	if notes := targetOf(rel, "notesSlide"); notes != "" && a.has(notes) {
		text, err := a.flowing(notes, nil)
		if err != nil {
			return part{}, err
		}
		if text = tidy(text); text != "" {
			p.text = strings.TrimSpace(p.text + "\n\nNotes: " + text)
		}
	}
	return p, nil
}
