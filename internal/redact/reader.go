package redact

import (
	"bytes"
	"io"
	"slices"
)

// pieceBytes is how much text Reader looks at at once.
const pieceBytes = 1 << 20

// Reader returns a reader of the same text without secrets. It looks at the
// text in pieces of about a megabyte that end with a line where there is one: a
// secret that goes on beyond the end of a piece is not seen.
func (s *Set) Reader(r io.Reader) io.Reader { return &reader{set: s, from: r} }

type reader struct {
	set  *Set
	from io.Reader
	err  error  // of from
	raw  []byte // read and not looked at
	done []byte // looked at and not given out
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.done) == 0 {
		if r.err != nil && len(r.raw) == 0 {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.done)
	r.done = r.done[n:]
	return n, nil
}

// fill reads a piece and looks at it, as far as its last whole line.
func (r *reader) fill() {
	for r.err == nil && len(r.raw) < pieceBytes {
		kept := len(r.raw)
		r.raw = slices.Grow(r.raw, pieceBytes)
		var n int
		n, r.err = r.from.Read(r.raw[kept : kept+pieceBytes])
		r.raw = r.raw[:kept+n]
	}
	end := len(r.raw)
	if r.err == nil {
		if i := bytes.LastIndexByte(r.raw, '\n'); i >= 0 {
			end = i + 1
		}
	}
	r.done = []byte(r.set.Text(string(r.raw[:end])))
	r.raw = append(r.raw[:0], r.raw[end:]...)
}
