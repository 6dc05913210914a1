package llm

import (
	"unicode"
	"unicode/utf8"
)

// What surrounds the words of a request, in tokens.
const (
	perMessage = 4
	perCall    = 8
	perTool    = 10
)

// EstimateRequest is about how many tokens a request takes, its tools and the
// arguments of its calls included; the answer is not.
func EstimateRequest(r Request) int {
	n := perMessage + Estimate(r.System)
	for _, m := range r.Messages {
		n += EstimateMessage(m)
	}
	for _, t := range r.Tools {
		n += EstimateTool(t)
	}
	return n
}

// EstimateMessage is about how many tokens a message takes.
func EstimateMessage(m Message) int {
	n := perMessage
	for _, b := range m.Blocks {
		n += Estimate(b.Text)
		switch {
		case b.Image != nil:
			n += b.Image.tokens()
		case b.Thinking != nil:
			n += Estimate(b.Thinking.Text)
		case b.Call != nil:
			n += perCall + Estimate(b.Call.Name) + Estimate(b.Call.Arguments)
		case b.Result != nil:
			n += perCall + Estimate(b.Result.Text)
			for _, i := range b.Result.Images {
				n += i.tokens()
			}
		}
	}
	return n
}

// EstimateTool is about how many tokens the description of a tool takes.
func EstimateTool(t Tool) int {
	return perTool + Estimate(t.Name) + Estimate(t.Description) + Estimate(string(t.Parameters))
}

// Estimate is about how many tokens a text takes. It counts runs of runes of
// one class by how modern tokenizers cut them, rather a little too high than
// too low, and needs no vocabulary.
func Estimate(text string) int {
	total := 0
	for i := 0; i < len(text); {
		if n := opaqueRun(text[i:]); n > 0 {
			total += (n*100 + 144) / 145
			i += n
			continue
		}
		class, runes, size := nextRun(text[i:])
		total += class.tokens(runes)
		i += size
	}
	return total
}

// class is a kind of runes that a tokenizer treats alike.
type class int

const (
	space    class = iota
	newline        // line ends with the indentation around them
	latin          // letters of the Latin alphabet
	cyrillic       // and Greek
	letter         // letters of other alphabets
	ideogram       // Chinese, Japanese, Korean
	digit
	mark // ASCII punctuation
	sign // everything else: emoji, mathematics, control characters
)

// tokens is what a run of so many runes takes.
func (c class) tokens(runes int) int {
	switch c {
	case space: // one space goes with the word after it
		return min(1, runes/2) + runes/64
	case newline:
		return 1 + runes/64
	case latin:
		return 1 + (runes-1)/7
	case cyrillic:
		return 1 + (runes-1)/4
	case letter:
		return 1 + runes/2
	case digit:
		return (runes + 2) / 3
	case mark:
		return (runes + 1) / 2
	case sign:
		return 2 * runes
	default:
		return runes
	}
}

func classOf(r rune) class {
	switch {
	case r == ' ' || r == '\t':
		return space
	case r == '\n' || r == '\r':
		return newline
	case r < utf8.RuneSelf:
		return classASCII(byte(r))
	case unicode.In(r, unicode.Cyrillic, unicode.Greek):
		return cyrillic
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return ideogram
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsPunct(r):
		return mark
	}
	return sign
}

func classASCII(c byte) class {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return latin
	case c >= '0' && c <= '9':
		return digit
	case c > ' ' && c < 0x7F:
		return mark
	}
	return sign
}

// nextRun measures the run of one class that s begins with.
func nextRun(s string) (c class, runes, size int) {
	for size < len(s) {
		r, n := rune(s[size]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[size:])
		}
		k := classOf(r)
		switch {
		case runes == 0:
			c = k
		case k == newline && c == space:
			c = newline
		case k == space && c == newline:
		case k != c:
			return c, runes, size
		}
		runes++
		size += n
	}
	return c, runes, size
}

// A run of opaqueFrom bytes that mixes letters and digits is data, not a word.
const opaqueFrom = 32

// opaqueRun measures the base64, hash or key that s begins with: a long run
// without a break that has letters and digits. 0 means none. It
// decides by the first opaqueFrom bytes, so that it looks at nothing twice.
func opaqueRun(s string) int {
	n, letters, digits := 0, 0, 0
	for n < len(s) && isOpaque(s[n]) {
		switch classASCII(s[n]) {
		case latin:
			letters++
		case digit:
			digits++
		}
		n++
		if n == opaqueFrom && (letters == 0 || digits < 2) {
			return 0
		}
	}
	if n < opaqueFrom {
		return 0
	}
	return n
}

func isOpaque(c byte) bool {
	k := classASCII(c)
	return k == latin || k == digit || c == '+' || c == '/' || c == '='
}
