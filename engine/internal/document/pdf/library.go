package pdf

import (
	"context"
	"errors"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/pdfium"
)

// library reads PDFs with PDFium.
type library struct{ *pdfium.Document }

func openLibrary(ctx context.Context, from, file string) (Reader, int, error) {
	d, err := pdfium.Open(ctx, from, file)
	if err != nil {
		return nil, 0, libraryFault(err)
	}
	return library{d}, d.Pages, nil
}

// libraryFault is why PDFium failed.
func libraryFault(err error) error {
	switch {
	case errors.Is(err, pdfium.ErrLocked):
		return &confined.Fault{Kind: confined.Locked}
	case errors.Is(err, pdfium.ErrBroken):
		return &confined.Fault{Kind: confined.Broken, Detail: "pdf"}
	case errors.Is(err, pdfium.ErrLong):
		return &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
	case errors.Is(err, context.DeadlineExceeded):
		return &confined.Fault{Kind: confined.GaveUp, Detail: "pdfium took too long"}
	case errors.Is(err, pdfium.ErrLibrary) && strings.Contains(err.Error(), "failed to map segment"):
		return &confined.Fault{Kind: confined.NoReader, Detail: mayNotRun}
	case errors.Is(err, pdfium.ErrLibrary): // the pull replaces a damaged file
		return &confined.Fault{Kind: confined.NoReader, Detail: pull}
	}
	return err
}

// Read reads one page, so that those before one that hangs are there. It leaves a page empty
// that is not there: poppler does so, too.
func (l library) Read(ctx context.Context, first, _ int) ([]string, error) {
	text, err := l.Text(ctx, first, maxText)
	if err != nil && !errors.Is(err, pdfium.ErrBroken) {
		return nil, libraryFault(err)
	}
	return []string{text}, nil
}

func (l library) Scan(ctx context.Context, page int, stem string) (file string, err error) {
	file = stem + ".pgm"
	if err := l.Document.Scan(ctx, page, scanDots, file); err != nil {
		return "", libraryFault(err)
	}
	return file, nil
}

func (l library) Pictures(ctx context.Context, pages, side int, _ string) (all [][]byte, err error) {
	for n := range min(l.Document.Pages, pages) {
		page, err := l.Picture(ctx, n+1, side)
		if err != nil {
			return nil, libraryFault(err)
		}
		all = append(all, page)
	}
	return all, nil
}
