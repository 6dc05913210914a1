// Package clip measures and shortens texts without splitting a UTF-8 character. A
// character here is a code point, whatever its width.
package clip

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Runes is the text, or its first n characters and "…".
func Runes(text string, n int) string {
	if head := Head(text, n); len(head) < len(text) {
		return head + "…"
	}
	return text
}

// Within is the text when it has at most n characters, else its first n-1 and "…".
func Within(text string, n int) string {
	if len(Head(text, n)) == len(text) {
		return text
	}
	return Runes(text, n-1)
}

// Head is the first n characters of the text, without a mark.
func Head(text string, n int) string {
	for i := range text {
		if n <= 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// Tail is the last n characters of the text, without a mark.
func Tail(text string, n int) string {
	start := len(text)
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	return text[start:]
}

// Bytes is the beginning of the text that has at most n bytes, without a mark.
func Bytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for end := n; end > n-utf8.UTFMax && end >= 0; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:n] // no UTF-8
}

// Line makes an untrusted text safe for a log or a terminal: one line, clipped as by
// Runes, no control characters.
func Line(text string, n int) string {
	text = Runes(strings.Join(strings.Fields(text), " "), n)
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// UTF16Len counts the UTF-16 units of a text, as Telegram does.
func UTF16Len(text string) int {
	n := 0
	for _, r := range text {
		if n++; r >= 0x10000 && r != utf8.RuneError {
			n++
		}
	}
	return n
}

// Nobody is the Name of a user without one.
const Nobody = "somebody"

// nameLength bounds the names of users, in characters.
const nameLength = 64

// Name makes a user's name fit for one line: no control or format characters, no
// brackets, bounded length.
func Name(name string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) || r == '[' || r == ']' {
			return -1
		}
		return r
	}, name)
	if clean = Runes(clean, nameLength); strings.TrimSpace(clean) == "" {
		return Nobody
	}
	return clean
}
