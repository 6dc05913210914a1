package guide

import (
	"strings"
	"unicode"
)

// stemLength is where words are cut, so that their forms meet: schedule and
// scheduling, напоминание and напоминания.
const stemLength = 6

// wordsOf are the words of a text as the index compares them. A name such as
// file_read is one word and also its parts; scripts without spaces give pairs
// of characters.
func wordsOf(text string) []string {
	var all []string
	for _, run := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		run = strings.Trim(run, "_")
		if strings.Contains(run, "_") {
			all = append(all, run)
		}
		for part := range strings.SplitSeq(run, "_") {
			all = append(all, partsOf(part)...)
		}
	}
	return all
}

// partsOf parts a run of letters where the kind of script changes.
func partsOf(run string) []string {
	var all []string
	runes := []rune(run)
	for len(runes) > 0 {
		n := 1
		for n < len(runes) && dense(runes[n]) == dense(runes[0]) {
			n++
		}
		if dense(runes[0]) {
			all = append(all, pairsOf(runes[:n])...)
		} else {
			all = append(all, stem(runes[:n]))
		}
		runes = runes[n:]
	}
	return all
}

// dense reports whether a character belongs to a script without spaces.
func dense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func pairsOf(runes []rune) []string {
	if len(runes) == 1 {
		return []string{string(runes)}
	}
	pairs := make([]string, 0, len(runes)-1)
	for i := range runes[:len(runes)-1] {
		pairs = append(pairs, string(runes[i:i+2]))
	}
	return pairs
}

// stem cuts a word roughly to what its forms share.
func stem(runes []rune) string {
	if n := len(runes); n > 3 && runes[n-1] == 's' && runes[n-2] != 's' {
		runes = runes[:n-1]
	}
	return string(runes[:min(len(runes), stemLength)])
}
