package guide

import (
	"strings"
	"unicode"
)

// stemLength is where words are cut, so that their forms meet: schedule and
// scheduling, напоминание and напоминания.
const stemLength = 6

// wordsOf are the words of a text as the index compares them. A name such as
// file_read is one word and also its parts.
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
			if part != "" {
				all = append(all, stem([]rune(part)))
			}
		}
	}
	return all
}

// stem cuts a word roughly to what its forms share.
func stem(runes []rune) string {
	if n := len(runes); n > 3 && runes[n-1] == 's' && runes[n-2] != 's' {
		runes = runes[:n-1]
	}
	return string(runes[:min(len(runes), stemLength)])
}
