package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// span is a range of lines, the first is 1. to is 0 for all that follow. set
// says that a range was asked for at all.
type span struct {
	from, to int
	set      bool
}

// numbered returns the lines of the range as "N|line", up to limit bytes.
func (s span) numbered(ctx context.Context, r io.Reader, limit int64) (string, error) {
	lines := bufio.NewReader(r)
	var out strings.Builder
	for n := 1; (s.to == 0 || n <= s.to) && int64(out.Len()) < limit; n++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if line == "" {
			break
		}
		if n >= s.from {
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			fmt.Fprintf(&out, "%d|%s", n, strings.TrimSuffix(line, "\n"))
		}
	}
	return out.String(), nil
}
