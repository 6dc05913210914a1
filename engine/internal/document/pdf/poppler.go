package pdf

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/programs"
)

// poppler reads PDFs with the programs of poppler-utils.
type poppler struct{ file string }

func openPoppler(ctx context.Context, file string) (Reader, int, error) {
	out, said, err := programs.Run(ctx, "pdfinfo", file)
	if err != nil {
		return nil, 0, popplerFault(err, said)
	}
	pages := 0
	for line := range strings.Lines(string(out)) {
		if n, ok := strings.CutPrefix(line, "Pages:"); ok {
			pages, _ = strconv.Atoi(strings.TrimSpace(n)) // else 0
		}
	}
	return poppler{file}, pages, nil
}

// popplerFault is why one of poppler's programs failed.
func popplerFault(err error, said string) error {
	if fault, is := err.(*confined.Fault); is {
		return fault
	}
	if strings.Contains(said, "Incorrect password") {
		return &confined.Fault{Kind: confined.Locked}
	}
	if programs.ExitCode(err) == -1 {
		return &confined.Fault{Kind: confined.GaveUp, Detail: "limit of memory"}
	}
	return &confined.Fault{Kind: confined.Broken, Detail: "pdf"}
}

func (p poppler) Read(ctx context.Context, first, last int) ([]string, error) {
	out, said, err := programs.Run(ctx, "pdftotext", "-enc", "UTF-8", "-layout", "-f", strconv.Itoa(first), "-l", strconv.Itoa(last), p.file, "-")
	if err != nil {
		return nil, popplerFault(err, said)
	}
	return strings.Split(string(out), "\f"), nil
}

func (p poppler) Scan(ctx context.Context, page int, stem string) (file string, err error) {
	_, said, err := programs.Run(ctx, "pdftoppm", "-gray", "-r", strconv.Itoa(scanDots), "-f", strconv.Itoa(page), "-l", strconv.Itoa(page), "-singlefile", p.file, stem)
	if err != nil {
		return "", popplerFault(err, said)
	}
	return stem + ".pgm", nil
}

func (p poppler) Pictures(ctx context.Context, pages, side int, stem string) (all [][]byte, err error) {
	_, said, err := programs.Run(ctx, "pdftoppm", "-jpeg", "-scale-to", strconv.Itoa(side), "-l", strconv.Itoa(pages), p.file, stem)
	if err != nil {
		return nil, popplerFault(err, said)
	}
	names, err := filepath.Glob(stem + "*.jpg")
	if err != nil {
		return nil, err
	}
	slices.Sort(names) // they end in numbers of one length
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, page)
	}
	return all, nil
}
