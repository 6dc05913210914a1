// Package terms says which words a text is found by, and which ones a question looks
// for. It knows ways of writing and no index.
package terms

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/engine/internal/store"
)

// Version changes when the same text gets other terms. An index of another version
// has to be renewed.
const Version = "3"

// Of are the terms of a text: its words as the index keeps them: folded, English and Russian
// words as their stem, a script without spaces as pairs of characters, and what belongs
// together as a whole, too: C++, 1.2.3, #garden.
func Of(text string) []string {
	folded := fold(text)
	all := words(folded)
	var found []string
	for _, w := range all {
		switch w.way {
		case symbol:
			found = append(found, emoji(w.text)...)
		case dense:
			found = append(found, pairs(w.text)...)
			if units := unitsOf(w.text); len(units) > 1 {
				found = append(found, units[len(units)-1]) // which no pair begins with
			}
		default:
			stem, same, guesses := w.forms()
			found = append(append(append(found, stem), same...), guesses...)
		}
	}
	for _, c := range compounds(folded, all) {
		found = append(found, c.terms...)
	}
	for i, t := range found {
		found[i] = encoded(t)
	}
	return found
}

// Sought is a word of a question: the terms that say it, each good. Where no text has
// any of them, its parts do.
type Sought struct {
	Terms, Parts []string
	// Extra says that other words of the question say the same.
	Extra bool
}

// Seek are the words to look for, each once, without words that say nothing unless there
// are no others.
func Seek(text string) []Sought {
	folded := fold(text)
	words := words(folded)
	whole := make([]bool, len(words)) // of a compound, which says more
	var telling, all []Sought
	add := func(s Sought, tells bool) {
		all = append(all, s)
		if tells {
			telling = append(telling, s)
		}
	}
	spelled := spellings(text)
	for _, c := range compounds(folded, words) {
		s := Sought{Terms: encodedAll(c.terms), Extra: !c.exact}
		for i := c.from; c.exact && i < c.to; i++ {
			whole[i] = true
			if words[i].way != symbol {
				s.Parts = append(s.Parts, words[i].sought(spelled).Terms...)
			}
		}
		add(s, true)
	}
	for i, w := range words {
		switch {
		case whole[i]:
		case w.way == dense:
			for _, p := range beginnings(w.text) {
				add(Sought{Terms: []string{p}}, true)
			}
		default:
			add(w.sought(spelled), w.tells())
		}
	}
	if len(telling) > 0 {
		all = telling
	}
	slices.SortStableFunc(all, func(a, b Sought) int { return strings.Compare(a.Terms[0], b.Terms[0]) })
	return slices.CompactFunc(all, func(a, b Sought) bool { return a.Terms[0] == b.Terms[0] })
}

// longBeginning is how many letters a word needs to be tried as the beginning of another.
const longBeginning = 5

// sought is a word of a question that is written with spaces around it.
func (w word) sought(spelled map[string]string) Sought {
	if w.way == symbol {
		all := emoji(w.text)
		if joined := strings.ContainsRune(w.text, joiner); joined {
			all = all[:1]
		}
		return Sought{Terms: encodedAll(all)}
	}
	stem, same, guesses := w.forms()
	if other := spelled[stem]; other != "" {
		same = append(same, other)
	}
	parts := encodedAll(guesses)
	if utf8.RuneCountInString(w.text) >= longBeginning && !strings.ContainsFunc(w.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		parts = append(parts, encoded(w.text)+store.AnyEnd) // the Zahnarzt of "Zahnarzttermin"
	}
	return Sought{Terms: encodedAll(append([]string{stem}, same...)), Parts: parts}
}

// tells reports whether a word says what a question is about.
func (w word) tells() bool {
	if w.way == symbol {
		return tells(w.text)
	}
	return !englishWords[w.text] && !russianWords[w.text]
}

// marker stands before a rune that SQLite would take for the end of a word.
const marker = '\ue000'

// encoded is a term as SQLite's tokenizer leaves it whole.
func encoded(term string) string {
	plain := func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }
	if !strings.ContainsFunc(term, func(r rune) bool { return !plain(r) }) {
		return term
	}
	var b strings.Builder
	for _, r := range term {
		if plain(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(string(marker) + strconv.FormatInt(int64(r), 36))
		}
	}
	return b.String()
}

func encodedAll(terms []string) []string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = encoded(t)
	}
	return all
}

// word is a run of letters and digits of one way of writing, or a sign, and its place in
// the folded text.
type word struct {
	text     string
	way      way
	from, to int
}

// way is a way of writing.
type way int

const (
	latin    way = iota // and all others with spaces and no forms of their own
	cyrillic            // stemmed as Russian
	arabic
	hebrew
	dense // no spaces between words: Chinese, Japanese, Korean, Thai …
	symbol
)

func wayOf(r rune) way {
	switch {
	case r < unicode.MaxLatin1:
		return latin
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return dense
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Hebrew, r):
		return hebrew
	}
	return latin
}

// words cuts a folded text. Digits belong to the word that they stand in.
func words(text string) []word {
	var all []word
	begin, kind := -1, latin // of the word that is read
	flush := func(end int) {
		if begin >= 0 {
			all = append(all, word{strings.ReplaceAll(text[begin:end], string(joiner), ""), kind, begin, end})
		}
		begin = -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch in := begin >= 0; {
		case in && (unicode.IsDigit(r) || unicode.IsMark(r) || r == joiner):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if k := wayOf(r); !in || k != kind {
				flush(i)
				begin, kind = i, k
			}
		default:
			flush(i)
			if isSign(r) {
				size = len(cluster(text[i:]))
				all = append(all, word{text[i : i+size], symbol, i, i + size})
			}
		}
		i += size
	}
	flush(len(text))
	return all
}

// unitsOf are the characters of a text of a script without spaces, each with its marks.
func unitsOf(text string) []string {
	var units []string
	for _, r := range text {
		if n := len(units); n > 0 && unicode.IsMark(r) {
			units[n-1] += string(r)
		} else {
			units = append(units, string(r))
		}
	}
	return units
}

// pairs are the pairs of neighbouring characters; a single one stands alone.
func pairs(text string) []string {
	units := unitsOf(text)
	if len(units) < 3 {
		return []string{text}
	}
	all := make([]string, 0, len(units)-1)
	for i := range len(units) - 1 {
		all = append(all, units[i]+units[i+1])
	}
	return all
}

// beginnings are the pairs of a text as the index is asked for them: a single character
// stands for all pairs that begin with it.
func beginnings(text string) []string {
	all := encodedAll(pairs(text))
	if len(unitsOf(text)) == 1 {
		all[0] += store.AnyEnd
	}
	return all
}

// stopWords are the commonest words of English and Russian, folded: they are in
// nearly every text and would only add noise to a question.
var (
	englishWords = wordSet(`
		a an the and or but if of at by for with about to from in on is are was were be been being do does did has have had having
		he she it they him his hers her its them their what when where who whom whose which why how i you me my your we our us this
		that these those there here not no so as than too very can will just would could should might may must shall s t d ll re ve m
		don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn`)
	russianWords = wordSet(`
		и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему
		теперь когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом себя ничего ей может они тут где есть
		надо ней для мы тебя их чем была сам чтоб без чего раз тоже себе под будет кто этот того потому этого какой какая какое какие
		ним здесь этом почему мой моя мое мои твой твоя наш ваш при об это эта эти`)
)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[fold(w)] = true
	}
	return set
}

// HasWords reports whether a text has more than signs.
func HasWords(text string) bool {
	return slices.ContainsFunc(words(fold(text)), func(w word) bool { return w.way != symbol })
}

// Dense reports whether a character is of a script without spaces between words.
func Dense(r rune) bool { return wayOf(r) == dense }
