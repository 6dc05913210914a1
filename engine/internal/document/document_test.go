package document_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
)

func TestMain(m *testing.M) {
	confined.Main(document.Kinds())
	os.Exit(m.Run())
}

// entry is a file of an archive.
type entry struct{ name, text string }

// packed makes an archive.
func packed(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e.name)
		if err == nil {
			_, err = w.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t testing.TB, name, content string, o document.Options) (document.Document, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return document.Text(context.Background(), file, name, "", o)
}

// fault is the kind of a fault, "" for none.
func fault(err error) confined.FaultKind {
	var f *confined.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// Texts that begin as other formats do, or name them, are texts.
func TestTextsThatLookLikeOtherFormats(t *testing.T) {
	for name, text := range map[string]string{
		"cars.txt":  "BMW is a car from Munich, and it has wheels.",
		"bm.md":     "BM",
		"pdf.py":    "# Writes a PDF.\nf.write(b'%PDF-1.4')",
		"notes.txt": "A PDF begins with %PDF-1.7 and ends with %%EOF.",
		"gif.txt":   "GIF8 is how a GIF begins.",
		"id3.txt":   "ID3 tags and OggS pages",
	} {
		d, err := read(t, name, text, document.Options{MaxChars: 1000})
		if err != nil || !strings.Contains(d.Text, text) {
			t.Errorf("%s: %q, %v", name, d.Text, err)
		}
	}
}

const wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// word makes a Word document of its paragraphs.
func word(t testing.TB, body string, more ...entry) string {
	return packed(t, append([]entry{
		{"[Content_Types].xml", "<Types/>"},
		{"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document ` + wordSpace + `><w:body>` + body + `</w:body></w:document>`},
	}, more...)...)
}

func TestWordDocument(t *testing.T) {
	body := `<w:p><w:pPr><w:pStyle w:val="a1"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>Договор</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">The rent is </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>1,200 €</w:t></w:r><w:r><w:tab/><w:t>a month</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr><w:r><w:t>first</w:t><w:br/><w:t>line two</w:t></w:r></w:p>
<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>HIDDEN</w:t></w:r><w:del><w:r><w:delText>DELETED</w:delText></w:r></w:del><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Name</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Sum</w:t></w:r></w:p><w:p><w:r><w:t>in €</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>Anna|B</w:t></w:r></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>7</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>`
	rels := `<Relationships><Relationship Id="r1" Type="http://x/styles" Target="styles.xml"/><Relationship Id="r2" Type="http://x/footnotes" Target="/word/footnotes.xml"/><Relationship Id="r3" Type="http://x/comments" Target="comments.xml"/></Relationships>`
	file := word(t, body, entry{"word/_rels/document.xml.rels", rels},
		entry{"word/styles.xml", `<w:styles ` + wordSpace + `><w:style w:styleId="a1"><w:name w:val="heading 1"/></w:style></w:styles>`},
		entry{"word/footnotes.xml", `<w:footnotes ` + wordSpace + `><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>without heating</w:t></w:r></w:p></w:footnote></w:footnotes>`},
		entry{"word/comments.xml", `<w:comments ` + wordSpace + `><w:comment w:id="1" w:author="Boris"><w:p><w:r><w:t>too much</w:t></w:r></w:p></w:comment></w:comments>`})
	d, err := read(t, "lease.docx", file, document.Options{})
	want := `# Договор

The rent is 1,200 €	a month[^2]
- first
line two
inserted
| Name | Sum in € |
| Anna\|B | \| 7 \| |

Footnotes:
[^2]: without heating

Comments:
Boris: too much`
	if err != nil || d.Text != want || d.Kind != "docx" || d.Pages != 1 || d.Next != 0 {
		t.Errorf("%+v, %v\n%s\nwant\n%s", d, err, d.Text, want)
	}
}

const sheetStyles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy;@"/><numFmt numFmtId="165" formatCode="[Red]0.00 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>`

// table makes a workbook of two sheets, the first with the rows.
func table(t testing.TB, rows string) string {
	return packed(t,
		entry{"xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/><sheet name="Second &amp; last" sheetId="2" r:id="rId2"/></sheets></workbook>`},
		entry{"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Type="t/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="t/worksheet" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="rId3" Type="t/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId4" Type="t/styles" Target="styles.xml"/></Relationships>`},
		entry{"xl/sharedStrings.xml", `<sst><si><t>Bread, white</t></si><si><r><t>Mi</t></r><r><t>lk</t></r><rPh><t>no</t></rPh></si></sst>`},
		entry{"xl/styles.xml", sheetStyles},
		entry{"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`},
		entry{"xl/worksheets/sheet2.xml", `<worksheet><sheetData><row><c t="str"><v>end</v></c></row></sheetData></worksheet>`})
}

func TestWorkbook(t *testing.T) {
	rows := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1"><v>0.30000000000000004</v></c><c r="D1" t="b"><v>1</v></c></row>
<row r="2"/><row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>45292</v></c><c r="C3" s="2"><v>45292.5</v></c><c r="D3" s="3"><v>2.5</v></c><c r="E3" s="4"><v>0.25</v></c></row>
<row r="4"><c r="A4"><f>SUM(C1:C3)</f></c><c r="B4"><f>1+1</f><v>2</v></c><c r="C4" t="inlineStr"><is><t>say "hi"</t></is></c><c r="D4" t="e"><v>#DIV/0!</v></c></row>
<row r="5"><c r="A5"><f t="shared" si="0" ref="A5:A6">B1*2</f></c></row><row r="6"><c r="A6"><f t="shared" si="0"/></c></row>`
	d, err := read(t, "shop.xlsx", table(t, rows), document.Options{})
	want := "[sheet 1: Data]\n\"Bread, white\",,0.3,TRUE\nMilk,2024-01-01,2024-01-01 12:00:00,2.5,06:00:00\n=SUM(C1:C3),2,\"say \"\"hi\"\"\",#DIV/0!\n=B1*2\n=B1*2\n\n\n[sheet 2: Second & last]\nend\n"
	if err != nil || d.Text != want || d.Pages != 2 || d.Unit != "sheet" || d.Shown != "1-2" {
		t.Errorf("%+v, %v\n%q\nwant\n%q", d, err, d.Text, want)
	}
	if d, err := read(t, "shop.xlsx", table(t, rows), document.Options{Pages: "2"}); err != nil || d.Text != "[sheet 2: Second & last]\nend\n" {
		t.Errorf("%q, %v", d.Text, err)
	}
}

// TestLongSheetIsReadByLines: what doesn't fit is named so that the next call gets it.
func TestLongSheetIsReadByLines(t *testing.T) {
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, `<row><c t="str"><v>line %d</v></c></row>`, i+1)
	}
	file, seen := table(t, rows.String()), ""
	o := document.Options{MaxChars: 1000}
	for range 20 {
		d, err := read(t, "long.xlsx", file, o)
		if err != nil {
			t.Fatal(err)
		}
		seen += d.Text + "\n"
		if o.Pages = d.More; o.Pages == "" {
			break
		}
	}
	for i := range 300 {
		if strings.Count(seen, fmt.Sprintf("line %d\n", i+1)) != 1 {
			t.Fatalf("line %d is there %d times", i+1, strings.Count(seen, fmt.Sprintf("line %d\n", i+1)))
		}
	}
	if !strings.Contains(seen, "[sheet 1: Data, lines 1-") || !strings.Contains(seen, "[sheet 2: Second & last]\nend") {
		t.Errorf("%.300s", seen)
	}
}

func TestSlides(t *testing.T) {
	slide := func(title, text string) string {
		return `<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>` + title + `</a:t></a:r></a:p></p:sp>
<p:sp><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:sp><p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr><a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:sp>
<a:tbl><a:tr><a:tc><a:p><a:r><a:t>x</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>y</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:sld>`
	}
	d, err := read(t, "talk.pptx", packed(t,
		entry{"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="257" r:id="rId3"/><p:sldId id="256" r:id="rId2"/></p:sldIdLst></p:presentation>`},
		entry{"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="rId2" Type="t/slide" Target="slides/slide1.xml"/><Relationship Id="rId3" Type="t/slide" Target="slides/slide2.xml"/></Relationships>`},
		entry{"ppt/slides/slide1.xml", slide("Last", "goodbye")}, entry{"ppt/slides/slide2.xml", slide("Begin", "hello")},
		entry{"ppt/slides/_rels/slide2.xml.rels", `<Relationships><Relationship Id="rId1" Type="t/notesSlide" Target="../notesSlides/n1.xml"/></Relationships>`},
		entry{"ppt/notesSlides/n1.xml", `<p:notes xmlns:p="p" xmlns:a="a"><p:sp><a:p><a:r><a:t>smile</a:t></a:r></a:p></p:sp></p:notes>`},
	), document.Options{})
	want := "[slide 1: Begin]\nhello\n| x | y |\n\nNotes: smile\n\n[slide 2: Last]\ngoodbye\n| x | y |"
	if err != nil || d.Text != want || d.Pages != 2 || d.Kind != "pptx" {
		t.Errorf("%+v, %v\n%s\nwant\n%s", d, err, d.Text, want)
	}
}

const openSpaces = `xmlns:office="o" xmlns:text="t" xmlns:table="ta" xmlns:draw="d" xmlns:presentation="p"`

// open makes an OpenDocument file.
func open(t testing.TB, kind, body string, more ...entry) string {
	return packed(t, append([]entry{{"mimetype", "application/vnd.oasis.opendocument." + kind},
		{"content.xml", `<office:document-content ` + openSpaces + `><office:body>` + body + `</office:body></office:document-content>`}}, more...)...)
}

func TestOpenDocument(t *testing.T) {
	for name, test := range map[string]struct{ kind, body, want string }{
		"odt": {"text", `<text:tracked-changes><text:p>GONE</text:p></text:tracked-changes><text:h text:outline-level="2">Title</text:h>
<text:p>One<text:s text:c="2"/>two<text:tab/>three<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>really</text:p></text:note-body></text:note> more</text:p>
<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p><text:p>c</text:p></table:table-cell></table:table-row></table:table>`,
			"## Title\nOne  two\tthree [note: really ] more\n- item\n| a | b c |"},
		"ods": {"spreadsheet", `<office:spreadsheet><table:table table:name="Sums"><table:table-row><table:table-cell office:value-type="float" office:value="1.5"><text:p>2</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"/><table:table-cell office:date-value="2024-01-31"><text:p>31.01.24</text:p></table:table-cell><table:table-cell table:formula="of:=SUM([.A1])"/><table:table-cell table:number-columns-repeated="16000"/></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
<table:table table:name="Empty"/></office:spreadsheet>`,
			"[sheet 1: Sums]\n1.5,,,2024-01-31,=SUM([.A1])\nx,x\nx,x\n\n\n[sheet 2: Empty]\n"},
		"odp": {"presentation", `<draw:page draw:name="page1"><draw:frame presentation:class="title"><text:p>Plan</text:p></draw:frame><draw:frame><text:p>do it</text:p></draw:frame><presentation:notes><text:p>slowly</text:p></presentation:notes></draw:page>`,
			"[slide 1: Plan]\ndo it\nNotes: slowly"},
	} {
		d, err := read(t, "file."+name, open(t, test.kind, test.body), document.Options{})
		if err != nil || d.Text != test.want || d.Kind != name {
			t.Errorf("%s: %+v, %v\n%q\nwant\n%q", name, d, err, d.Text, test.want)
		}
	}
}

func TestBook(t *testing.T) {
	chapter := func(title, text string) string {
		return `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title><script>alert(1)</script></head><body><h1>` + title + `</h1><p>` + text + `</p></body></html>`
	}
	book := func(more ...entry) string {
		return packed(t, append([]entry{{"mimetype", "application/epub+zip"},
			{"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/a.opf"/></rootfiles></container>`},
			{"OEBPS/a.opf", `<package><manifest><item id="c2" href="c%202.xhtml" media-type="application/xhtml+xml"/><item id="c1" href="text/c1.xhtml" media-type="application/xhtml+xml"/><item id="i" href="i.png" media-type="image/png"/></manifest><spine><itemref idref="c1"/><itemref idref="c2"/><itemref idref="i"/></spine></package>`},
			{"OEBPS/text/c1.xhtml", chapter("Call me", "Some years ago, never mind how long.")}, {"OEBPS/c 2.xhtml", chapter("The inn", "It was a dark night.")}}, more...)...)
	}
	d, err := read(t, "whale.epub", book(), document.Options{Pages: "2"})
	if err != nil || d.Pages != 2 || !strings.Contains(d.Text, "[chapter 2: The inn]") || !strings.Contains(d.Text, "dark night") || strings.Contains(d.Text, "alert") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := read(t, "whale.epub", book(), document.Options{Query: "mind long"}); err != nil || d.Found != 1 || d.Shown != "1" || !strings.Contains(d.Text, "never mind how long") {
		t.Errorf("%+v, %v", d, err)
	}
	locked := entry{"META-INF/encryption.xml", `<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></EncryptedData></encryption>`}
	if _, err := read(t, "whale.epub", book(locked), document.Options{}); fault(err) != confined.Locked {
		t.Errorf("%v", err)
	}
}

func TestPlainTexts(t *testing.T) {
	for _, test := range []struct{ name, content, kind, want string }{
		{"a.csv", "a;b\r\n1;2\r\n", "csv", "a;b\n1;2"},
		{"a.txt", "\xef\xbb\xbfbom\n\n\n\nend  \n", "text", "bom\n\nend"},
		{"a.txt", "\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0? \xc2\xf1\xb8 \xf5\xee\xf0\xee\xf8\xee.", "text", "Привет, как дела? Всё хорошо."},
		{"a.txt", "Buy an iPhone case", "text", "Buy an iPhone case"},
		{"a.txt", "H₂O, Acme™, 👩\u200d💻, می\u200cخواهم, 日本語とEnglish, שלום\u200f!", "text", "H₂O, Acme™, 👩\u200d💻, می\u200cخواهم, 日本語とEnglish, שלום\u200f!"},
		{"a.csv", "firstName;lastName\nRonald;McDonald\n", "csv", "firstName;lastName\nRonald;McDonald"},
		{"a.json", `{"userName": "x"}`, "json", `{"userName": "x"}`},
		{"a.log", "2026-11-28 \x1b[32mINFO\x1b[0m started\n", "text", "2026-11-28 INFO started"},
		{"a.md", "# Title\n", "md", "# Title"},
		{"a.json", `{"a": [1, 2]}`, "json", `{"a": [1, 2]}`},
		{"main.go", "package main\n\nfunc main() {\n\tprintln(1)\n}\n", "text", "package main\n\nfunc main() {\n\tprintln(1)\n}"},
		{"evil.svg", `<svg onload="x()"><script>y()</script></svg>`, "text", `<svg onload="x()"><script>y()</script></svg>`},
		{"a.html", `<html><body><script>no()</script><h1>Head</h1><p>Some <b>bold</b> words that are long enough to be an article of their own.</p></body></html>`, "html",
			"# Head\n\nSome **bold** words that are long enough to be an article of their own."},
	} {
		d, err := read(t, test.name, test.content, document.Options{})
		if err != nil || d.Kind != test.kind || d.Text != test.want {
			t.Errorf("%s: %+v, %v\n%q\nwant\n%q", test.name, d, err, d.Text, test.want)
		}
	}
}

// TestArchiveIsListed: names and sizes; nothing is unpacked, names cannot lie by signs.
func TestArchiveIsListed(t *testing.T) {
	d, err := read(t, "a.zip", packed(t, entry{"docs/", ""}, entry{"docs/a.txt", "hello"}, entry{"evil\u202etxt.exe\nx", strings.Repeat("x", 5000)}, entry{"inner.zip", "PK\x03\x04"}), document.Options{})
	want := "3 files, 5.0 kB unpacked\ndocs/a.txt (5 bytes)\nevil?txt.exe?x (5.0 kB)\ninner.zip (4 bytes)"
	if err != nil || d.Kind != "zip" || d.Text != want {
		t.Errorf("%+v, %v\n%s", d, err, d.Text)
	}
}

// TestPieces: a text without parts is cut at paragraphs, and nothing is lost or doubled.
func TestPieces(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "Paragraph %d is here for the reader.\n\n", i)
	}
	file := b.String()
	seen, o := "", document.Options{}
	for range 20 {
		d, err := read(t, "long.txt", file, o)
		if err != nil {
			t.Fatal(err)
		}
		seen += d.Text + "\n"
		if o.Pages = d.More; o.Pages == "" {
			break
		}
	}
	for i := range 900 {
		if n := strings.Count(seen, fmt.Sprintf("Paragraph %d is here for the reader.\n", i)); n != 1 {
			t.Fatalf("paragraph %d is there %d times", i, n)
		}
	}
	d, err := read(t, "long.txt", file, document.Options{Query: "paragraph 777"})
	if err != nil || d.Found == 0 || !strings.Contains(d.Text, "Paragraph 777 is") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := read(t, "long.txt", file, document.Options{Query: "unicorn"}); err != nil || d.Found != 0 || d.Text != "" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, pages := range []string{"x", "0", "5-2", "1:", "1-2:3", "99", strings.Repeat("1,", 200) + "1"} {
		var wrong *document.PagesError
		if _, err := read(t, "long.txt", file, document.Options{Pages: pages}); !errors.As(err, &wrong) {
			t.Errorf("%.20q: %v, want a PagesError", pages, err)
		}
	}
}

// TestBadDocuments: each gets its fault, whatever its name says.
func TestBadDocuments(t *testing.T) {
	zeros := "<a>" + strings.Repeat(" ", 8<<20)
	big := strings.Repeat("<w:p><w:r><w:t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</w:t></w:r></w:p>", 1<<17)
	many := make([]entry, 2001)
	for i := range many {
		many[i] = entry{fmt.Sprint(i), ""}
	}
	good := word(t, "<w:p><w:r><w:t>hello</w:t></w:r></w:p>")
	for name, test := range map[string]struct {
		content string
		want    confined.FaultKind
	}{
		"empty.pdf":      {"", confined.Broken},
		"noise.docx":     {"\x00\x01\x02\x03\xff\xfe\x00garbage\x00\x00", confined.Broken},
		"cut.docx":       {good[:len(good)/2], confined.Broken},
		"cut.xml.docx":   {word(t, "<w:p><w:r>"), confined.Broken},
		"bomb.docx":      {word(t, big), confined.TooMuch},
		"zeros.epub":     {packed(t, entry{"mimetype", "application/epub+zip"}, entry{"META-INF/container.xml", zeros}), confined.TooMuch},
		"many.zip":       {packed(t, many...), confined.TooMuch},
		"deep.docx":      {word(t, strings.Repeat("<w:p>", 250)+strings.Repeat("</w:p>", 250)), confined.TooMuch},
		"dtd.docx":       {packed(t, entry{"word/document.xml", `<!DOCTYPE a [<!ENTITY l "lol">]><a>&l;</a>`}), confined.TooMuch},
		"entity.docx":    {word(t, "<w:p>&lol;</w:p>"), confined.Broken},
		"tables.docx":    {word(t, strings.Repeat("<w:tbl><w:tr><w:tc>", 30)+strings.Repeat("</w:tc></w:tr></w:tbl>", 30)), confined.TooMuch},
		"locked.docx":    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600) + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00", confined.Locked},
		"old.doc":        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600), confined.Broken},
		"locked.odt":     {open(t, "text", "", entry{"META-INF/manifest.xml", "<manifest:encryption-data/>"}), confined.Locked},
		"no-sheets.xlsx": {packed(t, entry{"xl/workbook.xml", "<workbook/>"}), confined.Broken},
		"missing.pptx":   {packed(t, entry{"ppt/presentation.xml", `<p xmlns:r="r"><sldId r:id="a"/></p>`}, entry{"ppt/_rels/presentation.xml.rels", `<R><Relationship Id="a" Target="no.xml"/></R>`}), confined.Broken},
		"repeat.ods":     {open(t, "spreadsheet", `<table:table>`+strings.Repeat(`<table:table-row table:number-rows-repeated="1000"><table:table-cell table:number-columns-repeated="1000"><text:p>xxxxxxxxxxxxxxxxxxxxxxxxxx</text:p></table:table-cell></table:table-row>`, 9)+`</table:table>`), confined.TooMuch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := read(t, name, test.content, document.Options{})
			if fault(err) != test.want {
				t.Errorf("%v (%.100q), want %s", err, d.Text, test.want)
			}
		})
	}
	for _, name := range []string{"right.docx", "wrong.pdf", "wrong.jpg", "none"} {
		if d, err := read(t, name, good, document.Options{}); err != nil || d.Kind != "docx" || d.Text != "hello" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
