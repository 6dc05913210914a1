package gateway

import (
	"io"
	"os"
	"strings"
)

// Document is a file that a Part carries: a short text, which is stored with
// the Part, or a file that waits elsewhere until it is sent.
type Document struct {
	Name string `json:"name"`
	// MIME is its type ("image/png"), empty for Content.
	MIME string `json:"mime,omitempty"`
	// Content is the whole of a short text, at most MaxDocument bytes.
	Content string `json:"content,omitempty"`
	// Sum is the SHA-256, in hex, of a file that waits, and Size its length in
	// bytes. Without a Sum the document is its Content.
	Sum  string `json:"sum,omitempty"`
	Size int64  `json:"size,omitempty"`
	// As says how it is shown: "" as the messenger does by itself, AsVoice or AsFile.
	// Seconds is how long a voice message is. With AsVoice, Content is a text that is
	// spoken when it is sent; Sum is the recording, once there is one.
	As      string `json:"as,omitempty"`
	Seconds int    `json:"seconds,omitempty"`
	// Path is where that file lies. It is looked up for each attempt to send:
	// the data directory may have moved.
	Path string `json:"-"`
}

// The values of Document.As.
const (
	AsVoice = "voice"
	AsFile  = "file"
)

// Spoken reports whether the document is a text that is spoken.
func (d *Document) Spoken() bool { return d.As == AsVoice && d.Content != "" }

// MaxAlbum is how many files an album holds.
const MaxAlbum = 10

// Files are the files that a part carries.
func (p Part) Files() []*Document {
	if p.Document != nil {
		return []*Document{p.Document}
	}
	return p.Album
}

// MaxDocument is the longest Document.Content, in bytes.
const MaxDocument = 1 << 20

// Body is the open content of a Document.
type Body interface {
	io.ReaderAt
	io.Closer
}

// Open opens the content and tells its length in bytes.
func (d *Document) Open() (Body, int64, error) {
	if d.Sum == "" {
		return struct {
			*strings.Reader
			io.Closer
		}{strings.NewReader(d.Content), io.NopCloser(nil)}, int64(len(d.Content)), nil
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
