// Package terminal is how the commands speak with a person: it makes foreign texts
// harmless, asks questions, holds a conversation and shows progress.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
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

// width is how many columns a terminal has.
func width(out io.Writer) int {
	if f, ok := Unwrap(out).(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
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
	runes := []rune(Visible(text))
	for i, r := range runes {
		if r == '\n' || r == '\t' {
			runes[i] = ' '
		}
	}
	if len(runes) > lineLength {
		runes = append(runes[:lineLength], '…')
	}
	return string(runes)
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

// Megabytes is a size for people.
func Megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
