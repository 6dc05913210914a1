package injection

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconText string

// concept is a set of what words can mean, and of marks between words.
type concept uint64

const (
	cIgnore concept = 1 << iota
	cLast
	cOrder
	cWeak
	cPrior
	cAll
	cYour
	cFill
	cTold
	cNot
	cMaybe
	cTells
	cTopic
	cNew
	cIs
	cYou
	cChanged
	cYouNow
	cRole
	cPersona
	cUnbound
	cSystem
	cAssistant
	cMust
	cDo
	cSecret
	cReveal
	cPrompt
	cUser
	cLabel
	cAimed
	cQuiet
	cSteer
	cJailbreak
	cHint
	cFree
	cAlways
	// What stands between words.
	cStop
	cComma
	cColon
	cQuote
	cParagraph
)

const cMark = cStop | cComma | cColon | cQuote | cParagraph

// concepts are the names in the lexicon, in the order of the bits.
var concepts = []string{
	"ignore", "last", "order", "weak", "prior", "all", "your", "fill", "told", "not", "maybe", "tells", "topic", "new", "is", "you", "changed",
	"younow", "role", "persona", "unbound", "system", "assistant", "must", "do", "secret", "reveal", "prompt", "user", "label", "aimed", "quiet", "steer", "jailbreak",
	"hint", "free", "always",
}

// lexicon is a tree over the bytes of words and phrases.
type lexicon struct {
	class [256]uint8 // byte → its column, 0 for none
	next  [][]uint16 // node, column → node, 0 for none
	word  []concept  // node → what a word or phrase that ends here means
	stem  []concept  // node → what a word that begins so means
}

// words is the lexicon. It is read once, when it is first needed.
var words = sync.OnceValue(func() *lexicon {
	l := &lexicon{}
	l.node()
	var now concept
	for line := range strings.Lines(lexiconText) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(name, "]")
			now = named(name)
		} else if _, list, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			for phrase := range strings.SplitSeq(list, ",") {
				l.add(strings.TrimSpace(phrase), now)
			}
		}
	}
	l.within()
	return l
})

func named(name string) concept {
	for i, n := range concepts {
		if n == name {
			return 1 << i
		}
	}
	panic("lexicon.txt: no concept " + name)
}

func (l *lexicon) node() int {
	l.next = append(l.next, make([]uint16, 128))
	l.word = append(l.word, 0)
	l.stem = append(l.stem, 0)
	return len(l.next) - 1
}

// add takes up a phrase in its plain form.
func (l *lexicon) add(phrase string, c concept) {
	phrase, isStem := strings.CutSuffix(phrase, "*")
	n := 0
	for _, b := range key(phrase) {
		if l.class[b] == 0 {
			columns := uint8(0)
			for _, have := range l.class {
				columns = max(columns, have)
			}
			l.class[b] = columns + 1
		}
		column := l.class[b]
		if l.next[n][column] == 0 {
			l.next[n][column] = uint16(l.node())
		}
		n = int(l.next[n][column])
	}
	switch {
	case n == 0:
	case isStem:
		l.stem[n] |= c
	default:
		l.word[n] |= c
	}
}

// key is a phrase as the reader walks it: plain, with one blank for all that
// stands between words.
func key(phrase string) []byte {
	text := fold(phrase).text
	for i, b := range text {
		if separates(text, i) && b != '.' {
			text[i] = ' '
		}
	}
	return text
}

// separates reports whether the byte parts two words of a phrase.
func separates(text []byte, i int) bool {
	switch text[i] {
	case ' ', '\n', '-', '_', ',':
		return true
	case '\'':
		return !suffix(text[i+1:])
	}
	return false
}

// suffix reports whether text begins with what follows an apostrophe inside an
// English word.
func suffix(text []byte) bool {
	n := 0
	for n < min(3, len(text)) && 'a' <= text[n] && text[n] <= 'z' {
		n++
	}
	switch string(text[:n]) {
	case "t", "s", "re", "ve", "ll", "d", "m":
		return n < 3
	}
	return false
}

// step follows a byte, 0 when no phrase goes on so.
func (l *lexicon) step(n int, b byte) int {
	c := l.class[b]
	if c == 0 {
		return 0
	}
	return int(l.next[n][c])
}

// plainWord is what a single word means.
func (l *lexicon) plainWord(word []byte) concept {
	var c concept
	n := 0
	for _, b := range word {
		if n = l.step(n, b); n == 0 {
			return c
		}
		c |= l.stem[n]
	}
	return c | l.word[n]
}

// within gives the phrases of scripts without blanks what their parts mean:
// there the longest phrase is read as one.
func (l *lexicon) within() {
	const parts = cIgnore | cLast | cOrder | cWeak | cPrior | cAll | cYour | cNew
	var walk func(n int, text []byte)
	walk = func(n int, text []byte) {
		if r, _ := utf8.DecodeRune(text); l.word[n] != 0 && cjk(r) {
			for i := range text {
				if i > 0 && utf8.RuneStart(text[i]) {
					if c, end := l.longest(text[i:]); end > 0 {
						l.word[n] |= c & parts
					}
				}
			}
		}
		for b := range 256 {
			if next := l.step(n, byte(b)); next != 0 {
				walk(next, append(text[:len(text):len(text)], byte(b)))
			}
		}
	}
	walk(0, nil)
}

// longest finds the longest phrase that text begins with, in a script without
// blanks: what it means and where it ends.
func (l *lexicon) longest(text []byte) (c concept, end int) {
	n := 0
	for i, b := range text {
		if n = l.step(n, b); n == 0 {
			break
		}
		if here := l.word[n] | l.stem[n]; here != 0 {
			c, end = here, i+1
		}
	}
	return c, end
}
