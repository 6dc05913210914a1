package document

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"klawbot/engine/internal/confined"
)

// fuzz reads a file in this process: a reader never panics, ends, and returns a fault or
// a document that is within its bounds.
func fuzz(t *testing.T, name string, content []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	// No programs: they are others' to fuzz.
	r, err := readText(ctx, Options{PDF: "off", OCR: "off", MaxChars: 500}.job(kindText, file, name, ""), t.TempDir())
	var fault *confined.Fault
	if err != nil && !errors.As(err, &fault) {
		t.Fatalf("%v, want a fault", err)
	}
	if len(r.Text) > 8*500+2000 {
		t.Errorf("%d bytes of text", len(r.Text))
	}
}

func packing(t *testing.T, entries map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range entries {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzFile(f *testing.F) {
	f.Add("a.txt", []byte("words"))
	f.Add("a.html", []byte("<html><p>words"))
	f.Add("a.zip", []byte("PK\x03\x04"))
	f.Add("a.pdf", []byte("%PDF-1.4"))
	f.Fuzz(fuzz)
}

func FuzzDocx(f *testing.F) {
	f.Add(`<w:document><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>a</w:t><w:tab/></w:r></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl></w:document>`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzz(t, "a.docx", packing(t, map[string]string{"word/document.xml": text}))
	})
}

func FuzzXlsx(f *testing.F) {
	f.Add(`<s><row><c r="B1" t="s" s="1"><v>0</v></c><c><f si="1">A1</f></c></row></s>`, `<sst><si><t>x</t></si></sst>`, `<s><numFmt numFmtId="9" formatCode="yy"/><cellXfs><xf/><xf numFmtId="9"/></cellXfs></s>`)
	f.Fuzz(func(t *testing.T, sheet, strings, styles string) {
		fuzz(t, "a.xlsx", packing(t, map[string]string{
			"xl/workbook.xml":            `<w xmlns:r="r"><sheet name="A" r:id="1"/></w>`,
			"xl/_rels/workbook.xml.rels": `<R><Relationship Id="1" Type="/s" Target="s.xml"/><Relationship Id="2" Type="/sharedStrings" Target="t.xml"/><Relationship Id="3" Type="/styles" Target="y.xml"/></R>`,
			"xl/s.xml":                   sheet, "xl/t.xml": strings, "xl/y.xml": styles,
		}))
	})
}

func FuzzPptx(f *testing.F) {
	f.Add(`<p:sld><p:sp><p:ph type="title"/><a:p><a:r><a:t>x</a:t></a:r></a:p></p:sp></p:sld>`, `<R><Relationship Id="1" Type="/notesSlide" Target="s.xml"/></R>`)
	f.Fuzz(func(t *testing.T, slide, rels string) {
		fuzz(t, "a.pptx", packing(t, map[string]string{
			"ppt/presentation.xml":            `<p xmlns:r="r"><sldId id="2" r:id="1"/></p>`,
			"ppt/_rels/presentation.xml.rels": `<R><Relationship Id="1" Type="/slide" Target="s.xml"/></R>`,
			"ppt/s.xml":                       slide, "ppt/_rels/s.xml.rels": rels,
		}))
	})
}

func FuzzOpenDocument(f *testing.F) {
	f.Add("text", `<t:h outline-level="2">x</t:h><t:p>a<t:note><t:note-body><t:p>b</t:p></t:note-body></t:note></t:p>`)
	f.Add("spreadsheet", `<table name="x"><table-row number-rows-repeated="3"><table-cell number-columns-repeated="3" value="1"/></table-row></table>`)
	f.Add("presentation", `<page name="x"><frame class="title"><p>a</p></frame><notes><p>b</p></notes></page>`)
	f.Fuzz(func(t *testing.T, kind, body string) {
		fuzz(t, "a.odt", packing(t, map[string]string{
			"mimetype": "application/vnd.oasis.opendocument." + kind, "content.xml": "<d>" + body + "</d>",
		}))
	})
}

func FuzzEpub(f *testing.F) {
	f.Add(`<package><item id="1" href="c"/><itemref idref="1"/></package>`, `<html><h1>x</h1><p>y`)
	f.Fuzz(func(t *testing.T, opf, chapter string) {
		fuzz(t, "a.epub", packing(t, map[string]string{
			"META-INF/container.xml": `<c><rootfile full-path="a.opf"/></c>`, "a.opf": opf, "c": chapter,
		}))
	})
}

func FuzzPages(f *testing.F) {
	f.Add("2-5,9,12-", "3:10-40")
	f.Fuzz(func(t *testing.T, pages, query string) {
		l := list{"page", []part{{text: "one\ntwo"}, {title: "b", text: "three"}, {text: "four"}}}
		d, err := choose(t.Context(), l, Options{Pages: pages, Query: query, MaxChars: 10})
		var wrong *PagesError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		if _, err := parsePages(d.More); err != nil {
			t.Errorf("more %q: %v", d.More, err)
		}
	})
}
