// Package phrase reads the words that people have for times, in English and Russian:
// when something is due once, or again and again. It never guesses: what is not clear is
// an UnclearError.
package phrase

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"klawbot/engine/internal/phrase/lexicon"
	"klawbot/engine/internal/times"
)

// ErrNoTime is the error of a text in which no time is found.
var ErrNoTime = errors.New("no time is said")

// Doubt is why a time is not clear.
type Doubt int

// The doubts. Words: a part of the text looks like a time and is none that is understood.
// Several: there is more than one time. Date: a date can be read in two ways. Zone: a
// zone can. Weekday: a date is another weekday. Repeat: a repetition is not understood.
// Hour: an hour can be in the night or in the afternoon. Day: a month has no such day.
const (
	DoubtWords Doubt = iota
	DoubtSeveral
	DoubtDate
	DoubtZone
	DoubtWeekday
	DoubtRepeat
	DoubtHour
	DoubtDay
)

// UnclearError is the error of a text that says a time which can be understood in more
// than one way, or only in part. Then it is better to ask.
type UnclearError struct {
	Why Doubt
	// Words are the words in question.
	Words string
	// Number is the hour of DoubtHour, or the day of DoubtDay.
	Number  int
	weekday time.Weekday
	month   time.Month
}

// Weekday is the weekday of a date in words, for DoubtWeekday.
func (e *UnclearError) Weekday(language string) string { return times.WeekdayName(e.weekday, language) }

// Month is the month of DoubtDay in words, as behind "in".
func (e *UnclearError) Month(language string) string { return times.MonthName(e.month, language) }

// Error says what is not clear, and what to write instead, for models.
func (e *UnclearError) Error() string {
	switch e.Why {
	case DoubtSeveral:
		return "more than one time: make one schedule for each time"
	case DoubtDate:
		return fmt.Sprintf("%q can be two dates: write 2026-12-05T09:00", e.Words)
	case DoubtZone:
		return fmt.Sprintf("%q is not a clear time zone: give tz, an IANA name such as Europe/Berlin", e.Words)
	case DoubtWeekday:
		return fmt.Sprintf("%s is a %s: check the day", e.Words, e.weekday)
	case DoubtRepeat:
		return `the repetition is not clear: write a cron expression, or words such as "every 2 weeks on Monday at 9"`
	case DoubtHour:
		return fmt.Sprintf("%q can be %02d:00 or %d:00: write one of them", e.Words, e.Number, e.Number+12)
	case DoubtDay:
		return fmt.Sprintf("%s has no day %d", e.month, e.Number)
	}
	return fmt.Sprintf(`%q is not clear: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`, e.Words)
}

// Wish is what a text asks to be reminded of: Text at a time, or again and again.
type Wish struct {
	At     time.Time
	Repeat times.Repeat // nil for one time
	// Zone is the zone of Repeat.
	Zone *time.Location
	Text string
}

// longestPhrase is how many words a time may have.
const longestPhrase = 24

// ParseWish finds the time in a text such as "tomorrow at 9 call mom", «позвонить маме
// через 20 минут» or "every weekday at 9 standup", at its beginning or at its end. A time
// of the day without a day is the next one that comes; a day without a time means 9 in
// the morning. Words of a time that are left over make an UnclearError; words in quotes
// are never words of a time.
func ParseWish(text string, now time.Time, zone *time.Location) (Wish, error) {
	text = unquoted(strings.TrimSpace(text))
	words := split(text)
	for len(words) > 0 && (isFiller(words[0].text) || strings.IndexFunc(words[0].text, isAlnum) < 0 && words[0].text != quotedWord) {
		words = words[1:]
	}
	if len(words) == 0 {
		return Wish{}, ErrNoTime
	}
	m, n := read(words[:min(len(words), longestPhrase)], true)
	rest := words[n:]
	if n == 0 {
		if m, n = readEnd(words); n > 0 {
			rest = words[:len(words)-n]
		}
	}
	if n == 0 {
		return Wish{}, noTime(words)
	}
	if m.err != nil {
		return Wish{}, blame(m.err, phrase(words, rest))
	}
	if len(rest) > 0 && !ownLine(text, words, rest) {
		if unclear := leftOver(m, words, rest); unclear != nil {
			return Wish{}, unclear
		}
	}
	w, err := m.wish(now, zone)
	w.Text = restOf(text, rest)
	if m.place != nil && err == nil {
		if !sameClock(m.place, w.Zone, w.At) {
			return Wish{}, &UnclearError{Why: DoubtZone, Words: m.placeWords}
		}
		if len(rest) > 0 && &rest[0] == &words[0] {
			w.Text += " " + m.placeWords
		}
	}
	return w, blame(err, phrase(words, rest))
}

// ownLine reports whether a line ends between a time and the text behind it: then the
// text is what stands in the other lines.
func ownLine(text string, words, rest []word) bool {
	n := len(words) - len(rest)
	return n > 0 && n < len(words) && &words[n] == &rest[0] && strings.Contains(text[words[n-1].to:rest[0].from], "\n")
}

// sameClock reports whether clocks in two zones show the same at a moment.
func sameClock(a, b *time.Location, at time.Time) bool {
	_, one := at.In(a).Zone()
	_, other := at.In(b).Zone()
	return one == other
}

// maxTime bounds a text that is nothing but a time, in bytes.
const maxTime = 500

// readWhole reads a text that is nothing but a time.
func readWhole(text string, now time.Time, zone *time.Location) (Wish, error) {
	if len(text) > maxTime {
		return Wish{}, ErrNoTime
	}
	words := split(text)
	m, n := read(words, true)
	switch {
	case m.err != nil:
		return Wish{}, blame(m.err, text)
	case n == 0:
		return Wish{}, ErrNoTime
	case n < len(words):
		if taken := readZoneName(&m, words[n:], true); taken == 0 || n+taken < len(words) {
			return Wish{}, &UnclearError{Words: phrase(words[n:], nil)}
		}
	}
	w, err := m.wish(now, zone)
	return w, blame(err, text)
}

// wish is the wish that a moment stands for, without its text.
func (m moment) wish(now time.Time, zone *time.Location) (w Wish, err error) {
	w.Zone = m.zoneOr(zone)
	if m.repeat == nil {
		w.At, err = m.time(now, zone)
		if err == nil {
			err = tooFar(w.At, now)
		}
		return w, err
	}
	if w.Repeat, err = m.repeats(now, w.Zone); err != nil {
		return w, err
	}
	if _, err := time.LoadLocation(w.Zone.String()); err != nil {
		return w, &UnclearError{Why: DoubtZone, Words: w.Zone.String()}
	}
	var ok bool
	if w.At, ok = w.Repeat.Next(now, w.Zone); !ok {
		err = times.ErrPast
	}
	return w, err
}

// readEnd reads the longest time at the end of some words, and returns how many words
// that are.
func readEnd(words []word) (moment, int) {
	for i := max(1, len(words)-longestPhrase); i < len(words); i++ {
		if m, n := read(words[i:], false); n == len(words)-i {
			return m, n
		}
	}
	return moment{}, 0
}

// noTime is the error of a text in which no time was found. One that begins with a
// repetition is asked about.
func noTime(words []word) error {
	if anyOf(at(words, 1), "times раза") && anyOf(at(words, 2), "a per в") || anyOf(words[0].text, lexicon.Every) || lexicon.Repeats[words[0].text] != 0 || anyOf(words[0].text, "biweekly bimonthly twice раз дважды") {
		return &UnclearError{Why: DoubtRepeat}
	}
	return ErrNoTime
}

// leftOver reports words of a time at the edges of what a time leaves of a text.
func leftOver(m moment, words, rest []word) error {
	first := &rest[0] == &words[0]
	if words := foreignTime(m, rest, first); words != "" {
		return &UnclearError{Words: words}
	}
	if !first && isJoint(rest[0].text) && len(rest) > 1 && anyOf(rest[0].text, "- to") {
		if n, ok := readInt(rest[1].text, 0, 24); timeAt(rest[1:]) > 0 || clockRange.MatchString(rest[1].text) || ok && n > 0 && rest[0].text == "-" && lexicon.Units[at(rest, 2)] == 0 {
			return &UnclearError{Words: phrase(rest[:2], nil)} // "at 9 - 10", "5 May to 7 May"
		}
	}
	if !first && !isJoint(rest[0].text) {
		if n := cmp.Or(leading(m, rest), saidBehind(m, rest)); n > 0 {
			return &UnclearError{Words: phrase(rest[:min(n, len(rest))], nil)}
		}
	}
	if first {
		if belongs(m, rest[len(rest)-1], at(words, len(rest))) {
			return &UnclearError{Words: phrase(words[len(rest)-1:], nil)}
		}
		if n := connected(rest); n > 0 {
			return &UnclearError{Words: phrase(rest[:n], nil)}
		}
		if n := saidBefore(m, rest); n > 0 {
			return &UnclearError{Words: phrase(rest[len(rest)-n:], nil)}
		}
		return nil
	}
	if _, n := readEnd(rest); n > 0 {
		return &UnclearError{Words: phrase(rest[len(rest)-n:], nil)}
	}
	return nil
}

// foreignTime are words beside a time that say one in another language: the "morgen" of
// "Zahnarzt morgen 9:00", the "um 9" of "3.1. um 9 Zahnarzt".
func foreignTime(m moment, rest []word, first bool) string {
	for i, w := range rest {
		if !first && i > 2 && i < len(rest)-2 || first && i < len(rest)-3 || m.dated() || m.repeat != nil {
			continue // in the middle of the text, or nothing is missing
		}
		isDate := i > 0 && (rest[i-1].text == "de" || strings.IndexFunc(rest[i-1].text, unicode.IsDigit) == 0)
		signs := slices.ContainsFunc(lexicon.ForeignSigns, func(s string) bool { return strings.Contains(w.text, s) })
		if signs || anyOf(w.text, lexicon.Foreign) || isDate && anyOf(w.text, lexicon.ForeignMonths) {
			return phrase(rest[i:i+1], nil)
		}
	}
	if !first && !m.isClock() {
		n := 0
		for anyOf(at(rest, n), "um à a alle as às las la om o kl о") && n < 2 {
			n++
		}
		if n > 0 && foreignClock.MatchString(at(rest, n)) {
			return phrase(rest[:n+1], nil)
		}
	}
	return ""
}

// foreignClock is a time of the day as other languages write it.
var foreignClock = regexp.MustCompile(`^\d{1,2}(?:[:.h]\d{0,2})?$`)

// leading is how many words at the beginning of what follows a time are words of a time.
func leading(m moment, rest []word) int {
	w := rest[0].text
	if n := connected(rest); n > 0 {
		return n
	}
	if !m.exact() && anyOf(w, lexicon.Before+" after past после of") && w != "by" {
		return 2 // "10 minutes before lunch", "two days after the party"
	}
	if anyOf(w, "after") && at(rest, 1) == "next" || anyOf(w, "ago later earlier sooner назад раньше позже спустя") {
		return 1
	}
	if anyOf(w, "minus минус plus плюс") && len(rest) > 1 && (strings.IndexFunc(rest[1].text, unicode.IsDigit) == 0 || readLengths(&moment{}, rest[1:], true) > 0) {
		return 2 // "at 9 plus 30 minutes", but not "plus one"
	}
	if m.repeat != nil && (anyOf(w, "except excluding but кроме until till до for starting beginning начиная")) {
		return 2
	}
	if n := max(exception(rest), repetition(rest)); n > 0 {
		return n
	}
	if _, ok := readInt(at(rest, 1), 1, 31); ok && anyOf(w, lexicon.Join) && (m.isDate && !m.exact() || m.isClock() && !m.minutes && lexicon.Units[at(rest, 2)] == 0) {
		return 2 // "December 3 and 5 …", "at 8 and 20 …"
	}
	if ordinal, _ := readOrdinal(rest[min(1, len(rest)-1):]); anyOf(w, lexicon.Join) && ordinal > 0 && m.isDate && !m.exact() {
		return 2 // "on the 30th and 31st"
	}
	if m.isDate && m.month != 0 && m.year == 0 && !m.exact() && shortYear.MatchString(w) && lexicon.Units[at(rest, 1)] == 0 {
		return 1 // "30 Nov 27"
	}
	if anyOf(w, lexicon.Join) && at(rest, 1) == "the" && at(rest, 2) == "day" && at(rest, 3) == "after" {
		return 4
	}
	if anyOf(w, "с") && anyOf(at(rest, 1), "лишним небольшим хвостиком гаком") || anyOf(w, "or") && anyOf(at(rest, 1), "so") {
		return 2 // «через час с лишним»
	}
	if anyOf(w, lexicon.Join) && at(rest, 1) == "a" && at(rest, 2) == "bit" {
		return 3
	}
	if anyOf(w, "no not не") && anyOf(at(rest, 1), "later earlier позже позднее раньше") {
		return 2
	}
	if anyOf(w, "twice thrice дважды") || anyOf(at(rest, 1), "times раз раза") && anyOf(at(rest, 2), "a per в") {
		return 2
	}
	if n := aroundWeeks(rest); n > 0 {
		return n
	}
	if m.dated() && !m.isClock() && !m.isSpan && looseClock.MatchString(w) {
		return 1 // "tomorrow 21.30 …", "tomorrow @9pm …"
	}
	if !m.exact() && (w == "часов" && at(rest, 1) == "в" || w == "в" && at(rest, 1) == "районе") {
		return 3 // «завтра часов в 9 …»
	}
	if clockRange.MatchString(w) || gluedClock.MatchString(w) || anyOf(w, "at") && roughClock.MatchString(at(rest, 1)) || roughClock.MatchString(w) || genitiveTime(w) {
		return 1 // "tomorrow 9-10", "tomorrow 9ish", «в 15:00 понедельника»
	}
	if lexicon.Units[w] >= week && m.weekdays != 0 || w == "week" && m.isDay && !m.exact() || m.isSpan && anyOf(w, "другой другую") {
		return 1 // "Friday week", "tomorrow week", «через минуту другую»
	}
	if anyOf(w, "at @ в") && strings.IndexFunc(at(rest, 1), unicode.IsDigit) == 0 {
		return 2 // "at 9+3", "at 9ish"
	}
	for i := 1; m.exact() && i < min(4, len(rest)) && unicode.IsUpper([]rune(rest[i-1].raw)[0]); i++ {
		if rest[i].text == "time" {
			return i + 1 // "Central African Time"
		}
	}
	if anyOf(w, lexicon.Approximately) {
		if n := timeAt(rest[1:]); n > 0 {
			return 1 + n
		}
		if _, ok := readInt(at(rest, 1), 0, 24); ok || isPart(at(rest, 1)) {
			return 2
		}
	}
	if !m.exact() && anyOf(w, "at during в за на") && anyOf(at(rest, 1), lexicon.Meals) {
		return 2
	}
	if _, ok := readInt(w, 0, 59); ok && w[0] <= '9' && lexicon.Units[at(rest, 1)] == 0 {
		hours := m.isSpan && m.anchor == 0 && m.after > 0 && m.after%time.Hour == 0
		switch {
		case len(w) == 2 && (m.isClock() && !m.minutes || hours):
			return 1 // "at 9 30 …", "in 2h 30 …"
		case !m.exact() && m.dated() && !m.isSpan && number(w) <= 24:
			return 1 // "tomorrow 9 …"
		}
	}
	if lexicon.Repeats[w] != 0 && len(rest) > 1 && (m.isDay || m.isDate || m.isSpan) {
		return 0 // "tomorrow at 9 weekly report"
	}
	if n := timeAt(rest); n > 0 {
		return n
	}
	if n := spanBefore(rest); n > 0 {
		return n
	}
	return 0
}

// exception is how many words leave days out: "except on Sundays", «кроме выходных».
func exception(rest []word) int {
	if !anyOf(rest[0].text, "except excluding but кроме исключая") {
		return 0
	}
	n := 1
	for anyOf(at(rest, n), "not on for in the в во по на") {
		n++
	}
	_, plural := lexicon.PluralWeekdays[at(rest, n)]
	_, weekday := lexicon.GenitiveWeekdays[at(rest, n)]
	if plural || weekday || anyOf(at(rest, n), lexicon.Weekends+" выходных holidays праздников") || n < len(rest) && timeAt(rest[n:]) > 0 {
		return n + 1
	}
	return 0
}

// repetition is how many words repeat what stands before them: "repeating weekly",
// "followed by every Monday", «с повтором каждую неделю».
func repetition(rest []word) int {
	n := 1
	switch w := rest[0].text; {
	case w == "followed" && at(rest, 1) == "by", w == "с" && at(rest, 1) == "повтором":
		n = 2
	case !anyOf(w, "repeat repeats repeating recurring повторять повторяя повтор"):
		return 0
	}
	if n < len(rest) && timeAt(rest[n:]) > 0 {
		return n + 1
	}
	return 0
}

// aroundWeeks is how many words speak of a week or weekend that is not read as a time:
// "on the weekend", "last month", «в выходные».
func aroundWeeks(rest []word) int {
	n := 0
	for anyOf(at(rest, n), "on at in the this next last coming в на эти этой прошлой следующей") {
		n++
	}
	if anyOf(at(rest, n), "week month") && at(rest, n+1) == "after" && at(rest, n+2) == "next" {
		return n + 3
	}
	if n > 0 && anyOf(at(rest, n), lexicon.Weekends) || n > 0 && anyOf(at(rest, n-1), "this next last coming этой прошлой следующей") && (lexicon.Units[at(rest, n)] >= day || anyOf(at(rest, n), "неделе")) {
		return n + 1
	}
	return 0
}

// looseClock is what may be a time of the day, or another number.
var looseClock = regexp.MustCompile(`^(?:@\d{1,2}(?:[:.]\d{2})?(?:am|pm)?|\d{1,2}[.h]\d{2}(?:am|pm)?|(?:[01]\d|2[0-3])[0-5]\d)$`)

// roughClock is a time of the day that is not exact.
var roughClock = regexp.MustCompile(`^(?:[~≈]\d{1,2}(?:[:.]\d{2})?(?:am|pm)?|\d{1,2}(?:[:.]\d{2})?(?:am|pm)?-?ish|(?:noon|midday|midnight)-?ish)$`)

// clockRange are two times of a day, or a number in doubt: "9-10", "9am-10am", "9/10".
var clockRange = regexp.MustCompile(`^\d{1,2}(?:[:.]\d{2})?(?:am|pm)?[-/]\d{1,2}(?:[:.]\d{2})?(?:am|pm)?$`)

// shortYear is a year of two digits, or another number.
var shortYear = regexp.MustCompile(`^'?\d{2}$`)

// gluedClock is a time of the day with a word that no blank parts from it: "9:00,call".
var gluedClock = regexp.MustCompile(`^\d{1,2}:\d{2}[^\d:]`)

// isPart reports a part of the day, alone.
func isPart(w string) bool { return lexicon.Parts[w] != 0 || lexicon.RepeatedParts[w] != 0 }

// connected is how many words a connecting word and the time behind it have: "and Friday",
// "before 18:00".
func connected(rest []word) int {
	if len(rest) < 2 || !anyOf(rest[0].text, lexicon.Join+" "+lexicon.Before+" "+lexicon.After+" between между то then по through thru") {
		return 0
	}
	if anyOf(rest[0].text, lexicon.Join) && anyOf(rest[1].text, "then also затем потом далее также") && len(rest) > 2 {
		if n := timeAt(rest[2:]); n > 0 {
			return 2 + n
		}
	}
	if n := timeAt(rest[1:]); n > 0 {
		return 1 + n
	}
	if isPart(rest[1].text) && anyOf(rest[0].text, lexicon.Join) {
		return 2
	}
	if genitiveTime(rest[1].text) {
		return 2
	}
	if n, ok := readInt(rest[1].text, 0, 24); ok && n > 0 && lexicon.Units[at(rest, 2)] == 0 &&
		(len(rest) == 2 || anyOf(rest[0].text, "before until till by до or или") || anyOf(at(rest, 2), "to and until till - до по и")) {
		return 2
	}
	return 0
}

// genitiveTime reports words such as «пятницы» and «полудня», which follow a preposition.
func genitiveTime(w string) bool {
	_, weekday := lexicon.GenitiveWeekdays[w]
	return weekday || anyOf(w, "вечера утра ночи полудня полуночи")
}

// spanBefore is how many words a length of time has that another word ties to a time:
// "an hour before 6", «за час до обеда».
func spanBefore(rest []word) int {
	var m moment
	n := 0
	if anyOf(at(rest, 0), "за на") {
		n = 1
	}
	taken := readLengths(&m, rest[n:], true)
	if taken > 0 && anyOf(at(rest, n+taken), "before after from ago earlier later до после назад раньше позже спустя") {
		return n + taken + 1
	}
	return 0
}

// timeAt is how many words at the beginning say a time, wherever they stand.
func timeAt(words []word) int {
	_, n := read(words[:min(len(words), longestPhrase)], false)
	return n
}

// word is a word of a text, in lower case and without the marks around it.
type word struct {
	text     string
	raw      string
	from, to int
}

// split takes a text into words. Words in quotes are no words of a time: their text is
// a mark that nothing matches.
func split(text string) []word {
	var all []word
	start := -1
	add := func(end int) {
		if start >= 0 {
			raw := text[start:end]
			all = append(all, word{plain(raw), raw, start, end})
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
	quoted(all)
	return all
}

// longestQuote is how many words there may be in quotes.
const longestQuote = 100

// quotedWord is the text of a word in quotes.
const quotedWord = "\x00"

// quotes are opening marks with their closing ones.
var quotes = map[rune]string{'"': `"`, '«': "»", '“': "”", '„': "“”", '\'': "'", '‘': "’"}

// quoted marks the words in quotes, unless all of the text is.
func quoted(all []word) {
	for i := 0; i < len(all); i++ {
		open, size := utf8.DecodeRuneInString(all[i].raw)
		closing := quotes[open]
		for j := i; closing != "" && j < min(len(all), i+longestQuote); j++ {
			raw := strings.TrimRight(all[j].raw, ".,;:!?")
			if last, _ := utf8.DecodeLastRuneInString(raw); !strings.ContainsRune(closing, last) || j == i && len(raw) <= size {
				continue
			}
			if i == 0 && j == len(all)-1 {
				return
			}
			for k := i; k <= j; k++ {
				all[k].text = quotedWord
			}
			i = j
			break
		}
	}
}

var sameSigns = strings.NewReplacer("ё", "е", "’", "'", "−", "-", "–", "-", "½", ".5", "¼", ".25", "¾", ".75")

// narrow is a sign of wide scripts in its usual width, -1 for a sign without a width.
func narrow(r rune) rune {
	switch {
	case unicode.Is(unicode.Cf, r):
		return -1
	case r > '\uff00' && r < '\uff5f':
		return r - '\uff01' + '!'
	}
	return r
}

func plain(written string) string {
	w := sameSigns.Replace(strings.ToLower(strings.Map(narrow, written)))
	w = strings.Trim(w, ",;!?\"«»“”„()")
	switch w {
	case "a.m.", "a.m":
		return "am"
	case "p.m.", "p.m":
		return "pm"
	}
	return strings.TrimRight(w, ".:'")
}

// isFiller reports whether a word before a time says nothing about it.
func isFiller(w string) bool {
	return w == "" || anyOf(w, "remind me please напомни мне пожалуйста напомнить напомните")
}

// restOf is the text of some words, without the word that joins it to the time.
func restOf(text string, words []word) string {
	for len(words) > 0 && (words[0].text == "" || isJoint(words[0].text)) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return unquoted(strings.Trim(text[words[0].from:words[len(words)-1].to], ",;:–—- "))
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// unquoted is a text without the quotes around all of it.
func unquoted(rest string) string {
	open, size := utf8.DecodeRuneInString(rest)
	last, lastSize := utf8.DecodeLastRuneInString(rest)
	if closing := quotes[open]; closing != "" && len(rest) > size+lastSize && strings.ContainsRune(closing, last) && !strings.ContainsRune(rest[size:len(rest)-lastSize], open) {
		return strings.TrimSpace(rest[size : len(rest)-lastSize])
	}
	return rest
}

// phrase are the words as written, without those of rest at their beginning or end.
func phrase(words, rest []word) string {
	if len(rest) > 0 && len(rest) < len(words) {
		if &rest[0] == &words[0] {
			words = words[len(rest):]
		} else {
			words = words[:len(words)-len(rest)]
		}
	}
	raws := make([]string, len(words))
	for i, w := range words {
		raws[i] = w.raw
	}
	return quote(strings.Trim(strings.Join(raws, " "), ",;: "))
}

// blame sets the words of an unclear time when it has none.
func blame(err error, words string) error {
	if unclear, ok := errors.AsType[*UnclearError](err); ok && unclear.Words == "" {
		unclear.Words = words
	}
	return err
}

func isJoint(w string) bool {
	return anyOf(w, "to that about - – — что о об чтобы")
}

// at is the text of the i-th word, "" when there is none.
func at(words []word, i int) string {
	if i < len(words) {
		return words[i].text
	}
	return ""
}
