// Package document gets the text out of files that people send: PDF, Office,
// OpenDocument, EPUB, web pages, tables and plain text, and the list of what an archive
// holds. Pictures and scans become text by tesseract, where it is installed.
//
// A document has numbered parts: pages, sheets, slides, chapters, or pieces of a text
// without any. Text returns as many as fit, and says where to read on.
//
// All files are foreign: they are read in a child process (package confined) with the
// functions of Kinds. The readers bound what a file makes of itself: entries, sizes and
// ratio of an archive, depth of XML, repeated cells. What breaks a bound is a fault of
// package confined.
package document

import (
	"context"
	"strconv"
	"time"

	"klawbot/engine/internal/confined"
)

// Options say what to read of a document.
type Options struct {
	// Pages are the parts to read: "2-5,9"; lines 10 to 40 of the third are "3:10-40".
	// Empty: from the start.
	Pages string
	// Query, if not empty, returns only the passages that hold its words.
	Query string
	// MaxChars is how many characters of text to return; 0: 8,000. At least some lines
	// of a part are returned.
	MaxChars int
	// MaxPages bounds the parts that are looked at; 0: 500.
	MaxPages int
	// PDF is "pdftotext", "pdfium", "off" to leave PDFs alone, or "auto": pdftotext where it
	// is installed, else PDFium.
	PDF string
	// PDFium is the file of its library; empty: there is none.
	PDFium string
	// OCR is "off" to leave pictures and scanned pages alone; else tesseract reads them
	// where it is installed.
	OCR string
	// OCRLanguages are what tesseract looks for, as "rus+eng"; empty: English.
	OCRLanguages string
	// Limit is how long it may take; 0: a minute.
	Limit time.Duration
}

// Document is what was read.
type Document struct {
	// Text holds the parts that were read, each below a line that names it when there
	// are several.
	Text string
	// Pages is how many parts there are in all.
	Pages int
	// Kind is what the file is, whatever it is called: pdf, docx, xlsx, text …
	Kind string
	// Next is the first part that was not read; 0: the text reaches the end.
	Next int
	// Unit is what a part is: page, sheet, slide, chapter, part.
	Unit string
	// Shown are the parts in Text, as "2-5,9". More is what to ask for next, as Pages.
	Shown, More string
	// Scans are parts without text: pictures that no OCR has read.
	Scans []int
	// Recognized says that OCR has read some of the text.
	Recognized bool
	// Partial says that time was over before all was read that was asked for.
	Partial bool
	// Found is how many parts hold the words of Query.
	Found int
}

// PagesError is Options.Pages that cannot be read, or that names no part of the document.
type PagesError struct{ Why string }

func (e *PagesError) Error() string { return e.Why }

const (
	kindText = "document"
	kindOCR  = "ocr"
)

// Kinds are the functions of this package for the child.
func Kinds() map[string]confined.Kind {
	return map[string]confined.Kind{kindText: readText, kindOCR: readOCR, kindDraw: drawPages}
}

// Text reads a document. name and mime are what its sender called it. The error is a
// *confined.Fault, a *PagesError, or what is wrong here.
func Text(ctx context.Context, file, name, mime string, o Options) (Document, error) {
	if _, err := parsePages(o.Pages); err != nil {
		return Document{}, err
	}
	r, err := confined.Run(ctx, o.job(kindText, file, name, mime))
	if err != nil {
		return Document{}, err
	}
	return decode(r)
}

// OCR reads the text in a picture. Languages are as in Options. A picture without words
// is the fault NoWords; without tesseract it is NoReader.
func OCR(ctx context.Context, file string, languages string) (string, error) {
	r, err := confined.Run(ctx, confined.Job{Kind: kindOCR, Input: file, Options: map[string]string{optionLanguages: languages}})
	return r.Text, err
}

// The names of options and of what comes back.
const (
	optionName      = "name"
	optionMIME      = "mime"
	optionPages     = "pages"
	optionQuery     = "query"
	optionMaxChars  = "chars"
	optionMaxPages  = "maxPages"
	optionPDF       = "pdf"
	optionPDFium    = "pdfium"
	optionOCR       = "ocr"
	optionLanguages = "languages"

	metaKind       = "kind"
	metaUnit       = "unit"
	metaTotal      = "total"
	metaShown      = "shown"
	metaMore       = "more"
	metaNext       = "next"
	metaScans      = "scans"
	metaRecognized = "recognized"
	metaPartial    = "partial"
	metaFound      = "found"
	metaPages      = "pagesError"

	usualChars = 8000
	usualPages = 500
)

// job is a job for the child, which may read the library of PDFium.
func (o Options) job(kind, file, name, mime string) confined.Job {
	j := confined.Job{Kind: kind, Input: file, Limit: o.Limit, Options: map[string]string{
		optionName: name, optionMIME: mime, optionPages: o.Pages, optionQuery: o.Query, optionPDF: o.PDF, optionPDFium: o.PDFium, optionOCR: o.OCR,
		optionLanguages: o.OCRLanguages, optionMaxChars: strconv.Itoa(o.MaxChars), optionMaxPages: strconv.Itoa(o.MaxPages),
	}}
	if o.PDFium != "" {
		j.Read = []string{o.PDFium}
	}
	return j
}

func options(from map[string]string) Options {
	number := func(name string, usual int) int {
		if n, err := strconv.Atoi(from[name]); err == nil && n > 0 {
			return n
		}
		return usual
	}
	return Options{
		Pages: from[optionPages], Query: from[optionQuery], PDF: from[optionPDF], PDFium: from[optionPDFium], OCR: from[optionOCR], OCRLanguages: from[optionLanguages],
		MaxChars: number(optionMaxChars, usualChars), MaxPages: number(optionMaxPages, usualPages),
	}
}

// encode is the document as a child returns it.
func (d Document) encode() confined.Result {
	return confined.Result{Text: d.Text, Meta: map[string]string{
		metaKind: d.Kind, metaUnit: d.Unit, metaShown: d.Shown, metaMore: d.More, metaScans: Ranges(d.Scans),
		metaTotal: strconv.Itoa(d.Pages), metaNext: strconv.Itoa(d.Next), metaFound: strconv.Itoa(d.Found),
		metaRecognized: strconv.FormatBool(d.Recognized), metaPartial: strconv.FormatBool(d.Partial),
	}}
}

func decode(r confined.Result) (Document, error) {
	if why := r.Meta[metaPages]; why != "" {
		return Document{}, &PagesError{why}
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(r.Meta[name]) // else the child is broken: none
		return n
	}
	d := Document{
		Text: r.Text, Kind: r.Meta[metaKind], Unit: r.Meta[metaUnit], Shown: r.Meta[metaShown], More: r.Meta[metaMore],
		Pages: number(metaTotal), Next: number(metaNext), Found: number(metaFound),
		Recognized: r.Meta[metaRecognized] == "true", Partial: r.Meta[metaPartial] == "true",
	}
	scans, err := parsePages(r.Meta[metaScans])
	if err != nil {
		return d, nil // the child is broken: none
	}
	for _, s := range scans {
		for n := s.first; n <= min(s.last, s.first+maxListed); n++ {
			d.Scans = append(d.Scans, n)
		}
	}
	return d, nil
}

// maxListed bounds the numbers that a span of scans stands for.
const maxListed = 10_000
