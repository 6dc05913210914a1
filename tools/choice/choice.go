// Package choice says which tools fit what a person wrote, by the words that people use
// for what a tool does. It knows no tools and asks no model: the same text gives the
// same choice.
package choice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The ends of a long text that are looked at, in words: a request stands at the
// beginning or at the end, what is pasted between them is about anything.
const (
	headWords = 40
	tailWords = 40
)

// gap is how many other words may stand between those of a phrase.
const gap = 3

// Message is a text that tools are looked for with.
type Message struct {
	// at are the places of each form of a word: as it stands, without an English ending,
	// and each of its beginnings with a star.
	at map[string][]int
	// starts says how those forms start, with a bit for each start: most phrases end
	// without a look into the map.
	starts uint64
}

// start is a bit for the first two bytes of a word.
func start(word string) uint64 {
	return 1 << ((uint(word[0])*31 ^ uint(word[min(1, len(word)-1)])*7) % 64)
}

// The signs that stand for kinds of words in phrases.
const (
	signURL  = "<url>"
	signFile = "<file>"
)

var (
	urlWord  = regexp.MustCompile(`^(https?://|www\.)|^[a-z0-9-]+(\.[a-z0-9-]+)*\.(com|org|net|io|dev|app|info|edu|gov|eu|uk|de|fr|it|es|nl|pl|ru|рф|by|kz|ua|co|ai|me|tv)(/|$)`)
	fileWord = regexp.MustCompile(`^[^\s:]*[\p{L}\d_-]\.[a-z][a-z0-9]{1,4}$|^[^\s:]*[\p{L}\d_-]/$|^[^\s:]+/[^\s:/]+\.[a-z0-9]{1,5}$`)
)

// Read takes a text apart.
func Read(text string) *Message {
	m := &Message{at: map[string][]int{}}
	words := strings.Fields(text)
	if len(words) > headWords+tailWords {
		words = slices.Concat(words[:headWords], words[len(words)-tailWords:])
	}
	place := 0
	for _, field := range words {
		if len(field) > 200 {
			place++ // no word
			continue
		}
		field = strings.Trim(plain(field), `.,;:!?()[]{}"'«»“”„…<>`+"`")
		switch {
		case urlWord.MatchString(field):
			m.put(signURL, place)
		case fileWord.MatchString(field):
			m.put(signFile, place)
			m.put(field, place)
		}
		for word := range strings.FieldsFuncSeq(field, func(r rune) bool { return !inWord(r) }) {
			m.word(strings.Trim(word, "-'"), place)
			place++
		}
	}
	return m
}

// inOneWay is how letters are written that are written in two ways.
var inOneWay = strings.NewReplacer("ё", "е", "’", "'")

// plain writes letters in one way.
func plain(text string) string { return inOneWay.Replace(strings.ToLower(text)) }

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '\'' || r == '-'
}

// word notes a word in the forms that phrases may have.
func (m *Message) word(word string, place int) {
	if word == "" {
		return
	}
	m.put(word, place)
	for _, base := range bases(word) {
		m.put(base, place)
	}
	n := 0
	for i := range word {
		if n++; n > shortest && n <= longest {
			m.put(word[:i]+"*", place)
		}
	}
	if n <= longest {
		m.put(word+"*", place)
	}
}

// The beginnings of words that phrases may have, in letters.
const (
	shortest = 2
	longest  = 24
)

func (m *Message) put(key string, place int) {
	if all := m.at[key]; len(all) == 0 || all[len(all)-1] != place {
		m.at[key], m.starts = append(all, place), m.starts|start(key)
	}
}

// bases are an English word without its ending, right or not: what is none is no word
// of a phrase either.
func bases(word string) (all []string) {
	if len(word) < 4 || word[0] < 'a' || word[0] > 'z' {
		return nil
	}
	for _, end := range []string{"s", "es", "d", "ed", "ing", "'s"} {
		base, cut := strings.CutSuffix(word, end)
		if !cut || len(base) < 3 {
			continue
		}
		all = append(all, base)
		if n := len(base); end == "ing" || end == "ed" {
			all = append(all, base+"e")
			if base[n-1] == base[n-2] {
				all = append(all, base[:n-1])
			}
		}
	}
	return all
}

// Words are the phrases by which people ask for one tool.
type Words []phrase

// phrase is met when each of its words stands in a text, close together, in any order.
type phrase struct {
	words [][]string // each in its alternatives
	// first and last say how the alternatives of those words start.
	first, last uint64
}

// ParseWords reads phrases that are separated by commas. A word with a star stands for
// all that begin so, "a|b" for either; <url> and <file> for anything of the kind.
func ParseWords(list string) (Words, error) {
	var all Words
	for part := range strings.SplitSeq(strings.ReplaceAll(list, "\n", " "), ",") {
		var p phrase
		for word := range strings.FieldsSeq(part) {
			alternatives := strings.Split(plain(word), "|")
			for _, a := range alternatives {
				stem, starred := strings.CutSuffix(a, "*")
				if stem == "" || strings.Contains(stem, "*") || starred && len([]rune(stem)) < shortest {
					return nil, fmt.Errorf("%q is no word to look for", word)
				}
			}
			p.words = append(p.words, alternatives)
		}
		if p.words == nil {
			return nil, fmt.Errorf("%q holds an empty phrase", list)
		}
		for _, a := range p.words[0] {
			p.first |= start(a)
		}
		for _, a := range p.words[len(p.words)-1] {
			p.last |= start(a)
		}
		all = append(all, p)
	}
	return all, nil
}

// Vocabulary are the single words of all phrases, those with a star by their beginning.
func (w Words) Vocabulary() (all []string) {
	for _, p := range w {
		for _, alternatives := range p.words {
			for _, a := range alternatives {
				if a != signURL && a != signFile {
					all = append(all, strings.TrimSuffix(a, "*"))
				}
			}
		}
	}
	return all
}

// Score says how much of the words a text has: 0 for none of them, 1 or more for one
// phrase.
func (w Words) Score(m *Message) (score float64) {
	for _, p := range w {
		if p.first&m.starts != 0 && p.last&m.starts != 0 && p.in(m) {
			score += 0.5 + 0.5*float64(len(p.words))
		}
	}
	return score
}

// in reports whether the words of a phrase stand close together.
func (p phrase) in(m *Message) bool {
	for _, alternatives := range p.words { // most phrases end here, before anything is collected
		if !slices.ContainsFunc(alternatives, func(a string) bool { return m.starts&start(a) != 0 && len(m.at[a]) > 0 }) {
			return false
		}
	}
	places := make([][]int, len(p.words))
	for i, alternatives := range p.words {
		for _, a := range alternatives {
			places[i] = append(places[i], m.at[a]...)
		}
	}
	reach := len(p.words) + gap
	for _, first := range places[0] {
		if near(places[1:], first, reach) {
			return true
		}
	}
	return false
}

// near reports whether each of the lists has a place within reach of the first.
func near(places [][]int, first, reach int) bool {
	for _, all := range places {
		if !slices.ContainsFunc(all, func(at int) bool { return at != first && at > first-reach && at < first+reach }) {
			return false
		}
	}
	return true
}

// Count says how many of some words stand in the text, in the form of each or a longer
// one.
func (m *Message) Count(words []string) (n int) {
	for _, w := range words {
		if len(m.at[plain(w)+"*"]) > 0 {
			n++
		}
	}
	return n
}
