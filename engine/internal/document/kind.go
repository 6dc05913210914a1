package document

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"

	"klawbot/engine/internal/confined"
)

// parts finds out what the file is, by its contents before its name, and reads it.
func (in *input) parts(ctx context.Context) (kind string, all parts, err error) {
	sign := bytes.Index(in.head[:min(len(in.head), 1024)], []byte("%PDF-"))
	switch {
	case in.size == 0:
		return "", nil, &confined.Fault{Kind: confined.Broken, Detail: "it is empty"}
	case sign == 0, sign > 0 && in.extension() == "pdf": // a text may speak of PDFs
		all, err = in.pdf(ctx)
		return "pdf", all, err
	case bytes.HasPrefix(in.head, []byte("PK\x03\x04")), bytes.HasPrefix(in.head, []byte("PK\x05\x06")):
		return in.zipped(ctx)
	case bytes.HasPrefix(in.head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return in.compound()
	case isPicture(in.head):
		text, err := in.recognize(ctx, in.File.Name())
		l := pieces(text)
		for i := range l.all {
			l.all[i].recognized = true
		}
		return "picture", l, err
	}
	return in.plain(ctx)
}

// zipped reads what is packed as a zip archive.
func (in *input) zipped(ctx context.Context) (kind string, all parts, err error) {
	a, err := openArchive(in.File, in.size)
	if err != nil {
		return "", nil, err
	}
	mimetype := a.small("mimetype")
	switch {
	case a.has("word/document.xml"):
		kind = "docx"
		all, err = a.docx()
	case a.has("xl/workbook.xml"):
		kind = "xlsx"
		all, err = a.xlsx()
	case a.has("ppt/presentation.xml"):
		kind = "pptx"
		all, err = a.pptx()
	case strings.HasPrefix(mimetype, "application/epub+zip"), a.has("META-INF/container.xml"):
		kind = "epub"
		all, err = a.epub(ctx)
	case a.has("content.xml") && strings.HasPrefix(mimetype, "application/vnd.oasis.opendocument."):
		kind, all, err = a.openDocument(mimetype)
	default:
		kind = "zip"
		all, err = a.list()
	}
	return kind, all, err
}

// compound reads files of the format that Office had before 2007. Office still uses it
// for documents with a password, and only these are known.
func (in *input) compound() (string, parts, error) {
	text, err := io.ReadAll(io.LimitReader(in.File, maxCompound))
	if err != nil {
		return "", nil, err
	}
	if bytes.Contains(text, utf16("EncryptedPackage")) {
		return "", nil, &confined.Fault{Kind: confined.Locked}
	}
	return "", nil, &confined.Fault{Kind: confined.Broken, Detail: "an Office format from before 2007"}
}

// maxCompound is where the directory of such a file is looked for.
const maxCompound = 64 << 20

// utf16 is an ASCII text as these files have it.
func utf16(text string) []byte {
	var b []byte
	for i := range len(text) {
		b = append(b, text[i], 0)
	}
	return b
}

// extension is the end of the name, in lower case and without its dot.
func (in *input) extension() string {
	return strings.ToLower(strings.TrimPrefix(path.Ext(in.name), "."))
}
