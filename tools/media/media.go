// Package media holds the tools for documents that are no plain text, and for pictures.
// What reads them is the engine's: a file is handed over as a copy, so that it
// cannot be swapped while it is read.
package media

import (
	"context"
	"embed"
	"io/fs"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Document is what was read of one.
type Document struct {
	Text string
	// Kind is what the file is, Unit what its parts are: page, sheet, slide, chapter.
	Kind, Unit string
	// Parts is how many there are, Shown and Scans name some ("2-5,9"); Scans are those
	// that are pictures. More is what to ask for next, empty at the end.
	Parts              int
	Shown, More, Scans string
	// Recognized says that OCR has read some of it, Partial that time was over.
	Recognized, Partial bool
	// Found is how many parts hold the words that were looked for.
	Found int
}

// Request is a file to read. Name is what it is called.
type Request struct{ File, Name, Pages, Query string }

// Config is what New needs.
type Config struct {
	// OpenFile opens a file of the workspace, or says why not. Required.
	OpenFile func(path string) (file fs.File, refused *tools.Result)
	// Read reads a document; its error is for the model. Required.
	Read func(ctx context.Context, r Request) (Document, error)
	// Look looks at a picture for a call. Required.
	Look func(ctx context.Context, c tools.Call, p Picture) tools.Result
}

// Picture is what image_look is asked about.
type Picture struct {
	// File is a copy that only this call has, Path the one in the workspace.
	File, Path string
	Question   string
}

// readTime is how long a document may take. Its reader gives up a little earlier.
const readTime = 70 * time.Second

// lookTime is how long looking at a picture may take.
const lookTime = time.Minute

// New returns the tools document_read and image_look.
func New(c Config) []tools.Tool {
	d := documents{c}
	look := tools.New(tools.Spec{
		Name: "image_look", Group: tools.GroupSystem, Timeout: lookTime, Outside: true,
		Aliases:   []tools.Alias{{Name: "look_at_image"}, {Name: "view_image"}},
		Arguments: map[string]string{"file": "path", "image": "path", "prompt": "question"},
	}, texts, c.look)
	return []tools.Tool{look, tools.New(tools.Spec{
		Name: "document_read", Group: tools.GroupFiles, Timeout: readTime, Outside: true,
		Aliases:   []tools.Alias{{Name: "read_document"}, {Name: "read_pdf"}},
		Arguments: map[string]string{"page": "pages", "file": "path", "search": "query"},
	}, texts, d.read)}
}
