package command

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Marks in the text of a word.
const (
	// unknown marks what only a shell knows.
	unknown = "\uFFFD"
	// home marks the home directory.
	home = "~"
	// quotedTilde is a ~ that is only a character.
	quotedTilde = "./~"
)

// word is the text of a word as far as it is written out, with its patterns of
// file names as they are.
func word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for i, part := range w.Parts {
		t := wordPart(part)
		if _, bare := part.(*syntax.Lit); i == 0 && !bare && strings.HasPrefix(t, home) && !isHome(part) {
			t = quotedTilde + t[1:]
		}
		b.WriteString(t)
	}
	return b.String()
}

func wordPart(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.Lit:
		return unescape(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar {
			return ansi(p.Value)
		}
		return p.Value
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, inner := range p.Parts {
			b.WriteString(wordPart(inner))
		}
		return b.String()
	case *syntax.ParamExp:
		if isHome(p) {
			return home
		}
	case *syntax.ExtGlob:
		return "*"
	}
	return unknown
}

// isHome reports whether a part is the variable HOME and nothing else.
func isHome(part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.ParamExp:
		return p.Param != nil && p.Param.Value == "HOME" && !p.Length
	case *syntax.DblQuoted:
		return len(p.Parts) > 0 && isHome(p.Parts[0])
	}
	return false
}

// unescape takes the backslashes of an unquoted text away.
func unescape(text string) string {
	var b strings.Builder
	escaped := false
	for _, r := range text {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case escaped && r == '\n':
		default:
			b.WriteRune(r)
		}
		escaped = false
	}
	return b.String()
}

// words are the texts of several words.
func words(all []*syntax.Word) []string {
	var list []string
	for _, w := range all {
		list = append(list, word(w))
	}
	return list
}

// ansi is the text of $'…', as far as its escapes are characters.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case c == 'x':
			n, width := number(text[i+1:], 16, 2)
			b.WriteByte(byte(n))
			i += width
		case c >= '0' && c <= '7':
			n, width := number(text[i:], 8, 3)
			b.WriteByte(byte(n))
			i += width - 1
		case c == 'u' || c == 'U':
			n, width := number(text[i+1:], 16, map[byte]int{'u': 4, 'U': 8}[c])
			b.WriteRune(rune(n))
			i += width
		case c == 'n' || c == 't':
			b.WriteByte(map[byte]byte{'n': '\n', 't': '\t'}[c])
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToValidUTF8(b.String(), unknown)
}

// number reads up to most digits of a base.
func number(text string, radix, most int) (n, width int) {
	for width = min(most, len(text)); width > 0; width-- {
		if v, err := strconv.ParseUint(text[:width], radix, 31); err == nil {
			return int(v), width
		}
	}
	return 0, 0
}
