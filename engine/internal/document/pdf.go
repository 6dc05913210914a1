package document

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"klawbot/engine/internal/confined"
)

// pdf is a PDF; its pages are read by pdftotext, some at a time.
type pdf struct {
	in    *input
	pages int
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
	// scanDots is the resolution that OCR gets, in dots an inch.
	scanDots = "200"
)

func (p *pdf) unit() string { return "page" }

func (p *pdf) count() int { return p.pages }

func (in *input) pdf(ctx context.Context) (parts, error) {
	if in.options.PDF == "off" {
		return nil, &confined.Fault{Kind: confined.NoReader, Detail: "media.documents.pdf: auto"}
	}
	if !there("pdftotext") || !there("pdfinfo") {
		return nil, &confined.Fault{Kind: confined.NoReader, Detail: installPoppler}
	}
	out, said, err := run(ctx, "pdfinfo", in.File.Name())
	if err != nil {
		return nil, pdfFault(err, said)
	}
	p := &pdf{in: in, batch: firstBatch}
	for line := range strings.Lines(string(out)) {
		if n, ok := strings.CutPrefix(line, "Pages:"); ok {
			p.pages, _ = strconv.Atoi(strings.TrimSpace(n)) // else 0
		}
	}
	if p.pages <= 0 {
		return nil, &confined.Fault{Kind: confined.Broken, Detail: "no pages"}
	}
	return p, nil
}

// pdfFault is why one of poppler's programs failed.
func pdfFault(err error, said string) error {
	if fault, is := err.(*confined.Fault); is {
		return fault
	}
	if strings.Contains(said, "Incorrect password") {
		return &confined.Fault{Kind: confined.Locked}
	}
	if exitCode(err) == -1 {
		return &confined.Fault{Kind: confined.GaveUp, Detail: "limit of memory"}
	}
	return &confined.Fault{Kind: confined.Broken, Detail: "pdf"}
}

// part reads a page.
func (p *pdf) part(ctx context.Context, n int) (part, error) {
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
func (p *pdf) load(ctx context.Context, n int) error {
	last := min(n+p.batch-1, p.pages)
	p.batch = min(p.batch*2, maxBatch)
	out, said, err := run(ctx, "pdftotext", "-enc", "UTF-8", "-layout", "-f", strconv.Itoa(n), "-l", strconv.Itoa(last), p.in.File.Name(), "-")
	if err != nil {
		return pdfFault(err, said)
	}
	p.first, p.texts = n, nil
	pages := strings.Split(string(out), "\f")
	for i := range last - n + 1 {
		text := ""
		if i < len(pages) {
			text = tidy(narrow(pages[i]))
		}
		p.texts = append(p.texts, text)
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
func (p *pdf) recognize(ctx context.Context, n int) (string, error) {
	if p.in.options.OCR == "off" || p.recognized >= maxRecognized || !there("tesseract") || !there("pdftoppm") {
		return "", nil
	}
	p.recognized++
	stem := filepath.Join(p.in.scratch, fmt.Sprintf("page%d", n))
	_, said, err := run(ctx, "pdftoppm", "-gray", "-r", scanDots, "-f", strconv.Itoa(n), "-l", strconv.Itoa(n), "-singlefile", p.in.File.Name(), stem)
	if err != nil {
		return "", pdfFault(err, said)
	}
	defer os.Remove(stem + ".pgm")
	text, err := p.in.tesseract(ctx, stem+".pgm")
	if fault, is := err.(*confined.Fault); is && fault.Kind == confined.GaveUp {
		return "", err
	}
	return text, nil
}
