package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// bar shows how files come: in one line that changes on a terminal, elsewhere in
// a line for each file.
type bar struct {
	out  io.Writer
	live bool

	name        string
	done, total int64
	drawn       time.Time
}

const (
	barWidth    = 24
	barInterval = 100 * time.Millisecond
)

// NewBar draws to out.
func NewBar(out io.Writer) *bar { return &bar{out: out, live: Is(out)} }

// Show is told that some of a file came.
func (b *bar) Show(name string, done, total int64) {
	if name != b.name {
		b.End()
		b.name, b.drawn = name, time.Time{}
	}
	b.done, b.total = done, total
	if b.live && time.Since(b.drawn) >= barInterval {
		b.drawn = time.Now()
		b.draw("")
	}
}

// End leaves the last line of a file.
func (b *bar) End() {
	switch {
	case b.name == "":
	case b.live:
		b.draw("\n")
	default:
		fmt.Fprintf(b.out, "%s: %s\n", b.name, Megabytes(b.done))
	}
	b.name = ""
}

// draw writes over the line.
func (b *bar) draw(end string) {
	amount, full := Megabytes(b.done), 0
	if b.total > 0 {
		amount += " of " + Megabytes(b.total)
		full = int(min(b.done, b.total) * barWidth / b.total)
	}
	line := fmt.Sprintf("%-30s [%s%s] %s", b.name, strings.Repeat("#", full), strings.Repeat("·", barWidth-full), amount)
	if columns := width(b.out); len([]rune(line)) >= columns { // a line that wraps cannot be written over
		line = string([]rune(line)[:max(columns-1, 0)])
	}
	fmt.Fprintf(b.out, "\r%s\x1b[K%s", line, end)
}

// counter shows how many were done: in one line that changes on a terminal,
// elsewhere in one line at the end.
type counter struct {
	out   io.Writer
	live  bool
	what  string
	done  int
	drawn time.Time
}

// NewCounter shows to out how many of something were done.
func NewCounter(out io.Writer, what string) *counter {
	return &counter{out: out, live: Is(out), what: what}
}

// Show is told how many were done.
func (c *counter) Show(done int) {
	if c.done = done; c.live && time.Since(c.drawn) >= barInterval {
		c.drawn = time.Now()
		fmt.Fprintf(c.out, "\r%d %s", c.done, c.what)
	}
}

// End leaves the last number.
func (c *counter) End() {
	switch {
	case c.done == 0:
	case c.live:
		fmt.Fprintf(c.out, "\r%d %s\n", c.done, c.what)
	default:
		fmt.Fprintf(c.out, "%d %s\n", c.done, c.what)
	}
}
