package health

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/engine/internal/document/pdfium"
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
	if got, want := readingText(t.Context(), settings.Documents{PDF: "off", OCR: "off"}, nil), "office"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if got, want := readingText(t.Context(), settings.Documents{}, nil), "office; no PDF: klawbot assets pull --documents; no OCR: install tesseract-ocr"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := readingText(t.Context(), settings.Documents{PDF: "pdftotext"}, nil), "office; no PDF: install poppler-utils; no OCR: install tesseract-ocr"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	assets := t.TempDir()
	library := filepath.Join(assets, pdfium.Path())
	if err := errors.Join(os.Mkdir(filepath.Dir(library), 0o700), os.WriteFile(library, []byte("no library"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, want := readingText(t.Context(), settings.Documents{}, []string{t.TempDir(), assets}), "pdfium, office; no OCR: install tesseract-ocr"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if f := readingFinding(t.Context(), settings.Documents{}, []string{assets}); f.OK || f.Fix != "klawbot assets pull --documents" {
		t.Errorf("%+v", f)
	}
	t.Setenv("PATH", path)
	needs.Program(t, "poppler-utils", "pdftotext")
	needs.Program(t, "tesseract-ocr", "tesseract")
	if got := readingText(t.Context(), settings.Documents{OCRLanguages: "english,eng"}, nil); !strings.HasSuffix(got, "; no OCR language english") {
		t.Errorf("%q", got)
	}
	if f := readingFinding(t.Context(), settings.Documents{OCRLanguages: "klingon+english"}, nil); f.State != StateLimited || f.Fix != "install tesseract-ocr-klingon, tesseract-ocr-english, or change media.documents.ocrLanguages" {
		t.Errorf("%+v", f)
	}
	if got := readingText(t.Context(), settings.Documents{}, nil); !strings.HasPrefix(got, "pdftotext, office, OCR ") || !strings.Contains(got, "eng") {
		t.Errorf("%q", got)
	}
}

// TestSampleFix: what to do depends on what is missing.
func TestSampleFix(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("read the sample: %w", &fs.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: fs.ErrNotExist}), "mount /proc"},
		{&fs.PathError{Op: "open", Path: "/tmp/klawbot-sample-1", Err: fs.ErrPermission}, "TMPDIR"},
		{errors.New("the sample was read as x"), "klawbot version"},
	} {
		if got := sampleFix(c.err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s", c.err, got)
		}
	}
}
