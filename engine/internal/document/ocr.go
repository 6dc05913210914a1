package document

import (
	"bytes"
	"context"
	"image"
	_ "image/gif"  // headers
	_ "image/jpeg" // headers
	_ "image/png"  // headers
	"slices"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/pdf"
	"klawbot/engine/internal/document/programs"
)

// The bounds of a picture.
const (
	maxPixels = 40_000_000
	maxSide   = 12_000
	maxShape  = 20
)

// ocrOff is the key that switches OCR off, and what it should be.
const ocrOff = "media.documents.ocr: auto"

// isPicture knows the formats that tesseract reads.
func isPicture(head []byte) bool {
	for _, sign := range []string{"\x89PNG\r\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "II*\x00", "MM\x00*"} {
		if bytes.HasPrefix(head, []byte(sign)) {
			return true
		}
	}
	return len(head) > 12 && (string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" || string(head[:2]) == "BM" && string(head[6:10]) == "\x00\x00\x00\x00")
}

// readOCR is the child for OCR.
func readOCR(ctx context.Context, job confined.Job, scratch string) (confined.Result, error) {
	in, err := open(job, scratch)
	if err != nil {
		return confined.Result{}, err
	}
	defer in.Close()
	if !isPicture(in.head) {
		return confined.Result{}, &confined.Fault{Kind: confined.Broken, Detail: "it is no picture"}
	}
	text, err := in.recognize(ctx, job.Input)
	return confined.Result{Text: text}, err
}

// recognize reads the text in the picture that the input is.
func (in *input) recognize(ctx context.Context, file string) (string, error) {
	switch {
	case in.options.OCR == "off":
		return "", &confined.Fault{Kind: confined.NoReader, Detail: ocrOff}
	case !programs.There("tesseract"):
		return "", &confined.Fault{Kind: confined.NoReader, Detail: installTesseract}
	}
	c, _, err := image.DecodeConfig(in.File)
	if err == nil && (c.Width*c.Height > maxPixels || max(c.Width, c.Height) > maxSide || max(c.Width, c.Height) > maxShape*min(c.Width, c.Height)) {
		return "", &confined.Fault{Kind: confined.TooMuch, Detail: "more than 40 megapixels, or a side too long"}
	}
	text, err := in.tesseract(ctx, file)
	if err == nil && letters(text) == 0 {
		err = &confined.Fault{Kind: confined.NoWords}
	}
	return text, err
}

// tesseract reads the text in the picture of a file.
func (in *input) tesseract(ctx context.Context, file string) (string, error) {
	languages, err := usable(in.options.OCRLanguages, installedLanguages(ctx))
	if err != nil {
		return "", err
	}
	out, _, err := programs.Run(ctx, "tesseract", file, "stdout", "-l", languages)
	if fault, is := err.(*confined.Fault); is {
		return "", fault
	}
	if err != nil {
		return "", &confined.Fault{Kind: confined.Broken, Detail: "picture"}
	}
	return tidy(string(out)), nil
}

// usable are the wanted languages that are installed, else English, else any.
func usable(wanted string, installed []string) (string, error) {
	if len(installed) == 0 {
		return "", &confined.Fault{Kind: confined.NoReader, Detail: installTesseract}
	}
	var all []string
	for _, l := range LanguageNames(wanted) {
		if slices.Contains(installed, l) && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	if len(all) == 0 && slices.Contains(installed, "eng") {
		all = []string{"eng"}
	}
	if len(all) == 0 {
		all = installed[:1]
	}
	return strings.Join(all, "+"), nil
}

// LanguageNames are the names in a text such as "rus+eng".
func LanguageNames(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '+' || r == ',' || r == ' ' })
}

// missingOCR says how to have scans read, "" where that was tried.
func missingOCR(o Options) string {
	switch {
	case o.OCR == "off":
		return ocrOff
	case !programs.There("tesseract"):
		return installTesseract
	case !programs.There("pdftoppm"):
		if name, _ := pdf.ReaderOf(o.pdf()); name != pdf.PDFium {
			return pdf.InstallPoppler
		}
	}
	return ""
}

// Languages are what tesseract looks for: what the configuration says, else the language
// of the bot and English.
func Languages(configured, language string) string {
	if configured != "" {
		return configured
	}
	if own := tesseractNames[language]; own != "" && own != "eng" {
		return own + "+eng"
	}
	return "eng"
}

// tesseractNames are the names of languages that tesseract has, by those of ISO 639-1.
var tesseractNames = map[string]string{"en": "eng", "ru": "rus"}
