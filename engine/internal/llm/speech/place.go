package speech

import (
	"strings"
	"unicode/utf8"
)

// output is what was let out, as far as it decides about what follows.
type output struct {
	// line is the end of the last line, tail of all.
	line, tail string
	said       bool // something besides white space
	// after says that a marker or a block has just ended, block that it was a block.
	after, block bool
}

func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[len(text)-n]) {
		n--
	}
	return text[len(text)-n:]
}

// indented says that a line is code by its indentation.
func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// place is the position of a marker in the text.
type place int

const (
	atStart  place = iota // of a line, or behind another marker
	attached              // to the end of a sentence, or to a word
	behind                // a sentence and a space
	inside                // a sentence
	quoted                // as code, or as an example
)

const (
	sentenceEnds = ".!?…:;。！？»”)>*"
	quotes       = "\"'`“„«‘(/|"
)

func (o *output) place() place {
	before := strings.TrimRight(o.line, " \t")
	if before == "" {
		if indented(o.line) && o.said {
			return quoted
		}
		return atStart
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case o.after:
		return atStart
	case strings.HasSuffix(before, "<code>"), strings.HasSuffix(before, "<pre>"):
		return quoted
	case before == o.line && strings.ContainsRune(quotes, last):
		return quoted
	case before == o.line:
		return attached
	case strings.ContainsRune(sentenceEnds, last):
		return behind
	}
	return inside
}

// endsSentence reports whether the text so far ends with a sentence.
func (o *output) endsSentence() bool {
	last, _ := utf8.DecodeLastRuneInString(o.tail)
	return strings.ContainsRune(sentenceEnds, last)
}

// isExample says that the text before a new line announces what follows.
func (o *output) isExample() bool {
	return strings.TrimSpace(o.line) == "" && strings.HasSuffix(strings.TrimSpace(o.tail), ":")
}

// listsMarkers says that the lines before announce or name markers.
func (o *output) listsMarkers() bool {
	return !o.after && (o.isExample() || strings.TrimSpace(o.line) == "" && strings.HasSuffix(strings.TrimSpace(o.tail), "|>"))
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// isItem says that a line is one of a list, or explains something.
func isItem(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasSuffix(line, ":")
}
