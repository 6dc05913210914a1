package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
	"golang.org/x/text/unicode/norm"

	"klawbot/engine/internal/store"
)

// terms are the words of a text as the index keeps them, in their order: small
// letters, no accents, ё as е, the stem of English and Russian words. What is
// written without spaces becomes pairs of characters.
func terms(text string) []string {
	var all []string
	for _, word := range words(text) {
		all = append(all, word.terms()...)
		if runes := []rune(word.text); word.way == dense && len(runes) > 1 {
			all = append(all, string(runes[len(runes)-1])) // which no pair begins with
		}
	}
	return all
}

// queryTerms are the terms to look for, each once, without words that say
// nothing unless there are no others.
func queryTerms(text string) []string {
	var telling, all []string
	for _, word := range words(text) {
		stems := word.terms()
		all = append(all, stems...)
		if !stopWords[word.text] {
			telling = append(telling, stems...)
		}
	}
	if len(telling) > 0 {
		all = telling
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// beginnings are the terms of a query as the index is asked for them: a single
// character of a script without spaces stands for all pairs that begin with it.
func beginnings(terms []string) []string {
	all := slices.Clone(terms)
	for i, t := range all {
		if r, size := utf8.DecodeRuneInString(t); size == len(t) && wayOf(r) == dense {
			all[i] += store.AnyEnd
		}
	}
	return all
}

// word is a run of letters and digits of one way of writing.
type word struct {
	text string
	way  way
}

// way is a way of writing.
type way int

const (
	latin    way = iota // and all others with spaces and no stemmer of their own
	cyrillic            // stemmed as Russian
	dense               // no spaces between words: Chinese, Japanese, Korean, Thai …
)

func wayOf(r rune) way {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return dense
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	}
	return latin
}

// words cuts a text. Digits belong to the word that they stand in.
func words(text string) []word {
	var all []word
	var now []rune
	var kind way
	flush := func() {
		if len(now) > 0 {
			all = append(all, word{string(now), kind})
		}
		now = now[:0]
	}
	for _, r := range fold(text) {
		switch {
		case unicode.IsDigit(r) && len(now) > 0:
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if k := wayOf(r); len(now) == 0 || k != kind {
				flush()
				kind = k
			}
		case unicode.IsMark(r) && len(now) > 0:
		default:
			flush()
			continue
		}
		now = append(now, r)
	}
	flush()
	return all
}

// letters are Latin letters that are no letter with an accent, as people write them
// who do not have them.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// fold brings together what is written differently and means the same.
func fold(text string) string {
	decomposed := norm.NFKD.String(letters.Replace(strings.ToLower(text)))
	var b strings.Builder
	b.Grow(len(decomposed))
	var last rune
	for _, r := range decomposed {
		switch {
		case unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Latin, last):
			continue // an accent
		case r == '\u0308' && last == 'е':
			continue // ё
		}
		b.WriteRune(r)
		last = r
	}
	return norm.NFC.String(b.String())
}

func (w word) terms() []string {
	switch w.way {
	case dense:
		return pairs(w.text)
	case cyrillic:
		return []string{russian.Stem(w.text, true)}
	}
	return []string{english.Stem(w.text, true)}
}

// pairs are the pairs of neighbouring characters; a single one stands alone.
func pairs(text string) []string {
	runes := []rune(text)
	if len(runes) < 3 {
		return []string{text}
	}
	all := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		all = append(all, string(runes[i:i+2]))
	}
	return all
}

// stopWords are the commonest words of English and Russian, folded: they are in
// nearly every text and would only add noise to a question.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`
		a an the and or but if of at by for with about to from in on is are was were be been being do does did has have had having
		he she it they him his her hers its their them what when where who whom whose which why how i you me my your we our us this
		that these those there here not no so as than too very can will just would could should might may must shall s t d ll re ve m
		don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
		и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему
		теперь когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом себя ничего ей может они тут где есть
		надо ней для мы тебя их чем была сам чтоб без чего раз тоже себе под будет кто этот того потому этого какой какая какое какие
		ним здесь этом почему мой моя мое мои твой твоя наш ваш при об это эта эти`) {
		set[fold(w)] = true
	}
	return set
}()
