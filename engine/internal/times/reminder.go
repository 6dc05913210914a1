package times

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// ErrNoTime is the error of a text in which no time is found.
var ErrNoTime = errors.New("no time is said")

// longestPhrase is how many words a time at the end of a text may have.
const longestPhrase = 16

// ParseReminder finds the time in a text such as "tomorrow at 9 call mom" or
// «позвонить маме через 20 минут», in English or Russian, or an ISO time, at its
// beginning or at its end, and returns it with the rest. A time of the day without a day is the
// next one that comes; a day without a time means 9 in the morning.
func ParseReminder(text string, now time.Time, zone *time.Location) (at time.Time, rest string, err error) {
	words := split(text)
	from := 0
	for from < len(words) && isFiller(words[from].text) {
		from++
	}
	if from < len(words) {
		if at, err := parseISO(strings.ToUpper(words[from].text), zone); !errors.Is(err, errNoTime) {
			return at, restOf(text, words[from+1:]), err
		}
	}
	if m, n := read(words[from:min(len(words), from+longestPhrase)], true); n > 0 {
		at, err = m.time(now, zone)
		return at, restOf(text, words[from+n:]), err
	}
	if end := len(words) - 1; end > from {
		if at, err := parseISO(strings.ToUpper(words[end].text), zone); !errors.Is(err, errNoTime) {
			if anyOf(words[end-1].text, "on at") {
				end--
			}
			return at, restOf(text, words[from:end]), err
		}
	}
	for i := max(from+1, len(words)-longestPhrase); i < len(words); i++ {
		if m, n := read(words[i:], false); n > 0 && n == len(words)-i {
			at, err = m.time(now, zone)
			return at, restOf(text, words[from:i]), err
		}
	}
	return at, "", ErrNoTime
}

// Recurs reports whether a text asks to be reminded again and again.
func Recurs(text string) bool {
	for _, w := range split(text) {
		if !isFiller(w.text) {
			return anyOf(w.text, "every each daily weekly monthly hourly каждый каждую каждое каждые ежедневно еженедельно ежемесячно")
		}
	}
	return false
}

// word is a word of a text, in lower case and without the marks around it.
type word struct {
	text     string
	from, to int
}

func split(text string) []word {
	var all []word
	start := -1
	add := func(end int) {
		if start >= 0 {
			all = append(all, word{plain(text[start:end]), start, end})
		}
		start = -1
	}
	for i, r := range text {
		if unicode.IsSpace(r) {
			add(i)
		} else if start < 0 {
			start = i
		}
	}
	add(len(text))
	return all
}

func plain(written string) string {
	w := strings.ReplaceAll(strings.ToLower(written), "ё", "е")
	w = strings.Trim(w, ",;!?\"«»()")
	switch w {
	case "a.m.", "a.m":
		return "am"
	case "p.m.", "p.m":
		return "pm"
	}
	return strings.TrimRight(w, ".:")
}

// isFiller reports whether a word before a time says nothing about it.
func isFiller(w string) bool {
	switch w {
	case "", "remind", "me", "please", "напомни", "мне", "пожалуйста":
		return true
	}
	return false
}

// restOf is the text of some words, without the word that joins it to the time.
func restOf(text string, words []word) string {
	for len(words) > 0 && (words[0].text == "" || isJoint(words[0].text)) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Trim(text[words[0].from:words[len(words)-1].to], ",;:–—- ")
}

func isJoint(w string) bool {
	switch w {
	case "to", "that", "about", "-", "–", "—", "что", "о", "об", "чтобы":
		return true
	}
	return false
}

// read reads as many words as say a time, and returns how many that are. At the
// beginning of a text a bare "10 minutes" is one, later only "in 10 minutes".
func read(words []word, beginning bool) (m moment, n int) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	for n < len(texts) {
		taken := m.readAfter(texts[n:], beginning && n == 0)
		for _, rule := range []func([]string) int{m.readDay, m.readDate, m.readWeekday, m.readClock, m.readPart} {
			if taken > 0 {
				break
			}
			taken = rule(texts[n:])
		}
		if taken == 0 {
			break
		}
		n += taken
	}
	return m, n
}

// at is the i-th word, "" when there is none.
func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}
