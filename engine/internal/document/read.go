package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"klawbot/engine/internal/confined"
)

// part is a page, a sheet, a slide, a chapter, or a piece of a text.
type part struct {
	title string
	text  string
	// scan says that it is a picture that no OCR has read, recognized that one has.
	scan, recognized bool
}

// parts are those of a document.
type parts interface {
	// unit is what a part is called.
	unit() string
	count() int
	// part reads one; the first is 1.
	part(ctx context.Context, n int) (part, error)
}

// input is the file that a child reads.
type input struct {
	*os.File
	size       int64
	head       []byte // its first bytes
	name, mime string
	scratch    string
	options    Options
}

// headSize is how many bytes tell what a file is.
const headSize = 4096

// readText is the child for Text.
func readText(ctx context.Context, job confined.Job, scratch string) (confined.Result, error) {
	in, err := open(job, scratch)
	if err != nil {
		return confined.Result{}, err
	}
	defer in.Close()
	kind, all, err := in.parts(ctx)
	if err != nil {
		return confined.Result{}, err
	}
	d, err := choose(ctx, all, in.options)
	if wrong := (*PagesError)(nil); errors.As(err, &wrong) {
		return confined.Result{Meta: map[string]string{metaPages: wrong.Why}}, nil
	}
	if err != nil {
		return confined.Result{}, err
	}
	d.Kind = kind
	return d.encode(), nil
}

func open(job confined.Job, scratch string) (*input, error) {
	f, err := os.Open(job.Input)
	if err != nil {
		return nil, err
	}
	in := &input{File: f, name: job.Options[optionName], mime: job.Options[optionMIME], scratch: scratch, options: options(job.Options)}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err == nil {
		in.size = info.Size()
		in.head = make([]byte, min(headSize, in.size))
		_, err = io.ReadFull(f, in.head)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return in, nil
}

// choose reads the parts that the options want.
func choose(ctx context.Context, all parts, o Options) (Document, error) {
	spans, err := parsePages(o.Pages)
	if err != nil {
		return Document{}, err
	}
	d := Document{Pages: all.count(), Unit: all.unit()}
	if len(spans) == 0 {
		spans = []span{{first: 1, last: d.Pages}}
	} else if !named(spans, d.Pages) {
		return d, &PagesError{fmt.Sprintf("there is no such %s; it has %d", d.Unit, d.Pages)}
	}
	r := reading{Document: d, all: all, options: o, words: searched(o.Query)}
	for _, s := range spans {
		for n := s.first; n <= min(s.last, d.Pages); n++ {
			if more, err := r.add(ctx, n, s); err != nil || !more {
				return r.end(err)
			}
		}
	}
	return r.end(nil)
}

// named reports whether one of the spans begins in the document.
func named(spans []span, count int) bool {
	for _, s := range spans {
		if s.first <= count {
			return true
		}
	}
	return false
}

// reading collects parts.
type reading struct {
	Document
	all     parts
	options Options
	words   []string
	text    strings.Builder
	chars   int
	shown   []int
	looked  int
}

// add reads a part. more is false when no further one fits.
func (r *reading) add(ctx context.Context, n int, s span) (more bool, err error) {
	if r.looked >= r.options.MaxPages {
		r.Next, r.More = n, fmt.Sprintf("%d-", n)
		return false, nil
	}
	p, err := r.all.part(ctx, n)
	if err != nil {
		r.Next = n
		return false, err
	}
	r.looked++
	if p.scan {
		r.Scans = append(r.Scans, n)
	}
	r.Recognized = r.Recognized || p.recognized
	if len(r.words) > 0 {
		return r.search(n, p), nil
	}
	room := r.options.MaxChars - r.chars
	text, note, rest := p.text, "", 0
	if s.from > 0 || len(r.shown) == 0 && utf8.RuneCountInString(text) > room {
		text, note, rest = cutLines(text, max(s.from, 1), s.to, room)
	}
	if len(r.shown) > 0 && utf8.RuneCountInString(text) > room {
		r.Next, r.More = n, Ranges(following(n, min(s.last, r.Pages), len(r.shown)))
		return false, nil
	}
	r.write(n, p, text, note)
	if rest > 0 {
		r.Next, r.More = n, fmt.Sprintf("%d:%d-", n, rest)
		return false, nil
	}
	return true, nil
}

// following are the parts to read next: as many as were read now.
func following(n, last, most int) (all []int) {
	for ; n <= last && len(all) < most; n++ {
		all = append(all, n)
	}
	return all
}

// write appends a part below a line that names it.
func (r *reading) write(n int, p part, text, note string) {
	if r.text.Len() > 0 {
		r.text.WriteString("\n\n")
	}
	if r.Pages > 1 || p.title != "" || note != "" {
		fmt.Fprintf(&r.text, "[%s %d", r.Unit, n)
		if p.title != "" {
			fmt.Fprintf(&r.text, ": %s", oneLine(p.title, maxTitle))
		}
		if note != "" {
			fmt.Fprintf(&r.text, ", %s", note)
		}
		r.text.WriteString("]\n")
	}
	if p.scan && text == "" {
		text = "(a picture without text)"
	}
	r.text.WriteString(text)
	r.chars += utf8.RuneCountInString(text)
	r.shown = append(r.shown, n)
}

// end is the document with what was collected. Time that is over takes nothing away
// from it.
func (r *reading) end(err error) (Document, error) {
	if err != nil {
		if len(r.shown) == 0 || ctxError(err) == nil {
			return Document{}, err
		}
		r.Partial, r.More = true, strconv.Itoa(r.Next)+"-"
	}
	if len(r.Scans) > 0 && len(r.Scans) == r.looked && len(r.words) == 0 {
		return Document{}, &confined.Fault{Kind: confined.Scan, Detail: missingOCR(r.options)}
	}
	if r.Next == 0 && len(r.words) == 0 && len(r.shown) > 0 && r.shown[len(r.shown)-1] < r.Pages {
		r.Next = r.shown[len(r.shown)-1] + 1
		r.More = Ranges(following(r.Next, r.Pages, len(r.shown)))
	}
	r.Text, r.Shown = r.text.String(), Ranges(r.shown)
	return r.Document, nil
}

// ctxError is the error when it says that the time is over.
func ctxError(err error) error {
	var fault *confined.Fault
	if errors.As(err, &fault) && fault.Kind == confined.GaveUp || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// cutLines is the lines from, to (0: the last) of a text, as many as there is room for.
// rest is the first line that is left, 0 for none. A line that is longer than the room
// is cut.
func cutLines(text string, from, to, room int) (cut, note string, rest int) {
	lines := strings.Split(text, "\n")
	from = min(from, len(lines))
	if to == 0 || to > len(lines) {
		to = len(lines)
	}
	to = max(to, from)
	var b strings.Builder
	n := from - 1
	for used := 0; n < to; n++ {
		line := lines[n]
		length := utf8.RuneCountInString(line) + 1
		if used+length > room && n > from-1 {
			break
		}
		if length > room && room > 0 {
			line = string([]rune(line)[:room]) + "…"
		}
		if n > from-1 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		used += length
	}
	if n < to {
		rest = n + 1
	}
	return b.String(), fmt.Sprintf("lines %d-%d of %d", from, n, len(lines)), rest
}

// maxTitle is how long the title of a part may be, in characters.
const maxTitle = 80

// oneLine is a text on one line.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
