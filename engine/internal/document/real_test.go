//go:build documents

package document_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/engine/internal/document/pdfium"
	"klawbot/internal/needs"
)

// make documents brings PDFium and sets ASSETS_DIR; without it the tests fail.
func init() {
	pdfReaders["pdfium"] = document.Options{PDF: "pdfium", PDFium: pdfium.Find([]string{os.Getenv("ASSETS_DIR")})}
}

// browsers are the names of Chromium.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// made runs a program in a directory with a file, and returns what it made there.
func made(t *testing.T, name, content, result string, argv ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", argv[0], err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, result))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// chromium prints or draws a page.
func chromium(t *testing.T, html string, picture bool) string {
	t.Helper()
	needs.Program(t, "chromium", browsers...)
	program := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	argv := []string{program, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--hide-scrollbars", "--window-size=800,700", "--force-device-scale-factor=2"}
	if picture {
		return made(t, "a.html", html, "a.png", append(argv, "--screenshot=a.png", "a.html")...)
	}
	return made(t, "a.html", html, "a.pdf", append(argv, "--print-to-pdf=a.pdf", "a.html")...)
}

// office converts a file by LibreOffice.
func office(t *testing.T, name, content, to string, argv ...string) string {
	t.Helper()
	needs.Program(t, "libreoffice-writer-nogui", "soffice")
	format, _, _ := strings.Cut(to, ":")
	result := strings.TrimSuffix(name, filepath.Ext(name)) + "." + format
	return made(t, name, content, result, append([]string{"soffice", "--headless", "--convert-to", to}, append(argv, name)...)...)
}

// wants checks that a document holds texts in this order.
func wants(t *testing.T, name, content string, o document.Options, kind string, texts ...string) document.Document {
	t.Helper()
	d, err := read(t, name, content, o)
	if err != nil || d.Kind != kind {
		t.Errorf("%s: %+v, %v", name, d, err)
	}
	rest := strings.Join(strings.Fields(d.Text), " ")
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("%s: %q is missing in\n%s", name, text, d.Text)
		}
		if found {
			rest = after
		}
	}
	return d
}

// letter is a page in three alphabets, with a table and a second page.
const letter = `<html><head><meta charset="utf-8"><title>Letter</title></head><body><h1>Счёт № 17</h1>
<p>Уважаемая Анна, это счёт за аренду квартиры.</p><p>Office efficiency: the final offer is 1,200 €.</p>
<table border="1"><tr><td>Хлеб</td><td>2,50</td></tr><tr><td>Молоко</td><td>1,20</td></tr></table>
<p dir="rtl">مرحبا بالعالم</p>
<p style="page-break-before: always">The second page ends here.</p></body></html>`

func TestRealPDFOfChromium(t *testing.T) { withEachReader(t, testPDFOfChromium) }

func testPDFOfChromium(t *testing.T, with func(document.Options) document.Options) {
	file := chromium(t, letter, false)
	d := wants(t, "letter.pdf", file, with(document.Options{}), "pdf", "[page 1]", "Счёт № 17", "Уважаемая Анна, это счёт за аренду", "Office efficiency: the final offer is 1,200 €", "Хлеб 2,50", "Молоко 1,20", "[page 2]", "The second page ends here.")
	if d.Pages != 2 {
		t.Errorf("%d pages", d.Pages)
	}
	if !strings.Contains(d.Text, "مرحبا") {
		t.Errorf("no Arabic words in\n%s", d.Text)
	}
	wants(t, "letter.pdf", file, with(document.Options{Query: "second page"}), "pdf", "[page 2]", "The second page ends here.")
}

func TestRealPDFOfLibreOffice(t *testing.T) {
	file := office(t, "letter.html", letter, "pdf:writer_web_pdf_Export")
	locked := office(t, "letter.html", letter, `pdf:writer_web_pdf_Export:{"EncryptFile":{"type":"boolean","value":"true"},"DocumentOpenPassword":{"type":"string","value":"secret"}}`)
	withEachReader(t, func(t *testing.T, with func(document.Options) document.Options) {
		testPDFOfLibreOffice(t, file, locked, with)
	})
}

func testPDFOfLibreOffice(t *testing.T, file, locked string, with func(document.Options) document.Options) {
	wants(t, "letter.pdf", file, with(document.Options{}), "pdf", "Счёт № 17", "Office efficiency: the final offer is 1,200 €", "Молоко", "مرحبا بالعالم", "The second page ends here.")
	if _, err := read(t, "letter.pdf", locked, with(document.Options{})); fault(err) != confined.Locked {
		t.Errorf("%v, want locked", err)
	}
	if _, err := read(t, "letter.pdf", file[:len(file)/3], with(document.Options{})); fault(err) != confined.Broken && fault(err) != confined.Scan {
		t.Errorf("%v, want a fault", err)
	}
}

func TestRealPDFOfTeX(t *testing.T) { withEachReader(t, testPDFOfTeX) }

func testPDFOfTeX(t *testing.T, with func(document.Options) document.Options) {
	needs.Program(t, "texlive-latex-base", "pdflatex")
	var b strings.Builder
	b.WriteString(`\documentclass{article}\begin{document}\section{Efficient offices}The five offices find a difference of fifty per cent in $x^2$.\newpage `)
	for i := range 164 {
		fmt.Fprintf(&b, "This is page number %d of a long report. %s\\newpage\n", i+2, strings.Repeat("It says the same again and again, at some length. ", 40))
	}
	b.WriteString(`\end{document}`)
	file := made(t, "a.tex", b.String(), "a.pdf", "pdflatex", "-interaction=batchmode", "a.tex")
	d := wants(t, "a.pdf", file, with(document.Options{Pages: "1,165"}), "pdf", "Efficient offices", "The five offices find a difference of fifty per cent", "[page 165]", "This is page number 165 of a long report.")
	if d.Pages != 165 {
		t.Errorf("%d pages", d.Pages)
	}
	begun := time.Now()
	d = wants(t, "a.pdf", file, with(document.Options{Query: "page number 164"}), "pdf", "[page 164]", "This is page number 164")
	took := time.Since(begun)
	t.Logf("165 pages in %s: %.0f pages a second", took.Round(time.Millisecond), 165/took.Seconds())
	if took > 10*time.Second {
		t.Errorf("165 pages took %s", took)
	}
}

// TestRealPDFsThatAreOdd: cut ones, and ones with other bytes at random places, are read or
// are a fault. What they do to PDFium ends with the child.
func TestRealPDFsThatAreOdd(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 17))
	files := []string{chromium(t, letter, false), numbered(5), scanned(t, scan(t, "HALLE"))}
	kinds := map[confined.FaultKind]int{}
	for i := range 120 {
		odd := []byte(files[i%len(files)])
		if i%4 == 0 {
			odd = odd[:random.IntN(len(odd))]
		}
		for range 1 << random.IntN(9) {
			if len(odd) > 8 {
				odd[8+random.IntN(len(odd)-8)] = byte(random.Uint32())
			}
		}
		o := pdfReaders["pdfium"]
		o.Limit, o.OCR = 20*time.Second, "off"
		_, err := read(t, "odd.pdf", string(odd), o)
		if err != nil && fault(err) == "" {
			t.Errorf("file %d: %v", i, err)
		}
		kinds[fault(err)]++
	}
	t.Logf("%v", kinds)
	if kinds[""] == 0 || kinds[confined.Broken] == 0 || kinds[confined.NoReader] > 0 {
		t.Errorf("read, broken, no reader: %v", kinds)
	}
}

func TestRealOfficeFiles(t *testing.T) {
	for _, to := range []string{"docx:MS Word 2007 XML", "odt"} {
		format, _, _ := strings.Cut(to, ":")
		file := office(t, "letter.html", letter, to, "--infilter=HTML (StarWriter)")
		wants(t, "letter."+format, file, document.Options{}, format, "# Счёт № 17", "Уважаемая Анна", "| Хлеб | 2,50 |", "| Молоко | 1,20 |", "The second page ends here.")
	}
	table := "Article,Price,Date\nХлеб,2.5,2024-01-31\n\"Milk, fresh\",1.2,2024-02-29\nSum,=B2+B3,\n"
	for _, format := range []string{"xlsx", "ods"} {
		file := office(t, "table.csv", table, format, "--infilter=CSV:44,34,76,1,,0,false,true,false,false,false,-1")
		wants(t, "table."+format, file, document.Options{}, format, "Article,Price,Date", "Хлеб,2.5,2024-01-31", `"Milk, fresh",1.2,2024-02-29`)
	}
	for _, format := range []string{"pptx", "odp"} {
		file := office(t, "talk.fodp", talk, format)
		d := wants(t, "talk."+format, file, document.Options{}, format, "[slide 1", "Наш план", "[slide 2", "Thank you")
		if d.Pages != 2 {
			t.Errorf("%s: %d slides", format, d.Pages)
		}
	}
}

// talk is a presentation of two slides.
const talk = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.presentation">
<office:body><office:presentation>
<draw:page draw:name="one"><draw:frame svg:width="20cm" svg:height="3cm" svg:x="1cm" svg:y="1cm"><draw:text-box><text:p>Наш план</text:p></draw:text-box></draw:frame></draw:page>
<draw:page draw:name="two"><draw:frame svg:width="20cm" svg:height="3cm" svg:x="1cm" svg:y="1cm"><draw:text-box><text:p>Thank you</text:p></draw:text-box></draw:frame></draw:page>
</office:presentation></office:body></office:document>`

// receipt is what a shop prints.
const receipt = `<html><head><meta charset="utf-8"></head><body style="font: 22px DejaVu Sans Mono, monospace; width: 520px; margin: 30px">
<h2>%s</h2><p>%s</p><p>%s</p><p><b>%s</b></p></body></html>`

// TestRealReceipt: a drawn receipt is read by tesseract, as a picture and as a scan in a
// PDF, in English and Russian.
func TestRealReceipt(t *testing.T) { withEachReader(t, testReceipt) }

func testReceipt(t *testing.T, with func(document.Options) document.Options) {
	needs.Program(t, "tesseract-ocr", "tesseract")
	for language, lines := range map[string][]any{
		"eng":     {"GREEN MARKET", "Bread 2.50", "Milk 1.20", "TOTAL 3.70"},
		"rus+eng": {"ПРОДУКТЫ", "Хлеб 52.50", "Молоко 81.20", "ИТОГО 133.70"},
	} {
		if language != "eng" && !slices.Contains(document.Installed(t.Context(), document.Options{}).Languages, "rus") {
			needs.Missing(t, "tesseract-ocr-rus", "apt-get install tesseract-ocr-rus")
		}
		picture := chromium(t, fmt.Sprintf(receipt, lines...), true)
		file := filepath.Join(t.TempDir(), "receipt.png")
		if err := os.WriteFile(file, []byte(picture), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := document.OCR(t.Context(), file, language)
		for _, line := range lines {
			if err != nil || !strings.Contains(strings.Join(strings.Fields(text), " "), line.(string)) {
				t.Errorf("%s: %q is missing in\n%s\n%v", language, line, text, err)
			}
		}
		page := `<html><body><img style="width: 100%" src="data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(picture)) + `"></body></html>`
		d := wants(t, "scan.pdf", chromium(t, page, false), with(document.Options{OCRLanguages: language}), "pdf", lines[3].(string))
		if !d.Recognized {
			t.Errorf("%+v", d)
		}
	}
}
