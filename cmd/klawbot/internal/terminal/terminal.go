// Package terminal is how the commands speak with a person: it makes foreign texts
// harmless, asks questions, holds a conversation and shows progress.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"klawbot/internal/redact"
)

// Unwrap is a stream as the process has it, for what is no text of ours: an archive, a
// program that takes the terminal over.
func Unwrap(w io.Writer) io.Writer {
	if masked, ok := w.(*redact.Writer); ok {
		return masked.Unwrap()
	}
	return w
}

// Is says that a person sits at the other end of a stream.
func Is(stream any) bool {
	if w, ok := stream.(io.Writer); ok {
		stream = Unwrap(w)
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func width(out io.Writer) int {
	if f, ok := Unwrap(out).(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// Fold breaks lines between words where a terminal would break them anywhere. What
// follows a break is indented. Without a terminal the text stays as it is.
func Fold(out io.Writer, text string, indent int) string {
	if !Is(out) {
		return text
	}
	return foldTo(text, width(out), indent)
}

func foldTo(text string, columns, indent int) string {
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rest, begins := []rune(line), 0
		for len(rest) > columns {
			at := columns
			for at > begins && rest[at] != ' ' {
				at--
			}
			if at <= begins { // a word that fits into no line
				for at = columns; at < len(rest) && rest[at] != ' '; at++ {
					continue
				}
			}
			if strings.TrimSpace(string(rest[at:])) == "" {
				break
			}
			rows = append(rows, strings.TrimRight(string(rest[:at]), " "))
			rest, begins = []rune(strings.Repeat(" ", indent)+strings.TrimLeft(string(rest[at:]), " ")), indent
		}
		rows = append(rows, string(rest))
	}
	return strings.Join(rows, "\n")
}

// Visible takes out of foreign text what could command the terminal or show its
// words in another order.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// lineLength bounds what a list shows of a call.
const lineLength = 100

// OneLine is text on one line of a list, cut.
func OneLine(text string) string {
	return Clip(strings.NewReplacer("\n", " ", "\t", " ").Replace(Visible(text)), lineLength)
}

// Clip is a text, cut when it is longer than so many characters.
func Clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Joined are the texts that are not empty, with colons between them.
func Joined(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ": ")
}

// Plural is a number with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Megabytes is a size for people, in kilobytes where it is no tenth of a megabyte.
func Megabytes(n int64) string {
	if n < 1e5 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

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
