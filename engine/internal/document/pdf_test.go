package document_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/internal/needs"
)

// pdfOf puts objects into a PDF. The first is the catalog.
func pdfOf(objects ...string) string {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.String()
}

// pages makes a PDF with a line of text on each page; an empty one has none.
func pages(texts ...string) string {
	kids := ""
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	for i, text := range texts {
		n := 4 + 2*i
		kids += fmt.Sprintf("%d 0 R ", n)
		drawn := ""
		if text != "" {
			drawn = "BT /F1 12 Tf 72 720 Td (" + text + ") Tj ET"
		}
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>", n+1),
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(drawn), drawn))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(texts), kids)
	return pdfOf(objects...)
}

// numbered are pages that say which they are.
func numbered(n int) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("This is sheet number %d of the report.", i+1)
	}
	return pages(texts...)
}

// pdfReaders are what reads PDFs in these tests, by the name in the configuration: with the
// tag documents also PDFium.
var pdfReaders = map[string]document.Options{"pdftotext": {PDF: "pdftotext"}}

// withEachReader runs a test with each reader of PDFs. It gets what reads with it.
func withEachReader(t *testing.T, test func(t *testing.T, with func(document.Options) document.Options)) {
	for name, reader := range pdfReaders {
		t.Run(name, func(t *testing.T) {
			if name == "pdftotext" {
				needs.Program(t, "poppler-utils", "pdftotext")
			}
			test(t, func(o document.Options) document.Options {
				o.PDF, o.PDFium = reader.PDF, reader.PDFium
				return o
			})
		})
	}
}

func TestPDF(t *testing.T) { withEachReader(t, testPDF) }

func testPDF(t *testing.T, with func(document.Options) document.Options) {
	file := numbered(12)
	for name, test := range map[string]struct {
		o           document.Options
		want        string
		shown, more string
		next        int
	}{
		"some":   {document.Options{Pages: "2-3,12"}, "[page 2]\nThis is sheet number 2 of the report.\n\n[page 3]\nThis is sheet number 3 of the report.\n\n[page 12]\nThis is sheet number 12 of the report.", "2-3,12", "", 0},
		"few":    {document.Options{MaxChars: 100}, "[page 1]\nThis is sheet number 1 of the report.\n\n[page 2]\nThis is sheet number 2 of the report.", "1-2", "3-4", 3},
		"beyond": {document.Options{Pages: "12-20"}, "[page 12]\nThis is sheet number 12 of the report.", "12", "", 0},
		"query":  {document.Options{Query: "number 7"}, "[page 7]\nThis is sheet number 7 of the report.", "7", "", 0},
		"most":   {document.Options{Query: "number", MaxPages: 1}, "[page 1]\nThis is sheet number 1 of the report.", "1", "2-", 2},
	} {
		d, err := read(t, "report.pdf", file, with(test.o))
		if err != nil || d.Text != test.want || d.Shown != test.shown || d.More != test.more || d.Next != test.next || d.Pages != 12 || d.Unit != "page" || d.Kind != "pdf" {
			t.Errorf("%s: %+v, %v\n%s\nwant\n%s", name, d, err, d.Text, test.want)
		}
	}
	if _, err := read(t, "report.pdf", file, document.Options{PDF: "off"}); fault(err) != confined.NoReader {
		t.Errorf("%v", err)
	}
}

// TestBadPDFs: a cut one, one that counts more pages than it has, and ones that lead in
// circles; each ends soon.
func TestBadPDFs(t *testing.T) { withEachReader(t, testBadPDFs) }

func testBadPDFs(t *testing.T, with func(document.Options) document.Options) {
	good := numbered(3)
	page := "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>"
	for name, test := range map[string]struct {
		content string
		want    confined.FaultKind
	}{
		"cut":      {good[:200], confined.Broken},
		"only":     {"%PDF-1.7\n", confined.Broken},
		"noise":    {"%PDF-1.7\n" + strings.Repeat("\x00\xff obj << stream", 5000), confined.Broken},
		"no pages": {pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 0/Kids[]>>"), confined.Broken},
		"circle":   {pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]/Parent 2 0 R>>"), confined.Scan},
		"itself":   {pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</XObject<</A 4 0 R>>>>>>", "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</A 4 0 R>>>>/Length 4>>stream\n/A Do\nendstream"), confined.Scan},
		"many":     {pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 100000/Kids["+strings.Repeat("3 0 R ", 100_000)+"]>>", page), confined.Scan},
	} {
		begun := time.Now()
		d, err := read(t, name+".pdf", test.content, with(document.Options{OCR: "off", MaxPages: 20, Limit: 20 * time.Second}))
		// The readers mend what they can; then there is no text.
		if kind := fault(err); kind != test.want && kind != confined.Broken && kind != confined.Scan {
			t.Errorf("%s: %v (%.100q), want %s", name, err, d.Text, test.want)
		}
		if took := time.Since(begun); took > 25*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// scan is a picture with big letters, drawn from a font of 5 by 7 dots.
func scan(t *testing.T, text string) *image.Gray {
	t.Helper()
	const dot = 8
	img := image.NewGray(image.Rect(0, 0, (len(text)*6+8)*dot, 20*dot))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	for i, r := range text {
		for y, row := range glyphs[r] {
			for x, on := range row {
				if on == '#' {
					at := image.Rect((4+i*6+x)*dot, (6+y)*dot, (5+i*6+x)*dot, (7+y)*dot)
					draw.Draw(img, at, image.NewUniform(color.Black), image.Point{}, draw.Src)
				}
			}
		}
	}
	return img
}

var glyphs = map[rune][]string{
	'O': {".###.", "#...#", "#...#", "#...#", "#...#", "#...#", ".###."},
	'A': {".###.", "#...#", "#...#", "#####", "#...#", "#...#", "#...#"},
	'L': {"#....", "#....", "#....", "#....", "#....", "#....", "#####"},
	'E': {"#####", "#....", "#....", "####.", "#....", "#....", "#####"},
	'H': {"#...#", "#...#", "#...#", "#####", "#...#", "#...#", "#...#"},
}

// scanned is a PDF whose only page is a picture.
func scanned(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	content := "q 500 0 0 263 50 400 cm /I Do Q"
	return pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
		fmt.Sprintf("<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/DCTDecode/Length %d>>stream\n%s\nendstream", w, h, b.Len(), b.String()))
}

// TestScannedPageIsRecognized: by OCR where that is allowed, else the fault says what to
// install or switch on.
func TestScannedPageIsRecognized(t *testing.T) { withEachReader(t, testScannedPage) }

func testScannedPage(t *testing.T, with func(document.Options) document.Options) {
	file := scanned(t, scan(t, "HALLE"))
	if _, err := read(t, "scan.pdf", file, with(document.Options{OCR: "off"})); fault(err) != confined.Scan {
		t.Errorf("%v, want a scan", err)
	}
	drawn(t, file, with(document.Options{}))
	needs.Program(t, "tesseract-ocr", "tesseract")
	d, err := read(t, "scan.pdf", file, with(document.Options{OCRLanguages: "xyz+eng"}))
	if err != nil || !strings.Contains(d.Text, "HALLE") || !d.Recognized {
		t.Errorf("%+v, %v", d, err)
	}
}

// drawn checks the picture of a scan that a model gets: its size, and that it is black on
// white where the scan is.
func drawn(t *testing.T, content string, o document.Options) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scan.pdf")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	pages, err := document.Draw(t.Context(), file, 792, o)
	if err != nil || len(pages) != 1 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	img, err := jpeg.Decode(bytes.NewReader(pages[0]))
	if err != nil || img.Bounds() != image.Rect(0, 0, 612, 792) {
		t.Fatalf("%v, %v", img.Bounds(), err)
	}
	dark := image.Rectangle{}
	for y := range 792 {
		for x := range 612 {
			if r, g, b, _ := img.At(x, y).RGBA(); r+g+b < 3*0x4000 {
				dark = dark.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if !dark.In(image.Rect(50, 129, 550, 392)) || dark.Dx() < 300 || dark.Dy() < 50 {
		t.Errorf("the scan is at %v", dark)
	}
}

// TestPDFForm: what a person has filled in is a part of the page.
func TestPDFForm(t *testing.T) {
	file := pdfOf("<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]>>>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[6 0 R]>>",
		"<</Length 45>>stream\nBT /F1 12 Tf 72 720 Td (Name of tenant:) Tj ET\nendstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/V(Anna Ivanova)/F 4/Rect[200 715 400 735]/AP<</N 7 0 R>>>>",
		"<</Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F1 5 0 R>>>>/Length 54>>stream\n/Tx BMC BT /F1 12 Tf 2 5 Td (Anna Ivanova) Tj ET EMC   \nendstream")
	withEachReader(t, func(t *testing.T, with func(document.Options) document.Options) {
		d, err := read(t, "form.pdf", file, with(document.Options{}))
		if text := strings.Join(strings.Fields(d.Text), " "); err != nil || text != "Name of tenant: Anna Ivanova" {
			t.Errorf("%q, %v", d.Text, err)
		}
	})
}

// TestOCR: words of a picture; one without words, a bomb and a file that is no picture.
func TestOCR(t *testing.T) {
	picture := func(img image.Image) string {
		file := filepath.Join(t.TempDir(), "a")
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	no := filepath.Join(t.TempDir(), "no")
	if err := os.WriteFile(no, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := document.OCR(t.Context(), no, "eng"); fault(err) != confined.Broken {
		t.Errorf("%v, want broken", err)
	}
	needs.Program(t, "tesseract-ocr", "tesseract")
	if text, err := document.OCR(t.Context(), picture(scan(t, "HALLO")), "eng"); err != nil || !strings.Contains(text, "HALLO") {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := document.OCR(t.Context(), picture(image.NewGray(image.Rect(0, 0, 300, 300))), ""); fault(err) != confined.NoWords {
		t.Errorf("%v, want no words", err)
	}
	if _, err := document.OCR(t.Context(), picture(image.NewGray(image.Rect(0, 0, 13_000, 10))), ""); fault(err) != confined.TooMuch {
		t.Errorf("%v, want too much", err)
	}
	if d, err := read(t, "a.docx", func() string { b, _ := os.ReadFile(picture(scan(t, "HALLO"))); return string(b) }(), document.Options{}); err != nil || d.Kind != "picture" || !strings.Contains(d.Text, "HALLO") || !d.Recognized {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestProgramsAreNamed: without its program a file says what to install; so does one that
// is no library.
func TestProgramsAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	library := filepath.Join(t.TempDir(), "libpdfium.so")
	if err := os.WriteFile(library, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		content string
		o       document.Options
		want    string
	}{
		{numbered(1), document.Options{}, "klawbot assets pull --documents"},
		{numbered(1), document.Options{PDF: "pdftotext", PDFium: library}, "apt install poppler-utils"},
		{numbered(1), document.Options{PDF: "pdfium"}, "klawbot assets pull --documents"},
		{numbered(1), document.Options{PDF: "auto", PDFium: library}, "klawbot assets pull --documents"},
		{numbered(1), document.Options{PDF: "off", PDFium: library}, "media.documents.pdf: auto"},
		{"\x89PNG\r\n\x1a\n", document.Options{}, "apt install tesseract-ocr"},
	} {
		_, err := read(t, "a", test.content, test.o)
		if fault(err) != confined.NoReader || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.o, err, test.want)
		}
	}
}

// badLibrary is a library with the functions of PDFium. It does what the file says.
const badLibrary = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NONE(name) long name(void) { return 0; }
NONE(FPDF_InitLibrary) NONE(FPDFPage_Flatten)
NONE(FPDF_GetPageWidthF) NONE(FPDF_GetPageHeightF) NONE(FPDF_ClosePage)
NONE(FPDFText_GetUnicode) NONE(FPDFText_GetCharOrigin) NONE(FPDFText_ClosePage)
NONE(FPDFBitmap_CreateEx) NONE(FPDFBitmap_FillRect) NONE(FPDF_RenderPageBitmap) NONE(FPDFBitmap_Destroy)
unsigned long FPDF_GetLastError(void) { return 3; }
void *FPDF_LoadDocument(const char *file, const char *password) {
	char text[64] = "";
	FILE *f = fopen(file, "r");
	if (f) fread(text, 1, 63, f);
	if (strstr(text, "crash")) *(volatile int *)8 = 1;
	if (strstr(text, "abort")) abort();
	while (strstr(text, "hang"));
	for (int i = 0; i < 900 && strstr(text, "eat"); i++) memset(malloc(1 << 20), 1, 1 << 20);
	return strstr(text, "late") ? (void *)1 : NULL;
}
int FPDF_GetPageCount(void *document) { return 3; }
void *FPDF_LoadPage(void *document, int index) { while (index == 2); return document; }
void *FPDFText_LoadPage(void *page) { return page; }
int FPDFText_CountChars(void *text) { return 20; }
int FPDFText_GetText(void *text, int start, int count, unsigned short *result) {
	for (int i = 0; i < count; i++) result[i] = 'w';
	return count;
}
`

// TestPDFiumThatFails: whatever a file does to the library ends with the child, within its
// limits, and is one fault. The pages before one that hangs are there.
func TestPDFiumThatFails(t *testing.T) {
	needs.Program(t, "gcc", "cc")
	dir := t.TempDir()
	source, library := filepath.Join(dir, "bad.c"), filepath.Join(dir, "libpdfium.so")
	if err := os.WriteFile(source, []byte(badLibrary), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for what, want := range map[string]confined.FaultKind{
		"crash": confined.Broken, "abort": confined.GaveUp, "hang": confined.GaveUp, "eat": confined.Broken, "nothing": confined.Broken,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			o := document.Options{PDF: "pdfium", PDFium: library}
			if what == "hang" {
				o.Limit = 4 * time.Second
			}
			_, err := read(t, what+".pdf", "%PDF-1.4 "+what, o)
			if kind := fault(err); kind != want && (what != "eat" || kind != confined.GaveUp) { // the kernel kills, or NULL is written to
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		d, err := read(t, "late.pdf", "%PDF-1.4 late", document.Options{PDF: "pdfium", PDFium: library, Limit: 15 * time.Second})
		if err != nil || !d.Partial || d.Shown != "1-2" || d.More != "3-" || strings.Count(d.Text, strings.Repeat("w", 20)) != 2 {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// TestSampleIsRead: what doctor proves, with PDFs and without.
func TestSampleIsRead(t *testing.T) {
	for _, o := range append(slices.Collect(maps.Values(pdfReaders)), document.Options{}, document.Options{PDF: "off"}) {
		if o.PDF == "pdftotext" {
			needs.Program(t, "poppler-utils", "pdftotext")
		}
		if err := document.TrySample(t.Context(), o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
