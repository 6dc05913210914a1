package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// span is a range of lines, counted from 1. to is 0 for the rest of the file, set is
// false without a range.
type span struct {
	from, to int
	set      bool
}

// numbered returns the lines of the range as "N|line". It holds at most limit bytes
// in memory, however long the file and its lines are.
func (s span) numbered(ctx context.Context, r io.Reader, limit int64) (string, error) {
	lines := bufio.NewReaderSize(r, maxLine)
	var out strings.Builder
	begun := false // the number of the line is written
	for n := 1; s.to == 0 || n <= s.to; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		piece, err := lines.ReadSlice('\n')
		if len(piece) == 0 {
			if !errors.Is(err, io.EOF) {
				return "", err
			}
			break
		}
		line, ended := bytes.CutSuffix(piece, []byte("\n"))
		if ended {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if n >= s.from {
			if !begun && out.Len() > 0 {
				out.WriteByte('\n')
			}
			if !begun {
				fmt.Fprintf(&out, "%d|", n)
			}
			out.Write(line)
			begun = true
		}
		if int64(out.Len()) > limit {
			return fmt.Sprintf("%s\n... cut in line %d: the limit is %d bytes ...", strings.ToValidUTF8(out.String()[:limit], ""), n, limit), nil
		}
		if ended {
			n, begun = n+1, false
		}
	}
	return out.String(), nil
}
