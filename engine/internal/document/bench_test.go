//go:build bench && linux

package document_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/engine/internal/document"
	"klawbot/engine/internal/document/pdfium"
	"klawbot/internal/needs"
)

// TestBenchPDF measures how many pages of a PDF are read in a second, with the child, by
// each reader, and the memory of the largest process that takes part. It prints rows of
// doc/benchmarks.md. The first reader is the one that takes less memory.
func TestBenchPDF(t *testing.T) {
	needs.Program(t, "poppler-utils", "pdftotext")
	benchPDF(t, document.Options{PDF: "pdftotext"})
	library := pdfium.Find([]string{os.Getenv("ASSETS")})
	if library == "" {
		needs.Missing(t, "PDFium", "make assets")
	}
	benchPDF(t, document.Options{PDF: "pdfium", PDFium: library})
}

func benchPDF(t *testing.T, o document.Options) {
	t.Helper()
	const count = 165
	texts := make([]string, count)
	for i := range texts {
		texts[i] = strings.Repeat("words of a page ", 100)
	}
	file, best := pages(texts...), time.Hour
	for range 5 {
		begun := time.Now()
		o.MaxChars, o.MaxPages = 1<<20, count
		d, err := read(t, "long.pdf", file, o)
		if err != nil || d.Pages != count || d.More != "" {
			t.Fatalf("%d pages, more %q, %v", d.Pages, d.More, err)
		}
		best = min(best, time.Since(begun))
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, %d pages: %.0f pages a second, goal >= 150; %d MB, goal <= 100", o.PDF, count, count/best.Seconds(), usage.Maxrss>>10)
	if usage.Maxrss > 100<<10 {
		t.Errorf("a child took %d MB", usage.Maxrss>>10)
	}
}
