package redact

import "io"

// Writer is a writer to w without secrets. Each piece that is written is looked at by
// itself, and as JSON when it is JSON.
type Writer struct {
	set *Set
	to  io.Writer
}

// Writer returns a writer to w without secrets.
func (s *Set) Writer(w io.Writer) *Writer { return &Writer{s, w} }

// Write writes p without secrets. It reports the whole of p as written or nothing.
func (w *Writer) Write(p []byte) (int, error) {
	if _, err := w.to.Write(w.set.JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap is what is written to, for what is no text.
func (w *Writer) Unwrap() io.Writer { return w.to }
