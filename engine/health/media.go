package health

import (
	"context"
	"strings"

	"klawbot/engine/internal/document"
	"klawbot/engine/settings"
)

// ReadingText says which documents can be read here, and what to install for the others.
func ReadingText(ctx context.Context, c settings.Documents) string {
	var can, lacks []string
	p := document.Installed(ctx)
	switch {
	case c.PDF == "off":
	case p.PDFText:
		can = append(can, "pdftotext")
	default:
		lacks = append(lacks, "no PDF: install poppler-utils")
	}
	can = append(can, "office")
	switch {
	case c.OCR == "off":
	case len(p.Languages) > 0:
		can = append(can, "OCR "+strings.Join(p.Languages, "+"))
	default:
		lacks = append(lacks, "no OCR: install tesseract-ocr")
	}
	return strings.Join(append([]string{strings.Join(can, ", ")}, lacks...), "; ")
}

// readingFinding reads a sample as documents of people are read.
func readingFinding(ctx context.Context, c settings.Documents) Finding {
	if err := document.TrySample(ctx, document.Options{PDF: c.PDF, OCR: c.OCR}); err != nil {
		return Broken("reading", "the directory for temporary files (TMPDIR) must be writable; report it with klawbot version otherwise", err)
	}
	return OK("reading", "read the sample; %s", ReadingText(ctx, c))
}
