package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"sync"

	"golang.org/x/text/unicode/norm"

	"klawbot/tools/file/text"
)

// The limits of reading files line by line.
const (
	maxLine  = 64 << 10 // bytes of a line that are compared
	maxShown = 300      // bytes of a hit that are shown
	sniffed  = 8000     // bytes in which a NUL marks a file as binary
	readers  = 4        // files read at one time
	batch    = 256      // files handed out together
	lookUp   = 256      // lines between two looks at the context
)

// grep collects the lines that match, in the order of the files.
func (s *search) grep(ctx context.Context, p place, isDir bool) error {
	if !isDir {
		found, err := s.grepFile(ctx, p, newLineReader())
		s.hits = found
		return err
	}
	var files []place
	err := s.walk(ctx, p, func(name string, e fs.DirEntry) error {
		if !e.Type().IsRegular() {
			return nil
		}
		files = append(files, place{root: p.root, name: path.Join(p.name, name), shown: path.Join(p.shown, name)})
		if len(files) < batch {
			return nil
		}
		s.grepAll(ctx, files)
		files = files[:0]
		return s.enough()
	})
	if err == nil {
		s.grepAll(ctx, files)
		err = ctx.Err()
	}
	return err
}

// grepAll reads several files at one time. A file that cannot be read has no hits
// and no error: the call did not name it.
func (s *search) grepAll(ctx context.Context, files []place) {
	found := make([][]string, len(files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(readers, runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			lines := newLineReader()
			for i := range next {
				if ctx.Err() == nil {
					found[i], _ = s.grepFile(ctx, files[i], lines)
				}
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, f := range found {
		s.hits = append(s.hits, f...)
	}
}

// newLineReader returns a reader for many files, one after the other.
func newLineReader() *bufio.Reader { return bufio.NewReaderSize(nil, maxLine) }

// grepFile returns the lines of a file that match, as "path:line: text".
func (s *search) grepFile(ctx context.Context, p place, lines *bufio.Reader) ([]string, error) {
	file, _, err := s.files.openFile(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines.Reset(file)
	if decoded := text.NewReader(lines); decoded != lines { // UTF-16
		lines = bufio.NewReaderSize(decoded, maxLine)
	}
	if start, _ := lines.Peek(sniffed); bytes.IndexByte(start, 0) >= 0 {
		return nil, nil
	}
	var found []string
	for n := 1; len(found) <= maxHits && !s.text.Spent(); n++ {
		if n%lookUp == 0 && ctx.Err() != nil {
			return found, ctx.Err()
		}
		line, err := readLine(lines)
		if err != nil {
			return found, ignoreEnd(err)
		}
		if at, ok := s.text.Find(norm.NFC.Bytes(line)); ok {
			found = append(found, fmt.Sprintf("%s:%d: %s", p.shown, n, part(line, min(at, len(line)))))
		}
	}
	return found, nil
}

// readLine returns the next line without its end, cut to maxLine, until the next call.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// part is a line, or what is around a place in a long one.
func part(line []byte, at int) string {
	if len(line) <= maxShown {
		return string(line)
	}
	from := max(0, min(at-maxShown/4, len(line)-maxShown))
	text := string(bytes.ToValidUTF8(line[from:from+maxShown], nil))
	if from > 0 {
		text = "…" + text
	}
	if from+maxShown < len(line) {
		text += "…"
	}
	return text
}
