package injection

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconText string

// concept is a set of meanings of words, and of marks between words.
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
	// The marks between words.
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

// lexicon is a prefix tree over the bytes of words and phrases. Node 0 is its root.
type lexicon struct {
	root  [256]uint16 // first byte → node, 0 for none
	nodes []node
}

// node is what follows a byte. Most nodes have one child, so their children are
// a list: a table per node would take megabytes.
type node struct {
	word           concept // what a word or phrase that ends here means
	stem           concept // what a word that begins so means
	child, sibling uint16  // 0 for none
	byte           byte
}

// words is the lexicon, read on first use.
var words = sync.OnceValue(func() *lexicon {
	l := &lexicon{nodes: make([]node, 1)}
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

// add adds a phrase in its plain form.
func (l *lexicon) add(phrase string, c concept) {
	phrase, isStem := strings.CutSuffix(phrase, "*")
	n := 0
	for _, b := range key(phrase) {
		next := l.step(n, b)
		if next == 0 {
			next = l.grow(n, b)
		}
		n = next
	}
	switch {
	case n == 0:
	case isStem:
		l.nodes[n].stem |= c
	default:
		l.nodes[n].word |= c
	}
}

// grow makes the child of a node.
func (l *lexicon) grow(n int, b byte) int {
	next := len(l.nodes)
	l.nodes = append(l.nodes, node{byte: b})
	if n == 0 {
		l.root[b] = uint16(next)
	} else {
		l.nodes[next].sibling, l.nodes[n].child = l.nodes[n].child, uint16(next)
	}
	return next
}

// key is a phrase as the reader walks it: plain, with one blank between words.
func key(phrase string) []byte {
	text := fold(phrase).text
	for i, b := range text {
		if separates(text, i) && b != '.' {
			text[i] = ' '
		}
	}
	return text
}

// separates reports whether a byte separates two words of a phrase.
func separates(text []byte, i int) bool {
	switch text[i] {
	case ' ', '\n', '-', '_', ',':
		return true
	case '\'':
		return !suffix(text[i+1:])
	}
	return false
}

// suffix reports whether text begins with an English ending after an apostrophe.
func suffix(text []byte) bool {
	n := 0
	for n < min(3, len(text)) && 'a' <= text[n] && text[n] <= 'z' {
		n++
	}
	return slices.Contains([]string{"t", "s", "re", "ve", "ll", "d", "m"}, string(text[:n]))
}

// step follows a byte, 0 when no phrase continues with it.
func (l *lexicon) step(n int, b byte) int {
	if n == 0 {
		return int(l.root[b])
	}
	next := l.nodes[n].child
	for next != 0 && l.nodes[next].byte != b {
		next = l.nodes[next].sibling
	}
	return int(next)
}

// plainWord is what a single word means.
func (l *lexicon) plainWord(word []byte) concept {
	var c concept
	n := 0
	for _, b := range word {
		if n = l.step(n, b); n == 0 {
			return c
		}
		c |= l.nodes[n].stem
	}
	return c | l.nodes[n].word
}

// within gives a phrase of a script without blanks the meanings of its parts, because
// the reader takes the longest phrase only.
func (l *lexicon) within() {
	const parts = cIgnore | cLast | cOrder | cWeak | cPrior | cAll | cYour | cNew
	var walk func(n int, text []byte)
	walk = func(n int, text []byte) {
		if r, _ := utf8.DecodeRune(text); l.nodes[n].word != 0 && cjk(r) {
			for i := range text {
				if i > 0 && utf8.RuneStart(text[i]) {
					if c, end := l.longest(text[i:]); end > 0 {
						l.nodes[n].word |= c & parts
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

// longest finds the longest phrase at the beginning of text: its meaning and its end.
func (l *lexicon) longest(text []byte) (c concept, end int) {
	n := 0
	for i, b := range text {
		if n = l.step(n, b); n == 0 {
			break
		}
		if here := l.nodes[n].word | l.nodes[n].stem; here != 0 {
			c, end = here, i+1
		}
	}
	return c, end
}
