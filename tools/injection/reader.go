package injection

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"klawbot/tools/budget"
)

// token is a word with its meaning, or a mark between words. The meaning of a phrase is
// at its last word.
type token struct {
	is         concept
	span       int32 // words of the longest phrase that ends here
	start, end int32
}

// maxPhrase is the longest phrase, in words.
const maxPhrase = 8

// reader turns a plain text into tokens and signals.
type reader struct {
	text   []byte
	write  bool
	words  *lexicon
	tokens []token
	// ahead and spans are the meanings and lengths of phrases that end at the next words.
	ahead [maxPhrase]concept
	spans [maxPhrase]int32
	found []signal
	human bool // a paragraph begins with "Human:"
	steps *budget.Budget
}

// newReader reads a text, one step of the budget for each byte.
func newReader(text []byte, write bool, steps *budget.Budget) *reader {
	if !steps.Spend(len(text)) {
		text = nil
	}
	r := &reader{text: text, write: write, words: words(), steps: steps}
	r.tokens = make([]token, 0, len(text)/5+8)
	r.human = bytes.Contains(text, []byte("\n\nhuman:"))
	for i := 0; i < len(text); {
		i = r.next(i)
	}
	return r
}

// next reads a token at i and returns its end.
func (r *reader) next(i int) int {
	c := r.text[i]
	if c >= utf8.RuneSelf {
		first, size := utf8.DecodeRune(r.text[i:])
		switch {
		case cjk(first):
			return r.ideograph(i, size)
		case unicode.IsLetter(first), unicode.IsDigit(first):
			return r.word(i)
		}
		return i + size
	}
	if plain[c] != 0 {
		return r.word(i)
	}
	r.mark(i, c)
	return i + 1
}

// mark reads a character between words.
func (r *reader) mark(i int, c byte) {
	switch c {
	case '.':
		if i+1 == len(r.text) || r.text[i+1] <= ' ' || r.text[i+1] == '"' {
			r.put(cStop, i, i+1)
		}
	case '!', '?', ';', '|', '{', '}':
		r.put(cStop, i, i+1)
	case ',':
		r.put(cComma, i, i+1)
	case ':':
		r.put(cColon, i, i+1)
	case '"', '\'', '`':
		r.put(cQuote, i, i+1)
	case '\n':
		if blank := bytes.TrimLeft(r.text[i+1:min(len(r.text), i+40)], " \r"); len(blank) > 0 && blank[0] == '\n' {
			r.put(cStop|cParagraph, i, i+1)
		}
	case '<', '[', '#':
		r.roleToken(i)
	}
}

// put adds a mark, unless it repeats the last one.
func (r *reader) put(c concept, start, end int) {
	if n := len(r.tokens); n > 0 && r.tokens[n-1].is == c {
		return
	}
	r.tokens = append(r.tokens, token{is: c, span: 1, start: int32(start), end: int32(end)})
}

// wordEnd is the end of the word at i, or most.
func (r *reader) wordEnd(i, most int) (end int, ascii, other bool) {
	for i < min(most, len(r.text)) {
		c := r.text[i]
		switch {
		case c < utf8.RuneSelf && plain[c] != 0:
			ascii = ascii || c > '9'
			i++
		case c < utf8.RuneSelf:
			if c != '\'' || !suffix(r.text[i+1:]) {
				return i, ascii, other
			}
			i++
		default:
			letter, size := utf8.DecodeRune(r.text[i:])
			if cjk(letter) || !unicode.IsLetter(letter) && !unicode.IsDigit(letter) {
				return i, ascii, other
			}
			other = true
			i += size
		}
	}
	return i, ascii, other
}

// maxWord bounds a word in the lexicon, in bytes.
const maxWord = 60

// word reads the word that begins at i.
func (r *reader) word(i int) int {
	end, ascii, other := r.wordEnd(i, len(r.text))
	if _, size := utf8.DecodeRune(r.text[i:]); end == i+size {
		if after := r.spaced(i, size); after > 0 {
			return after
		}
	}
	t := token{start: int32(i), end: int32(end), is: r.ahead[0], span: max(1, r.spans[0])}
	copy(r.ahead[:], r.ahead[1:])
	copy(r.spans[:], r.spans[1:])
	r.ahead[maxPhrase-1], r.spans[maxPhrase-1] = 0, 0
	if end-i <= maxWord {
		t.is |= r.phrases(i, end)
		if t.is == 0 {
			t.is = r.disguised(r.text[i:end], ascii, other)
		}
	}
	r.tokens = append(r.tokens, t)
	return end
}

// phrases looks up the word from i to end, and phrases that begin with it.
func (r *reader) phrases(i, end int) concept {
	var here concept
	n, more := 0, 0 // more: words after the first
	for at := i; at < len(r.text); at++ {
		if n = r.words.step(n, r.text[at]); n == 0 {
			break
		}
		inWord := at < end
		if stem := r.words.nodes[n].stem; stem != 0 {
			r.note(&here, stem, more)
		}
		switch {
		case inWord && at+1 == end:
			r.note(&here, r.words.nodes[n].word, 0)
		case !inWord:
			if stop, _, _ := r.wordEnd(at+1, at+2); stop == at+1 {
				r.note(&here, r.words.nodes[n].word, more)
			}
		}
		if at+1 < len(r.text) && at+1 >= end && separates(r.text, at+1) {
			if next := r.words.step(n, ' '); next != 0 {
				n = next
				for at+1 < len(r.text) && separates(r.text, at+1) {
					at++
				}
				if more++; more == maxPhrase {
					break
				}
			}
		}
	}
	return here
}

// note stores the meaning of a phrase for its last word, after more others.
func (r *reader) note(here *concept, c concept, more int) {
	if c == 0 {
		return
	}
	if more == 0 {
		*here |= c
		return
	}
	r.ahead[more-1] |= c
	r.spans[more-1] = max(r.spans[more-1], int32(more)+1)
}

// ideograph reads a phrase of a script without blanks.
func (r *reader) ideograph(i, size int) int {
	c, length := r.words.longest(r.text[i:min(len(r.text), i+maxWord)])
	length = max(length, size)
	r.tokens = append(r.tokens, token{is: c, span: 1, start: int32(i), end: int32(i + length)})
	return i + length
}

// minSpaced is how many spaced letters may spell a word.
const minSpaced = 3

// spaced reads single letters with the same sign between them ("i g n o r e") as words.
// It returns their end, or 0.
func (r *reader) spaced(i, size int) int {
	if i+size >= len(r.text) || bytes.IndexByte([]byte(" .-_*/|~"), r.text[i+size]) < 0 {
		return 0
	}
	sign, at := r.text[i+size], i
	var glued []byte
	letters := 0
	for at < len(r.text) {
		letter, size := utf8.DecodeRune(r.text[at:])
		if !unicode.IsLetter(letter) && !unicode.IsDigit(letter) {
			break
		}
		if end, _, _ := r.wordEnd(at, at+size+1); end != at+size {
			break
		}
		glued = append(glued, r.text[at:at+size]...)
		letters++
		at += size
		if at >= len(r.text) || r.text[at] != sign {
			break
		}
		at++
	}
	if letters < minSpaced {
		return 0
	}
	for from := 0; from < len(glued); {
		c, length := r.words.longest(glued[from:])
		if length < minSpaced {
			from++
			continue
		}
		r.tokens = append(r.tokens, token{is: c, span: 1, start: int32(i), end: int32(at)})
		from += length
	}
	return at
}

// disguised looks up a word with letters of two scripts, or with digits for letters.
func (r *reader) disguised(word []byte, ascii, other bool) concept {
	if ascii && other {
		return r.words.plainWord(replaced(word, toLatin)) | r.words.plainWord(replaced(word, toCyrillic))
	}
	if ascii && bytes.ContainsAny(word, "0123456789") {
		return r.words.plainWord(replaced(word, fromDigits))
	}
	return 0
}

func replaced(word []byte, by map[rune]rune) []byte {
	return bytes.Map(func(c rune) rune {
		if as, ok := by[c]; ok {
			return as
		}
		return c
	}, word)
}

// Letters that look alike, in their plain forms.
var (
	toLatin = map[rune]rune{
		'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ѕ': 's', 'ј': 'j', 'һ': 'h', 'к': 'k', 'м': 'm', 'т': 't',
		'в': 'b', 'н': 'h', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'г': 'r', 'п': 'n', 'и': 'u', 'ո': 'n', 'օ': 'o', 'ս': 'u',
		'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ω': 'w', 'γ': 'y', 'σ': 'o', 'ѵ': 'v',
	}
	toCyrillic = map[rune]rune{
		'a': 'а', 'e': 'е', 'o': 'о', 'p': 'р', 'c': 'с', 'y': 'у', 'x': 'х', 'k': 'к', 'm': 'м', 't': 'т', 'b': 'в', 'h': 'н', 'n': 'п', 'r': 'г', 'u': 'и', 'i': 'и',
		'3': 'з', '0': 'о', '4': 'ч', '6': 'б',
	}
	fromDigits = map[rune]rune{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g'}
)
