package memory

import (
	"klawbot/engine/internal/terms"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Split cuts a text into pieces of about size tokens that overlap by about
// overlap. It cuts between paragraphs, list items and lines, and at the end of a
// sentence where one paragraph is too long; never within a heading, a list item
// or a fenced block, unless that alone is longer than two pieces. A heading stays
// with what follows it. An empty text has no pieces.
func Split(text string, size, overlap int) []string {
	size, overlap = max(size, 1), max(0, min(overlap, size-1))
	var pieces []string
	var now []block // old of them are in a piece already
	old, length := 0, 0
	flush := func(end int) {
		if piece := joined(now[:end]); piece != "" {
			pieces = append(pieces, piece)
		}
		last := tail(now[:end], overlap)
		old, now = len(last), append(last, now[end:]...)
		length = 0
		for _, b := range now {
			length += b.tokens
		}
	}
	for _, b := range blocks(text, size) {
		if len(now) > old && length+b.tokens > size {
			end := len(now)
			for end > old+1 && now[end-1].heading {
				end-- // it stays with what follows
			}
			flush(end)
		}
		now, length = append(now, b), length+b.tokens
	}
	if len(now) > old {
		flush(len(now))
	}
	return pieces
}

// block is a part of a text that is not cut.
type block struct {
	text    string
	tokens  int
	heading bool
}

// tail are the last blocks that together have at most overlap tokens.
func tail(all []block, overlap int) []block {
	from := len(all)
	for from > 0 && overlap >= all[from-1].tokens {
		from--
		overlap -= all[from].tokens
	}
	return slices.Clone(all[from:])
}

func joined(all []block) string {
	var b strings.Builder
	for _, part := range all {
		b.WriteString(part.text)
	}
	return strings.TrimSpace(b.String())
}

var (
	headingLine = regexp.MustCompile(`^ {0,3}#{1,6}(\s|$)`)
	listLine    = regexp.MustCompile(`^\s*([-*+]|\d{1,9}[.)])\s`)
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// blocks cuts a text at the places where it may be cut.
func blocks(text string, size int) []block {
	var all []block
	var now strings.Builder
	fence := ""
	flush := func(heading bool) {
		all = append(all, cut(now.String(), size, heading)...)
		now.Reset()
	}
	for line := range strings.Lines(text) {
		mark := fenceLine.FindStringSubmatch(line)
		switch {
		case fence != "":
			now.WriteString(line)
			if mark != nil && strings.HasPrefix(mark[1], fence) {
				fence = ""
				flush(false)
			}
			continue
		case mark != nil:
			flush(false)
			fence = mark[1]
		case headingLine.MatchString(line):
			flush(false)
			now.WriteString(line)
			flush(true)
			continue
		case strings.TrimSpace(line) == "":
			now.WriteString(line)
			flush(false)
			continue
		case listLine.MatchString(line):
			flush(false)
		}
		now.WriteString(line)
	}
	flush(false)
	return all
}

// cut makes blocks of a text, more than one only where it is too long.
func cut(text string, size int, heading bool) []block {
	if text == "" {
		return nil
	}
	n := Tokens(text)
	if n <= size {
		return []block{{text, n, heading}}
	}
	var all []block
	for text != "" {
		at := sentenceEnd(text, size)
		all = append(all, block{text: text[:at], tokens: Tokens(text[:at])})
		text = text[at:]
	}
	return all
}

// sentenceEnd is where a long text is cut: behind the last sentence that fits
// into size tokens, else behind the last word, else where it is full.
func sentenceEnd(text string, size int) int {
	full := prefix(text, size)
	if full == len(text) {
		return full
	}
	word := 0
	var before rune
	sentence := 0
	for i, r := range text[:full] {
		if unicode.IsSpace(r) {
			word = i + utf8.RuneLen(r)
			if strings.ContainsRune(".!?…:;", before) || r == '\n' {
				sentence = word
			}
		} else if strings.ContainsRune("。！？", r) {
			sentence = i + utf8.RuneLen(r)
		}
		before = r
	}
	switch {
	case sentence > full/4:
		return sentence
	case word > 0:
		return word
	}
	return full
}

// prefix is how much of a text has size tokens, in bytes, at least one rune.
func prefix(text string, size int) int {
	quarters := 0
	for i, r := range text {
		if quarters += weight(r); quarters > 4*size && i > 0 {
			return i
		}
	}
	return len(text)
}

// Tokens estimates how many tokens a text is for a sentence model: a quarter for
// a Latin letter, half of one for a letter of another alphabet, a whole one for a
// Chinese character.
func Tokens(text string) int {
	quarters := 0
	for _, r := range text {
		quarters += weight(r)
	}
	return (quarters + 3) / 4
}

// weight is what a rune costs, in quarters of a token.
func weight(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case terms.Dense(r):
		return 4
	}
	return 2
}
