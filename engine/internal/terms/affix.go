package terms

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// In Arabic and Hebrew the article, "and", "to", "in" and "from" are written on to a
// word. The index has a word with them and without.

// forms are how the index has a word. A question means the stem and what is surely the
// same; the guesses count where no text has those.
func (w word) forms() (stem string, same, guesses []string) {
	switch w.way {
	case arabic:
		return arabicForms(w.text)
	case hebrew:
		short := hebrewForms(w.text)
		if strings.HasPrefix(w.text, "ה") && len(short) > 0 && utf8.RuneCountInString(short[0]) >= 3 {
			return w.text, short[:1], short[1:] // the article, as a rule
		}
		return w.text, nil, short
	case cyrillic:
		return russian.Stem(w.text, true), nil, nil
	}
	return english.Stem(w.text, true), nil, nil
}

// The prefixes and suffixes that nearly always are some, the longer ones first: those
// of the stemmer light10 (Larkey, Ballesteros and Connell, "Light Stemming for Arabic
// Information Retrieval", 2007), and "and" before them.
var (
	arabicPrefixes = []string{"وبال", "وكال", "وال", "فال", "بال", "كال", "ولل", "فلل", "ال", "لل"}
	arabicSuffixes = []string{"ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"}
)

// arabicLetters may be a word of one letter or the beginning of the word itself.
const arabicLetters = "وفبلكس"

// arabicForms are the forms of a folded Arabic word.
func arabicForms(text string) (stem string, same, guesses []string) {
	for _, p := range arabicPrefixes {
		if rest, ok := strings.CutPrefix(text, p); ok && utf8.RuneCountInString(rest) >= 2 {
			text = rest
			break
		}
	}
	stem = arabicStem(text)
	if short := strings.TrimSuffix(stem, "ا"); short != stem && utf8.RuneCountInString(short) >= 3 {
		same = []string{short} // an ending that is written with a vowel point or without
	}
	if short := withoutLetter(text, arabicLetters); short != text && utf8.RuneCountInString(short) >= 3 {
		guesses = []string{arabicStem(short)}
	}
	return stem, same, guesses
}

func arabicStem(text string) string {
	for _, s := range arabicSuffixes {
		if rest, ok := strings.CutSuffix(text, s); ok && utf8.RuneCountInString(rest) >= 2 {
			text = rest
		}
	}
	return text
}

// withoutLetter is a text without its first letter, if that is one of some.
func withoutLetter(text, some string) string {
	r, size := utf8.DecodeRuneInString(text)
	if strings.ContainsRune(some, r) {
		return text[size:]
	}
	return text
}

// hebrewLetters are "the", "in", "to", "from", "that", "as" and "and".
const hebrewLetters = "הבלמשכו"

// hebrewForms are a Hebrew word without what may be written on to it: up to three
// letters, and at least two are left.
func hebrewForms(text string) (more []string) {
	for range 3 {
		short := withoutLetter(text, hebrewLetters)
		if short == text || utf8.RuneCountInString(short) < 2 {
			break
		}
		text, more = short, append(more, short)
	}
	return more
}
