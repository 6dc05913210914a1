package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"klawbot/tools/terminal"
)

// defaultMaxOutput is how many bytes of a stream are kept.
const defaultMaxOutput = 1 << 20

// Output is what a command has written to one stream.
type Output struct {
	// Head is the beginning of the output, all of it when nothing was omitted, and
	// Tail its end after a gap.
	Head, Tail []byte
	// Total is how many bytes were written in all, Lines how many line ends.
	Total, Lines int64
}

// Omitted is how many bytes were omitted between Head and Tail.
func (o Output) Omitted() int64 { return o.Total - int64(len(o.Head)) - int64(len(o.Tail)) }

// String is the output as it was written, without a sign of the gap.
func (o Output) String() string { return string(o.Head) + string(o.Tail) }

// Text is what a terminal shows of the output, with a line in the place of the gap.
func (o Output) Text() string {
	n := o.Omitted()
	if n == 0 {
		return terminal.Text(o.String())
	}
	tail := o.Tail
	// It may begin within a character or a control sequence.
	if i := bytes.IndexAny(tail[:min(len(tail), maxTorn)], "\n\r\x1b"); i >= 0 {
		tail = tail[i:]
	}
	lines := o.Lines - int64(bytes.Count(o.Head, newline)) - int64(bytes.Count(tail, newline))
	return fmt.Sprintf("%s\n... %d lines (%d bytes) omitted here ...\n%s",
		strings.TrimSuffix(terminal.Text(string(o.Head)), "\n"), lines, o.Total-int64(len(o.Head)+len(tail)), strings.TrimPrefix(terminal.Text(string(tail)), "\n"))
}

// maxTorn is how far the first whole line of a tail is looked for, in bytes.
const maxTorn = 256

var newline = []byte{'\n'}

// buffer keeps the beginning and the end of a stream.
type buffer struct {
	mu       sync.Mutex
	headMax  int
	tailMax  int
	head     []byte
	tail     []byte // a ring once it is full
	tailNext int    // where the oldest byte of a full ring is
	total    int64
	lines    int64
}

func newBuffer(c Command) *buffer {
	limit := c.MaxOutput
	if limit <= 0 {
		limit = defaultMaxOutput
	}
	if c.HeadOnly {
		return &buffer{headMax: limit}
	}
	return &buffer{headMax: limit - limit/2, tailMax: limit / 2}
}

// Write takes all of p and never fails.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	b.total += int64(n)
	b.lines += int64(bytes.Count(p, newline))
	room := min(b.headMax-len(b.head), len(p))
	b.head = append(b.head, p[:room]...)
	b.writeTail(p[room:])
	return n, nil
}

func (b *buffer) writeTail(p []byte) {
	if over := len(p) - b.tailMax; over > 0 {
		p = p[over:]
	}
	grow := min(b.tailMax-len(b.tail), len(p))
	b.tail = append(b.tail, p[:grow]...)
	for p = p[grow:]; len(p) > 0; {
		n := copy(b.tail[b.tailNext:], p)
		b.tailNext = (b.tailNext + n) % b.tailMax
		p = p[n:]
	}
}

// output is what was written so far.
func (b *buffer) output() Output {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Output{
		Head:  bytes.Clone(b.head),
		Tail:  append(bytes.Clone(b.tail[b.tailNext:]), b.tail[:b.tailNext]...),
		Total: b.total, Lines: b.lines,
	}
}
