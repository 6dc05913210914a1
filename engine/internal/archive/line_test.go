package archive_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"klawbot/engine/internal/archive"
)

// TestReadLineSkipsLongLines: a line that is too long does not affect the others.
func TestReadLineSkipsLongLines(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("one\n\n"+strings.Repeat("x", 100)+"\ntwo\n"+strings.Repeat("y", 50)), 16)
	long := archive.ErrLongLine
	for _, want := range []struct {
		line string
		n    int
		err  error
	}{{"one\n", 4, nil}, {"\n", 1, nil}, {"", 101, long}, {"two\n", 4, nil}, {"", 50, long}, {"", 0, io.EOF}} {
		line, n, err := archive.ReadLine(in, 40)
		if string(line) != want.line || n != want.n || !errors.Is(err, want.err) {
			t.Errorf("%q, %d, %v, want %+v", line, n, err, want)
		}
	}
}
