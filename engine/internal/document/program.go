package document

import (
	"context"
	"strings"
	"sync"

	"klawbot/engine/internal/document/pdf"
	"klawbot/engine/internal/document/programs"
)

// installTesseract is how to install what reads pictures.
const installTesseract = "apt install tesseract-ocr"

// Programs are what the readers find on this machine.
type Programs struct {
	// PDF reads PDFs: "pdftotext" or "pdfium"; "": none. Lacks is how to get one.
	PDF, Lacks string
	// Languages are what tesseract reads; none: it is not installed.
	Languages []string
}

// Installed looks for programs, and for what the options name. It asks tesseract for its
// languages once in the life of the process.
func Installed(ctx context.Context, o Options) Programs {
	p := Programs{Languages: installedLanguages(ctx)}
	p.PDF, p.Lacks = pdf.ReaderOf(o.pdf())
	return p
}

// known is what tesseract has answered.
var known struct {
	sync.Mutex
	languages []string
}

func installedLanguages(ctx context.Context) []string {
	if !programs.There("tesseract") {
		return nil
	}
	known.Lock()
	defer known.Unlock()
	if known.languages == nil {
		known.languages = tesseractLanguages(ctx)
	}
	return known.languages
}

// tesseractLanguages asks tesseract.
func tesseractLanguages(ctx context.Context) (all []string) {
	out, _, err := programs.Run(ctx, "tesseract", "--list-langs")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		// The first line is a heading; osd finds directions and reads nothing.
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, " ") && line != "osd" {
			all = append(all, line)
		}
	}
	return all
}
