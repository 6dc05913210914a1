// Package pdf reads and draws the pages of PDFs: with the programs of poppler-utils, or
// with the PDFium library. It runs in the child process of package confined; what is wrong
// is a fault of that package.
package pdf

import (
	"context"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/programs"
)

// Options say who reads.
type Options struct {
	// Reader is Poppler, PDFium, Off or "auto".
	Reader string
	// Library is the file of PDFium; empty: there is none.
	Library string
}

// The readers of PDFs, as the configuration calls them.
const (
	Poppler = "pdftotext"
	PDFium  = "pdfium"
	Off     = "off"
)

// InstallPoppler is how to install poppler-utils.
const InstallPoppler = "apt install poppler-utils"

const (
	pull = "klawbot assets pull --documents"
	// mayNotRun helps where the disk of the library takes no programs.
	mayNotRun = "mount the data directory without noexec, or " + InstallPoppler
	// scanDots is the resolution that OCR gets, in dots an inch.
	scanDots = 200
	// maxText bounds the text of a page, in characters.
	maxText = 24 << 20
)

// Reader reads and draws the pages of a PDF. The first is 1.
type Reader interface {
	// Read returns the text of the page first, and of as many up to last as come with it.
	Read(ctx context.Context, first, last int) ([]string, error)
	// Scan draws a page for OCR into a file, stem with an ending.
	Scan(ctx context.Context, page int, stem string) (file string, err error)
	// Pictures draws the first pages as JPEGs whose longer side has so many pixels. stem
	// begins the names of files for that.
	Pictures(ctx context.Context, pages, side int, stem string) ([][]byte, error)
}

// ReaderOf is who reads PDFs here, and how to get a reader where there is none.
func ReaderOf(o Options) (name, lacks string) {
	switch {
	case o.Reader == Off:
		return "", "media.documents.pdf: auto"
	case o.Reader != PDFium && programs.There("pdftotext") && programs.There("pdfinfo"):
		return Poppler, ""
	case o.Reader == Poppler:
		return "", InstallPoppler
	case o.Library == "":
		return "", pull
	}
	return PDFium, ""
}

// Open opens a PDF and counts its pages.
func Open(ctx context.Context, o Options, file string) (Reader, int, error) {
	switch name, lacks := ReaderOf(o); name {
	case Poppler:
		return openPoppler(ctx, file)
	case PDFium:
		return openLibrary(ctx, o.Library, file)
	default:
		return nil, 0, &confined.Fault{Kind: confined.NoReader, Detail: lacks}
	}
}
