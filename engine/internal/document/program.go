package document

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"

	"klawbot/engine/internal/confined"
)

// maxProgramOutput bounds what a program writes.
const maxProgramOutput = maxText

// run runs a program of the system within the child, and returns what it writes.
func run(ctx context.Context, name string, args ...string) (stdout []byte, stderr string, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bounded
	out.most, errs.most = maxProgramOutput, 8<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, "", &confined.Fault{Kind: confined.GaveUp, Detail: name + " took too long"}
	case out.full:
		return nil, "", &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
	}
	return out.text.Bytes(), errs.text.String(), err
}

// bounded keeps the begin of an output.
type bounded struct {
	text bytes.Buffer
	most int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.text.Len()
	if len(p) > room {
		b.full = true
		b.text.Write(p[:room])
		return len(p), nil
	}
	return b.text.Write(p)
}

// there reports whether a program is installed.
func there(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// How to install what a reader needs.
const (
	installPoppler   = "apt install poppler-utils"
	installTesseract = "apt install tesseract-ocr"
)

// Programs are the programs that the readers find on this machine.
type Programs struct {
	// PDFText and PDFPictures say that PDFs can be read, and drawn for OCR.
	PDFText, PDFPictures bool
	// Languages are what tesseract reads; none: it is not installed.
	Languages []string
}

// Installed looks for programs. It asks tesseract for its languages once in the life of
// the process.
func Installed(ctx context.Context) Programs {
	return Programs{PDFText: there("pdftotext") && there("pdfinfo"), PDFPictures: there("pdftoppm"), Languages: installedLanguages(ctx)}
}

// known is what tesseract has answered.
var known struct {
	sync.Mutex
	languages []string
}

func installedLanguages(ctx context.Context) []string {
	if !there("tesseract") {
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
	out, _, err := run(ctx, "tesseract", "--list-langs")
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

// exitCode is the exit code of a program that ran.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
