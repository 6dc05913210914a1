package times

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const day = 24 * time.Hour

// The words of times, in both languages.
var (
	unitWords = named(map[time.Duration]string{
		time.Second: "s sec secs second seconds с сек секунду секунды секунд",
		time.Minute: "m min mins minute minutes м мин минуту минуты минут минутку",
		time.Hour:   "h hr hrs hour hours ч час часа часов часик",
		day:         "d day days д день дня дней",
		7 * day:     "w week weeks неделю недели недель",
		30 * day:    "month months месяц месяца месяцев", // stands for a month of the calendar
	})
	numberWords = named(map[float64]string{
		0.5: "half пол", 1: "a an one один одну", 1.5: "полтора полторы", 2: "two два две пару", 3: "three три", 4: "four четыре", 5: "five пять",
		6: "six шесть", 7: "seven семь", 8: "eight восемь", 9: "nine девять", 10: "ten десять", 15: "fifteen пятнадцать",
		20: "twenty двадцать", 30: "thirty тридцать", 40: "forty сорок",
	})
	weekdayWords = named(map[time.Weekday]string{
		time.Monday: "monday mon понедельник пн", time.Tuesday: "tuesday tue вторник вт", time.Wednesday: "wednesday wed среду среда ср",
		time.Thursday: "thursday thu четверг чт", time.Friday: "friday fri пятницу пятница пт", time.Saturday: "saturday sat субботу суббота сб",
		time.Sunday: "sunday sun воскресенье вс",
	})
	monthWords = named(map[int]string{
		1: "january jan января", 2: "february feb февраля", 3: "march mar марта", 4: "april apr апреля", 5: "may мая", 6: "june jun июня",
		7: "july jul июля", 8: "august aug августа", 9: "september sep sept сентября", 10: "october oct октября", 11: "november nov ноября", 12: "december dec декабря",
	})
	dayWords  = named(map[int]string{0: "today сегодня", 1: "tomorrow завтра", 2: "послезавтра"})
	partWords = named(map[time.Duration]string{
		morning: "morning утром утра", afternoon: "afternoon днем дня", evening: "evening вечером вечера", night: "night ночью ночи",
	})
	clockWords = named(map[time.Duration]string{12 * time.Hour: "noon полдень", day: "midnight полночь"})
)

// named turns lists of words into a table by word.
func named[V comparable](lists map[V]string) map[string]V {
	table := map[string]V{}
	for v, words := range lists {
		for _, w := range strings.Fields(words) {
			table[w] = v
		}
	}
	return table
}

// anyOf reports whether a word is one of a list.
func anyOf(w, list string) bool {
	for _, l := range strings.Fields(list) {
		if l == w {
			return true
		}
	}
	return false
}

// compact is a duration without blanks: "20m", "1h30m", «20мин».
var compact = regexp.MustCompile(`^(?:\d{1,6}\p{L}+){1,4}$`)

var compactPart = regexp.MustCompile(`(\d{1,6})(\p{L}+)`)

// readAfter reads a time from now on: "in 20 minutes", «через полтора часа».
func (m *moment) readAfter(words []string, bare bool) int {
	said := anyOf(at(words, 0), "in after через")
	n := 0
	if said {
		n++
	}
	was := *m
	for n < len(words) {
		taken := m.readSpan(words[n:], said || bare)
		joint := 0
		if taken == 0 && m.isAfter && anyOf(at(words, n), "and и") {
			joint = 1
			taken = m.readSpan(words[n+1:], true)
		}
		if taken == 0 {
			break
		}
		n += joint + taken
	}
	if m.isAfter == was.isAfter && m.after == was.after && m.days == was.days && m.months == was.months {
		return 0
	}
	return n
}

// readSpan reads one length of time, of which there may be several.
func (m *moment) readSpan(words []string, spaced bool) int {
	w := at(words, 0)
	if compact.MatchString(w) {
		return m.readCompact(w)
	}
	if !spaced {
		return 0
	}
	switch {
	case w == "полчаса":
		m.add(0.5, time.Hour)
		return 1
	case w == "half" && anyOf(at(words, 1), "a an") && unitWords[at(words, 2)] != 0:
		m.add(0.5, unitWords[at(words, 2)])
		return 3
	case w == "a" && at(words, 1) == "half" && m.isAfter:
		m.add(0.5, time.Hour)
		return 2
	case unitWords[w] != 0 && len([]rune(w)) > 1 && !strings.HasSuffix(w, "s"):
		m.add(1, unitWords[w]) // «через час»
		return 1
	}
	n, ok := readNumber(w)
	unit := unitWords[at(words, 1)]
	if !ok || unit == 0 {
		return 0
	}
	m.add(n, unit)
	return 2
}

func (m *moment) readCompact(w string) int {
	was := *m
	for _, p := range compactPart.FindAllStringSubmatch(w, -1) {
		unit := unitWords[p[2]]
		n, err := strconv.Atoi(p[1])
		if unit == 0 || err != nil {
			*m = was
			return 0
		}
		m.add(float64(n), unit)
	}
	return 1
}

// add adds a number of units to the time from now on.
func (m *moment) add(n float64, unit time.Duration) {
	m.isAfter = true
	switch whole := n == float64(int(n)); {
	case unit == 30*day && whole:
		m.months += int(n)
	case unit >= day && whole:
		m.days += int(n) * int(unit/day)
	default:
		m.after += time.Duration(n * float64(unit))
	}
}

// readNumber reads a number in digits or one of the words for small ones.
func readNumber(w string) (float64, bool) {
	if n, ok := numberWords[w]; ok {
		return n, true
	}
	if strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' }) >= 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.Replace(w, ",", ".", 1), 64)
	return n, err == nil && n > 0 && n < 1e6
}

// readDay reads "tomorrow", "the day after tomorrow", "tonight".
func (m *moment) readDay(words []string) int {
	if m.dated() {
		return 0
	}
	n := 0
	if at(words, 0) == "the" {
		n++
	}
	if at(words, n) == "day" && at(words, n+1) == "after" && at(words, n+2) == "tomorrow" {
		m.ahead, m.isDay = 2, true
		return n + 3
	}
	if words[0] == "tonight" {
		m.isDay, m.part, m.isPart = true, evening, true
		return 1
	}
	ahead, ok := dayWords[words[0]]
	if !ok {
		return 0
	}
	m.ahead, m.isDay = ahead, true
	return 1
}

func (m *moment) dated() bool { return m.isDay || m.isWeekday || m.isDate || m.isAfter }

// readWeekday reads "on Monday", "next Friday", «в следующую среду».
func (m *moment) readWeekday(words []string) int {
	if m.dated() {
		return 0
	}
	n, later := 0, false
	if anyOf(words[0], "on в во") {
		n++
	}
	switch {
	case anyOf(at(words, n), "next следующий следующую следующее"):
		n, later = n+1, true
	case anyOf(at(words, n), "this этот эту это"):
		n++
	}
	weekday, ok := weekdayWords[at(words, n)]
	if !ok || n == 0 && len([]rune(words[0])) <= 3 {
		return 0 // "sat" alone may be another word
	}
	m.weekday, m.isWeekday, m.later = weekday, true, later
	return n + 1
}

var (
	isoDate    = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)
	dottedDate = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})(?:\.(\d{4}))?$`)
	dayOfMonth = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th|-го|го)?$`)
	yearWord   = regexp.MustCompile(`^(20\d\d)$`)
)

// readDate reads a day of the calendar: "5 May", "May 5", "5.12.2026", "2026-12-05".
func (m *moment) readDate(words []string) int {
	if m.dated() {
		return 0
	}
	n := 0
	if anyOf(words[0], "on") {
		n++
	}
	if d := isoDate.FindStringSubmatch(at(words, n)); d != nil {
		return m.onDay(number(d[1]), number(d[2]), number(d[3]), n+1)
	}
	if d := dottedDate.FindStringSubmatch(at(words, n)); d != nil {
		return m.onDay(number(d[3]), number(d[2]), number(d[1]), n+1)
	}
	month, date, next := 0, "", n+2
	if month = monthWords[at(words, n+1)]; month != 0 {
		date = at(words, n)
	} else if month = monthWords[at(words, n)]; month != 0 {
		date = at(words, n+1)
	}
	d := dayOfMonth.FindStringSubmatch(date)
	if month == 0 || d == nil {
		return 0
	}
	year := 0
	if y := yearWord.FindString(at(words, next)); y != "" {
		year, next = number(y), next+1
		if anyOf(at(words, next), "года г") {
			next++
		}
	}
	return m.onDay(year, month, number(d[1]), next)
}

func (m *moment) onDay(year, month, date, taken int) int {
	if month < 1 || month > 12 || date < 1 || date > 31 {
		return 0
	}
	m.year, m.month, m.date, m.isDate = year, month, date, true
	return taken
}

// clockText is a time of the day: "9:30", "9.30", "9:30pm", "9am", "9".
var clockText = regexp.MustCompile(`^(\d{1,2})(?:([:.])(\d{2})(?::(\d{2}))?)?(am|pm)?$`)

// readClock reads a time of the day: "at 9", "9:30 pm", «в 9 часов», "noon".
func (m *moment) readClock(words []string) int {
	if m.isClock || m.isAfter && m.days == 0 && m.months == 0 {
		return 0
	}
	n := 0
	said := anyOf(words[0], "at @ в во к")
	if said {
		n++
	}
	if clock, ok := clockWords[at(words, n)]; ok {
		m.clock, m.isClock, m.twelve = clock, true, true
		return n + 1
	}
	if said && at(words, n) == "час" { // «в час дня»
		m.clock, m.isClock = time.Hour, true
		return n + 1
	}
	c := clockText.FindStringSubmatch(at(words, n))
	if c == nil {
		return 0
	}
	n++
	half := c[5]
	if half == "" && anyOf(at(words, n), "am pm") {
		half, n = words[n], n+1
	}
	// A bare number is a time only where one is expected.
	if c[2] != ":" && half == "" && !said && !(m.isDay || m.isWeekday || m.isDate) {
		return 0
	}
	if anyOf(at(words, n), "o'clock час часа часов") && c[2] == "" {
		n++
		if minutes, err := strconv.Atoi(at(words, n)); err == nil && minutes < 60 && anyOf(at(words, n+1), "минут минуты минуту") {
			c[3], n = at(words, n), n+2
		}
	}
	if !m.setClock(number(c[1]), number(c[3]), number(c[4]), half) {
		return 0
	}
	return n
}

// setClock sets a time of the day, and reports false when there is none such.
func (m *moment) setClock(hour, minute, second int, half string) bool {
	if hour > 24 || minute > 59 || second > 59 || hour == 24 && minute+second > 0 || half != "" && (hour < 1 || hour > 12) {
		return false
	}
	if half != "" {
		hour %= 12
		m.twelve = true
	}
	if half == "pm" {
		hour += 12
	}
	m.clock = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	m.isClock = true
	return true
}

// readPart reads a part of the day: "in the evening", «утром», «вечера».
func (m *moment) readPart(words []string) int {
	if m.isPart {
		return 0
	}
	n := 0
	switch {
	case words[0] == "in" && at(words, 1) == "the":
		n = 2
	case words[0] == "at" && at(words, 1) == "night", words[0] == "this":
		n = 1
	}
	part, ok := partWords[at(words, n)]
	if !ok || n == 0 && !m.isClock && !m.isDay && !m.isWeekday && !m.isDate && !anyOf(words[0], "утром вечером") {
		return 0
	}
	m.part, m.isPart = part, true
	if words[0] == "this" && !m.dated() {
		m.isDay = true
	}
	return n + 1
}
