package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// compound is what several words say together: C++, R&D, 1.2.3, a date, a phone number,
// #garden, Wi-Fi. from and to are its words.
type compound struct {
	terms    []string
	from, to int
	// exact says that its words alone mean something else.
	exact bool
}

// Longer runs are no names but addresses of pages and lists.
const (
	longestRun  = 8  // words
	longestName = 60 // bytes
)

// compounds finds what belongs together in a folded text.
func compounds(text string, all []word) []compound {
	var found []compound
	for i := 0; i < len(all); {
		c := compoundAt(text, all, i)
		if c.terms != nil {
			found = append(found, c)
		}
		i = max(i+1, c.to)
	}
	return found
}

func compoundAt(text string, all []word, i int) compound {
	w := all[i]
	switch {
	case w.way == symbol:
		if next := i + 1; (w.text == "#" || w.text == "@") && touches(all, next) && all[next].way != symbol && !letterBefore(text, w.from) {
			return compound{terms: []string{w.text + all[next].text}, from: i, to: next}
		}
		return compound{}
	case isNumber(w.text) || isVersion(w.text):
		return numberAt(text, all, i)
	}
	if end := marksAfter(all, i); end > i+1 {
		return compound{[]string{text[w.from:all[end-1].to]}, i, end, true}
	}
	if w.from > 0 && text[w.from-1] == '.' && !letterBefore(text, w.from-1) && w.way == latin {
		return compound{[]string{"." + w.text}, i, i + 1, true}
	}
	if c := nameAt(text, all, i); c.terms != nil {
		return c
	}
	return besideNumber(text, all, i+1, i)
}

// The longest numbers and units that people also write together with their word.
const (
	longestModel = 4
	longestUnit  = 3
)

// besideNumber is a word and the number beside it, as they are written together: "iPhone
// 15", "3 pm".
func besideNumber(text string, all []word, number, name int) compound {
	first := min(number, name)
	if first+1 >= len(all) || gap(text, all, first) != " " || all[number].way != latin || all[name].way != latin {
		return compound{}
	}
	digits, w := all[number].text, all[name].text
	if !isNumber(digits) || isNumber(w) || len(digits) > longestModel || number < name && len(w) > longestUnit || englishWords[w] {
		return compound{}
	}
	return compound{terms: []string{all[first].text + all[first+1].text}, from: first, to: first + 1}
}

// touches reports whether nothing is between a word and the one before it.
func touches(all []word, i int) bool { return i < len(all) && all[i].from == all[i-1].to }

func letterBefore(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return at > 0 && !unicode.IsSpace(r) && !strings.ContainsRune("([{/,;:\"'`", r)
}

// marksAfter is the end of a word with the signs of C++ and C#.
func marksAfter(all []word, i int) int {
	for i++; touches(all, i) && (all[i].text == "+" || all[i].text == "#"); i++ {
	}
	return i
}

// gap is what is between two words, of which signs are some.
func gap(text string, all []word, i int) string { return text[all[i].to:all[i+1].from] }

// nameAt is a name of several words that begins with a word: Wi-Fi, node.js, R&D,
// anna.berg@example.com.
func nameAt(text string, all []word, i int) compound {
	name, signs, last := all[i].text, "", i
	for last+1 < len(all) && last-i < longestRun {
		next := last + 1
		if s := all[next]; (s.text == "&" || s.text == "@") && touches(all, next) && touches(all, next+1) {
			signs += s.text
			name, last = name+s.text+all[next+1].text, next+1
			continue
		}
		if g := gap(text, all, last); all[next].way != all[last].way || !strings.Contains("-._'’\"״׳·", g) || g == "" {
			break
		}
		name, last = name+all[next].text, next
	}
	if last == i || all[last].way == symbol || len(name) > longestName {
		return compound{}
	}
	if signs == "&" && last == i+2 {
		return compound{[]string{name}, i, last + 1, true}
	}
	if signs == "" {
		stem, _, _ := word{text: name, way: all[i].way}.forms()
		name = stem
	}
	return compound{terms: []string{name}, from: i, to: last + 1}
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isVersion reports whether a word is the first number of a version, as in v1.2.
func isVersion(text string) bool { return text[0] == 'v' && isNumber(text[1:]) }

// numberAt is a number of several parts that begins with a word: a version, a date, a
// time, an address of a network, a number with points; or a phone number.
func numberAt(text string, all []word, i int) compound {
	parts, seps := []string{strings.TrimPrefix(all[i].text, "v")}, ""
	last := i
	for last+1 < len(all) && isNumber(all[last+1].text) {
		g := gap(text, all, last)
		if len(g) != 1 || !strings.Contains(".,:/-", g) {
			break
		}
		seps += g
		last++
		parts = append(parts, all[last].text)
	}
	c := compound{from: i, to: last + 1, exact: true}
	if c.terms = dates(parts, seps); c.terms != nil {
		return c
	}
	if phone, end := phoneAt(text, all, i); phone != "" && len(parts) != 4 && end >= c.to {
		c.to, c.terms = end, []string{phone}
		if end == last+1 {
			c.terms = append([]string{strings.Join(parts, ".")}, phone)
		}
		return c
	}
	if len(parts) == 1 && !isVersion(all[i].text) {
		if c := groupsAt(text, all, i); c.terms != nil {
			return c
		}
		return besideNumber(text, all, i, i+1)
	}
	c.terms = []string{strings.Join(parts, ".")}
	if isThousands(parts) {
		c.terms = append(c.terms, strings.Join(parts, ""))
	}
	return c
}

// groupsAt is a number with spaces between its thousands that begins with a word.
func groupsAt(text string, all []word, i int) compound {
	parts, last := []string{all[i].text}, i
	for last+1 < len(all) && len(all[last+1].text) == 3 && isNumber(all[last+1].text) && gap(text, all, last) == " " {
		last++
		parts = append(parts, all[last].text)
	}
	if !isThousands(parts) || last-i >= longestRun {
		return compound{}
	}
	return compound{terms: []string{strings.Join(parts, "")}, from: i, to: last + 1}
}

// isThousands reports whether the parts are a number with its thousands apart.
func isThousands(parts []string) bool {
	for i, p := range parts {
		if i > 0 && len(p) != 3 || i == 0 && (len(p) > 3 || p[0] == '0') {
			return false
		}
	}
	return len(parts) > 1
}

// dates are the days that three numbers may be, as year.month.day: two where day and
// month are in doubt.
func dates(parts []string, seps string) (all []string) {
	if len(parts) != 3 || seps[0] != seps[1] || !strings.ContainsRune(".-/", rune(seps[0])) {
		return nil
	}
	add := func(year, month, day string) {
		year, month, day = strings.TrimLeft(year, "0"), strings.TrimLeft(month, "0"), strings.TrimLeft(day, "0")
		if within(month, 12) && within(day, 31) {
			all = append(all, strings.Join([]string{year, month, day}, "."))
		}
	}
	switch {
	case len(parts[0]) == 4:
		add(parts[0], parts[1], parts[2])
	case len(parts[2]) == 4:
		add(parts[2], parts[1], parts[0])
		if seps[0] == '/' && parts[0] != parts[1] {
			add(parts[2], parts[0], parts[1])
		}
	}
	return all
}

func within(number string, most int) bool {
	n := 0
	for _, d := range number {
		n = 10*n + int(d-'0')
		if n > most {
			return false
		}
	}
	return n > 0
}

// The digits of a phone number: how many, and the last ones that are the same wherever
// it is called from.
const (
	fewestDigits, mostDigits = 7, 15
	localDigits              = 7
)

// phoneAt is the term of a phone number that begins with a word, and its end, "" where
// none does.
func phoneAt(text string, all []word, i int) (term string, end int) {
	digits := ""
	for end = i; end < len(all) && isNumber(all[end].text) && len(digits) <= mostDigits; end++ {
		if end > i && strings.Trim(gap(text, all, end-1), " ()/.-") != "" {
			break
		}
		digits += all[end].text
	}
	if len(digits) < fewestDigits || len(digits) > mostDigits {
		return "", i
	}
	return "tel" + string(marker) + digits[len(digits)-localDigits:], end
}
