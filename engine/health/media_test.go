package health

import (
	"os"
	"strings"
	"testing"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/engine/settings"
	"klawbot/internal/needs"
)

// TestMain: doctor reads a sample in a child, which is this program.
func TestMain(m *testing.M) {
	confined.Main(document.Kinds())
	os.Exit(m.Run())
}

// TestReadingText: what can be read, and what to install for the rest.
func TestReadingText(t *testing.T) {
	if got, want := readingText(t.Context(), settings.Documents{PDF: "off", OCR: "off"}), "office"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if got, want := readingText(t.Context(), settings.Documents{}), "office; no PDF: install poppler-utils; no OCR: install tesseract-ocr"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv("PATH", path)
	needs.Program(t, "poppler-utils", "pdftotext")
	needs.Program(t, "tesseract-ocr", "tesseract")
	if got := readingText(t.Context(), settings.Documents{}); !strings.HasPrefix(got, "pdftotext, office, OCR ") || !strings.Contains(got, "eng") {
		t.Errorf("%q", got)
	}
}
