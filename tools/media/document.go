package media

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"klawbot/tools"
)

type documentArgs struct {
	Path  string `json:"path"`
	Pages string `json:"pages,omitempty"`
	Query string `json:"query,omitempty"`
}

// maxDocument is how large a document may be, in bytes.
const maxDocument = 100 << 20

type documents struct{ config Config }

func (d documents) read(ctx context.Context, c tools.Call, a documentArgs) tools.Result {
	file, refused := d.config.OpenFile(a.Path)
	if refused != nil {
		return *refused
	}
	defer file.Close()
	copied, err := copyOf(c, file)
	if err != nil {
		return tools.Failed(err)
	}
	name := tools.FileName(a.Path)
	doc, err := d.config.Read(ctx, Request{File: copied, Name: name, Pages: a.Pages, Query: strings.TrimSpace(a.Query)})
	if err != nil {
		return tools.Failed(err)
	}
	r := tools.OK(shown(doc, strings.TrimSpace(a.Query)))
	r.Source = name
	return r
}

// copyOf copies a file into the private directory of the call, and returns where to.
func copyOf(c tools.Call, file fs.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > maxDocument {
		return "", &tools.Refusal{Kind: tools.Validation, Text: fmt.Sprintf("the file has %d bytes, and documents of up to %d can be read", info.Size(), maxDocument)}
	}
	dir, err := c.Scratch()
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "document")
	to, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, io.LimitReader(file, maxDocument))
	if closed := to.Close(); err == nil {
		err = closed
	}
	return name, err
}

// shown is a document as the model reads it: what is there, the text, what comes next.
func shown(d Document, query string) string {
	var b strings.Builder
	switch {
	case query != "" && d.Found == 0:
		return fmt.Sprintf("No %s has the words %q (%s).", d.Unit, query, count(d.Parts, d.Unit))
	case query != "":
		fmt.Fprintf(&b, "[%s; words found in %d of %s]\n", place(d), d.Found, count(d.Parts, d.Unit))
	default:
		fmt.Fprintf(&b, "[%s of %d]\n", place(d), d.Parts)
	}
	b.WriteString(strings.TrimRight(d.Text, "\n"))
	if strings.TrimSpace(d.Text) == "" {
		b.WriteString("(it has no text)")
	}
	if d.Recognized {
		b.WriteString("\n[read from pictures by OCR: letters and numbers may be wrong]")
	}
	if d.Scans != "" {
		fmt.Fprintf(&b, "\n[pictures without text: %s]", named(d.Unit, d.Scans))
	}
	if d.Partial {
		b.WriteString("\n[time was over; this is what was read so far]")
	}
	if d.More != "" {
		fmt.Fprintf(&b, "\nnext: pages %q", d.More)
	}
	return b.String()
}

// place names the parts that are shown.
func place(d Document) string { return named(d.Unit, d.Shown) }

func named(unit, parts string) string {
	if strings.ContainsAny(parts, "-,") {
		unit += "s"
	}
	return unit + " " + parts
}

func count(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
