package speech

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// halfAt reads the half of a surrogate pair that s begins with.
func halfAt(s string) (unit rune, ok bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// whole joins halves of characters and replaces those that stay alone.
func whole(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if high, ok := halfAt(s[i:]); ok {
			low, _ := halfAt(s[i+3:])
			r := utf16.DecodeRune(high, low)
			b.WriteRune(r) // U+FFFD for a half that stays alone
			if i += 3; r != utf8.RuneError {
				i += 3
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// unfinished is how many bytes at the end of s may be the beginning of a character.
func unfinished(s string) int {
	for n := min(len(s), 5); n > 0; n-- {
		end := s[len(s)-n:]
		if !utf8.RuneStart(end[0]) {
			continue
		}
		high, half := halfAt(end)
		switch {
		case half && high < 0xDC00 && (n == 3 || strings.HasPrefix("\xED", end[3:4])):
			return n
		case !half && n < 4 && !utf8.FullRuneInString(end):
			return n
		case n < 3 && end[0] == 0xED: // a half that is cut itself
			return n
		}
	}
	return 0
}
