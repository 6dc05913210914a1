package choice

import (
	"slices"
	"strings"
	"unicode"
)

const (
	shortestWord = 3
	stem         = 5 // how many letters two forms of a word share
)

// endings are what is cut off a word, if enough is left of it. A Russian one is a single
// letter: longer words are cut to their stem anyway.
var endings = []string{"ing", "ed", "es", "s", "а", "я", "о", "е", "и", "ы", "у", "ю", "й", "ь"}

// stemOf is what the forms of a word have in common.
func stemOf(word []rune) string {
	for _, end := range endings {
		e := []rune(end)
		if n := len(word) - len(e); n >= shortestWord && slices.Equal(word[n:], e) {
			word = word[:n]
			break
		}
	}
	return string(word[:min(stem, len(word))])
}

// emptyWords say nothing about what is wanted.
var emptyWords = setOf(strings.Fields(`about all also and any are because been but can could did does for from had has have her him his how into its just
	like make more not now our out please say that the them then there these they this those was were what when where which while who why will with
	would you your без был была было быть все где для его если есть еще или как какая какие какой когда мне мой моя надо нас она они
	оно перед под пока при про сделай так там тебя тебе теперь того тоже только ты уже что чтобы эта эти это этот`))

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// Keywords are the words of a text that say something, cut to their stem.
type Keywords map[string]bool

// ReadKeywords reads the keywords of texts.
func ReadKeywords(texts ...string) Keywords {
	words := Keywords{}
	for _, text := range texts {
		words.add(text)
	}
	return words
}

func (words Keywords) add(text string) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if r := []rune(w); len(r) >= shortestWord && !emptyWords[w] {
			words[stemOf(r)] = true
		}
	}
}
