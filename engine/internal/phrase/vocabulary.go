package phrase

import (
	"strconv"
	"strings"

	"klawbot/engine/internal/phrase/lexicon"
	"klawbot/internal/clip"
)

// The lengths that are compared all the time.
const (
	day   = lexicon.Day
	week  = lexicon.Week
	month = lexicon.Month
	year  = lexicon.Year
)

// anyOf reports whether a word is one of a list.
func anyOf(w, list string) bool {
	for l := range strings.FieldsSeq(list) {
		if l == w {
			return true
		}
	}
	return false
}

// texts are some words with blanks between them.
func texts(w []word) string {
	all := make([]string, len(w))
	for i, one := range w {
		all[i] = one.text
	}
	return strings.Join(all, " ")
}

// readNumber reads a number in digits or one of the words for small ones.
func readNumber(w string) (float64, bool) {
	if n, ok := lexicon.Numbers[w]; ok {
		return n, true
	}
	if w == "" || strings.Trim(w, "0123456789.,") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.Replace(w, ",", ".", 1), 64)
	return n, err == nil && n > 0 && n < 1e6
}

// readInt reads a whole number from low to high in digits or words.
func readInt(w string, low, high int) (int, bool) {
	n, ok := readNumber(w)
	if w == "0" || w == "00" {
		n, ok = 0, true
	}
	return int(n), ok && !anyOf(w, "a an couple пару пара") && n == float64(int(n)) && int(n) >= low && int(n) <= high
}

// readOrdinal reads "3rd", "third", "24-го", «двадцать третьего» and returns how many
// words that took.
func readOrdinal(w []word) (n, taken int) {
	if d := ordinalDigits.FindStringSubmatch(at(w, 0)); d != nil {
		return number(d[1]), 1
	}
	if n := lexicon.Ordinals[at(w, 0)]; n != 0 {
		return n, 1
	}
	tens := map[string]int{"двадцать": 20, "тридцать": 30, "twenty": 20, "thirty": 30}[at(w, 0)]
	if n := lexicon.Ordinals[at(w, 1)]; tens > 0 && n > 0 && n < 10 {
		return tens + n, 2
	}
	if tens, ones, ok := strings.Cut(at(w, 0), "-"); ok && anyOf(tens, "twenty thirty") {
		if n := lexicon.Ordinals[ones]; n > 0 && n < 10 {
			return int(lexicon.Numbers[tens]) + n, 1
		}
	}
	return 0, 0
}

// weekdays is a set of weekdays, from Sunday 0.
type weekdays uint8

// list are the weekdays of the set, in order.
func (d weekdays) list() []int {
	var all []int
	for n := range 7 {
		if d&(1<<n) != 0 {
			all = append(all, n)
		}
	}
	return all
}

// from is the first weekday of the set that is not below n, -1 for none.
func (d weekdays) from(n int) int {
	for _, one := range d.list() {
		if one >= n {
			return one
		}
	}
	return -1
}

// number reads digits that a pattern has found, 0 for none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func numbers(all []int) []string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return texts
}

// quote shortens foreign text for an error.
func quote(text string) string { return clip.Runes(text, 40) }
