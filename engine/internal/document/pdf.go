package document

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/pdf"
)

// pdfParts is a PDF; its pages are read some at a time.
type pdfParts struct {
	in     *input
	reader pdf.Reader
	pages  int
	// first is the page of texts[0]; batch is how many pages are read next.
	first, batch int
	texts        []string
	// recognized counts the pages that OCR was tried on.
	recognized int
}

const (
	firstBatch, maxBatch = 4, 64
	// maxRecognized is how many pages are recognized for one reading.
	maxRecognized = 20
	// fewLetters is from where on a page has text: scanners stamp their names.
	fewLetters = 12
)

func (p *pdfParts) unit() string { return "page" }

func (p *pdfParts) count() int { return p.pages }

func (in *input) pdf(ctx context.Context) (parts, error) {
	reader, pages, err := pdf.Open(ctx, in.options.pdf(), in.File.Name())
	if err == nil && pages <= 0 {
		err = &confined.Fault{Kind: confined.Broken, Detail: "no pages"}
	}
	if err != nil {
		return nil, err
	}
	return &pdfParts{in: in, reader: reader, pages: pages, batch: firstBatch}, nil
}

// pdf is what the options say about PDFs.
func (o Options) pdf() pdf.Options { return pdf.Options{Reader: o.PDF, Library: o.PDFium} }

// part reads a page.
func (p *pdfParts) part(ctx context.Context, n int) (part, error) {
	if n < p.first || n >= p.first+len(p.texts) {
		if err := p.load(ctx, n); err != nil {
			return part{}, err
		}
	}
	text := p.texts[n-p.first]
	if letters(text) >= fewLetters {
		return part{text: text}, nil
	}
	seen, err := p.recognize(ctx, n)
	if err != nil {
		return part{}, err
	}
	if letters(seen) > letters(text) {
		return part{text: seen, recognized: true}, nil
	}
	return part{text: text, scan: letters(text) == 0}, nil
}

// load reads some pages from n on.
func (p *pdfParts) load(ctx context.Context, n int) error {
	last := min(n+p.batch-1, p.pages)
	p.batch = min(p.batch*2, maxBatch)
	texts, err := p.reader.Read(ctx, n, last)
	if err != nil {
		return err
	}
	p.first, p.texts = n, nil
	for _, text := range texts[:min(len(texts), last-n+1)] {
		p.texts = append(p.texts, tidy(narrow(text)))
	}
	return nil
}

// narrow makes wide gaps between columns narrow, and keeps them visible.
func narrow(text string) string {
	var b strings.Builder
	spaces := 0
	for _, r := range text {
		if r == ' ' {
			if spaces++; spaces > 4 {
				continue
			}
		} else {
			spaces = 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

// letters counts letters and digits.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// recognize draws a page and reads it by OCR; "" where that cannot be, or is too much.
func (p *pdfParts) recognize(ctx context.Context, n int) (string, error) {
	if p.recognized >= maxRecognized || missingOCR(p.in.options) != "" {
		return "", nil
	}
	p.recognized++
	file, err := p.reader.Scan(ctx, n, filepath.Join(p.in.scratch, fmt.Sprintf("page%d", n)))
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file) }() // the scratch directory goes anyway
	text, err := p.in.tesseract(ctx, file)
	if fault, is := err.(*confined.Fault); is && fault.Kind == confined.GaveUp {
		return "", err
	}
	return text, nil
}
