package sandbox

import (
	"bytes"
	"fmt"
	"sync"
)

// defaultMaxOutput is how many bytes of a stream are kept.
const defaultMaxOutput = 1 << 20

// Output is what a command has written to one stream.
type Output struct {
	// Head is the begin of the output, all of it when nothing was left out,
	// and Tail what follows a gap.
	Head, Tail []byte
	// Total is how many bytes were written in all.
	Total int64
}

// Omitted is how many bytes were left out between Head and Tail.
func (o Output) Omitted() int64 { return o.Total - int64(len(o.Head)) - int64(len(o.Tail)) }

// String is the output as text, with a line that tells of the gap.
func (o Output) String() string {
	n := o.Omitted()
	if n == 0 {
		return string(o.Head) + string(o.Tail)
	}
	return fmt.Sprintf("%s\n... %d bytes left out ...\n%s", o.Head, n, o.Tail)
}

// buffer keeps the begin and the end of a stream.
type buffer struct {
	mu       sync.Mutex
	headMax  int
	tailMax  int
	head     []byte
	tail     []byte // a ring once it is full
	tailNext int    // where the oldest byte of a full ring is
	total    int64
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
		Total: b.total,
	}
}
