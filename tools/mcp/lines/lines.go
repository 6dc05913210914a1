// Package lines reads the messages of a program from its standard output, one a line.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines are the messages that a program writes, one a line. Whatever else it
// writes, such as a greeting or a log, is left out: there are many such programs.
type lines struct {
	r      *bufio.Reader
	close  func() error
	noise  func() // called once, when something is left out
	within bool   // in a message
}

// New returns the messages of a program; noise is called once when something is left out.
func New(r io.ReadCloser, noise func()) io.ReadCloser {
	return &lines{r: bufio.NewReader(r), close: r.Close, noise: noise}
}

// Close closes what the program writes to.
func (l *lines) Close() error { return l.close() }

// Read reads of one message.
func (l *lines) Read(p []byte) (int, error) {
	for !l.within {
		if err := l.begin(); err != nil {
			return 0, err
		}
	}
	if _, err := l.r.Peek(1); err != nil {
		return 0, err
	}
	there, err := l.r.Peek(min(len(p), l.r.Buffered()))
	if i := bytes.IndexByte(there, '\n'); i >= 0 {
		there, l.within = there[:i+1], false
	}
	n := copy(p, there)
	_, _ = l.r.Discard(n) // they are there
	return n, err
}

// begin looks at the start of a line, and skips a line that is not a message.
func (l *lines) begin() error {
	first, err := l.r.Peek(1)
	if err != nil {
		return err
	}
	switch first[0] {
	case ' ', '\t', '\r', '\n':
		_, err = l.r.Discard(1)
		return err
	case '{':
		l.within = true
		return nil
	case '[': // several messages, or a log like [info]
		if two, err := l.r.Peek(2); err != nil || two[1] == '{' {
			l.within = true
			return err
		}
	}
	if l.noise != nil {
		l.noise()
		l.noise = nil
	}
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		_, err = l.r.ReadSlice('\n')
	}
	return err
}
