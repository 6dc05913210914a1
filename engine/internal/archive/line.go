package archive

import (
	"bufio"
	"errors"
	"io"
)

// ErrLongLine is the error of ReadLine for a line that is too long.
var ErrLongLine = errors.New("the line is too long")

// ReadLine reads a line of at most so many bytes with its end, and reads past a longer
// one. n is how many bytes it took; at the end it is 0, with io.EOF.
func ReadLine(in *bufio.Reader, most int) (line []byte, n int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if n += len(part); n <= most {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case n > most && (err == nil || err == io.EOF):
			return nil, n, ErrLongLine
		case n > 0 && err == io.EOF:
			err = nil
		}
		return line, n, err
	}
}
