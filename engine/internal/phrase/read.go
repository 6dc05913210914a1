package phrase

import (
	"regexp"
	"strings"
	"time"

	"klawbot/engine/internal/phrase/lexicon"
	"klawbot/engine/internal/times"
)

// read reads as many words as say a time, and returns how many that are. At the
// beginning of a text a bare "10 minutes" is one, later only "in 10 minutes". Words that
// are a time which cannot be, such as the 30th of February, set m.err.
func read(words []word, beginning bool) (m moment, n int) {
	m.beginning = beginning
	for n < len(words) && m.err == nil {
		if n > 0 && strings.HasSuffix(words[n-1].raw, ":") {
			break // "on Friday: Friday prayers"
		}
		clocks := len(m.clocks)
		taken := readRepeat(&m, words[n:])
		if taken == 0 {
			taken = readSpan(&m, words[n:], beginning && n == 0)
		}
		for _, rule := range []func(*moment, []word) int{readISO, readDay, readWeek, readDate, readWeekday, readClock, readPart, readZone} {
			if taken > 0 || m.err != nil {
				break
			}
			taken = rule(&m, words[n:])
		}
		if taken == 0 {
			break
		}
		n += taken
		m.behindClock = len(m.clocks) > clocks
	}
	if m.err == nil && !m.complete() {
		return moment{}, 0
	}
	if m.err != nil {
		n = max(n, 1)
	}
	return m, n
}

// readISO reads "2026-12-05T09:00", perhaps with an offset.
func readISO(m *moment, w []word) int {
	n := 0
	if anyOf(w[0].text, "on at") {
		n++
	}
	d := isoTime.FindStringSubmatch(strings.ToUpper(at(w, n)))
	if d == nil || m.dated() || m.isClock() {
		return 0
	}
	if _, err := parseISO(strings.ToUpper(at(w, n)), time.UTC); err != nil {
		m.err = err
		return n + 1
	}
	c := clockText.FindStringSubmatch(d[2])
	m.setClock(number(c[1]), number(c[3]), number(c[4]), "")
	day := isoDate.FindStringSubmatch(d[1])
	m.minutes, m.zone = true, times.OffsetZone(d[3])
	return m.onDay(number(day[1]), number(day[2]), number(day[3]), n+1)
}

// compact is a duration without blanks: "20m", "1h30m", «20мин».
var compact = regexp.MustCompile(`^(?:\d{1,6}\p{L}+){1,4}$`)

var compactPart = regexp.MustCompile(`(\d{1,6})(\p{L}+)`)

// readSpan reads a time from now on, "in 20 minutes", «через полтора часа», or from
// another time: "3 days before", «за час до».
func readSpan(m *moment, w []word, bare bool) int {
	if m.isSpan || m.repeat != nil {
		return 0
	}
	n := 0
	said := anyOf(w[0].text, "in after через спустя")
	back := anyOf(w[0].text, "за")
	if said || back || w[0].text == "the" && anyOf(at(w, 1), "day week month hour") {
		n++
	}
	was := *m
	taken := readLengths(m, w[n:], true)
	if taken == 0 {
		*m = was
		return 0
	}
	length := n
	n += taken
	anchor, words := anchorOf(w[n:])
	// A bare length needs an anchor, but for one at the beginning of a text.
	if anchor != 0 && (timeAt(w[n+words:]) > 0 || genitive(w[n+words:]) || bareHour(w[n+words:])) {
		m.isSpan, m.anchor = true, anchor
		n += words
		return n + readAnchor(m, w[n:])
	}
	switch {
	case at(w, n) == "from" && anyOf(at(w, n+1), "now today") || anyOf(at(w, n), "later"), said && at(w, n) == "time":
		if n++; at(w, n-1) == "from" {
			n++
		}
		said = true
	case at(w, n) == "on" && weekdayAt(at(w, n+1)) >= 0 && m.days%7 == 0 && m.after == 0 && m.months == 0 && !said && m.days > 0: // "a week on Friday"
		m.isSpan, m.anchor = true, 1
		return n
	}
	if !said && at(w, n) == "to" && bareHour(w[n+1:]) { // "20 minutes to 7" is a time of the day
		*m = was
		if readClock(m, w) == 0 {
			m.err = &UnclearError{Words: phrase(w[:n+2], nil)}
			return n + 2
		}
		*m = was
		return 0
	}
	if hour := lexicon.Ordinals[at(w, n)]; !said && hour >= 1 && hour <= 12 && readRussianClock(&moment{}, w, false) > 0 {
		*m = was
		return 0 // «пять минут шестого»
	}
	if back || !said && !bare && !compact.MatchString(w[length].text) || length == 1 && w[0].text == "the" {
		*m = was
		return 0
	}
	if was.dated() && (was.weekdays == 0 || m.after != 0) || was.exact() && m.days == 0 && m.months == 0 {
		*m = was
		return 0
	}
	if w[0].text == "через" && at(w, 1) == "день" && taken == 1 { // in a day, or every other day
		m.err = &UnclearError{Words: phrase(w[:2], nil)}
	}
	m.isSpan = true
	return n
}

// anchorOf reads "before", "from", "prior to", and says in which direction they lead.
func anchorOf(w []word) (anchor, words int) {
	switch {
	case anyOf(at(w, 0), "prior ahead") && anyOf(at(w, 1), "to of"):
		return -1, 2
	case anyOf(at(w, 0), "before до"):
		return -1, 1
	case anyOf(at(w, 0), "after from past после"):
		return 1, 1
	}
	return 0, 0
}

// readAnchor reads what can only stand behind a preposition: a bare hour, and words such
// as «пятницы» and «завтра».
func readAnchor(m *moment, w []word) int {
	n := 0
	if weekday, ok := lexicon.GenitiveWeekdays[at(w, n)]; ok {
		m.weekdays |= 1 << weekday
		n++
	}
	if bareHour(w[n:]) {
		hour, _ := readInt(at(w, n), 0, 24)
		m.setClock(hour, 0, 0, "")
		n++
	}
	return n
}

func genitive(w []word) bool {
	_, ok := lexicon.GenitiveWeekdays[at(w, 0)]
	return ok
}

// bareHour reports a number that ends the words or stands before another time, as in
// "an hour before 6".
func bareHour(w []word) bool {
	_, ok := readInt(at(w, 0), 1, 24)
	return ok && lexicon.Units[at(w, 1)] == 0 && lexicon.Months[at(w, 1)] == 0 && timeAt(w) == 0
}

// readLengths reads lengths of time that follow each other: "1 hour and 30 minutes".
func readLengths(m *moment, w []word, spaced bool) int {
	n := 0
	for n < len(w) {
		taken, joint := readLength(m, w[n:], spaced, n > 0), 0
		if taken == 0 && n > 0 && anyOf(at(w, n), "and и") {
			joint = 1
			taken = readLength(m, w[n+1:], true, true)
		}
		if taken == 0 {
			break
		}
		n += joint + taken
	}
	return n
}

// readLength reads one length of time. more says that it follows another.
func readLength(m *moment, words []word, spaced, more bool) int {
	w := at(words, 0)
	if compact.MatchString(w) {
		return readCompact(m, w)
	}
	if !spaced {
		return 0
	}
	two, three := at(words, 1), at(words, 2)
	switch {
	case w == "полчаса" || w == "полчасика":
		m.add(0.5, time.Hour)
		return 1
	case anyOf(w, "half quarter") && (anyOf(two, "a an") || two == "of" && anyOf(three, "a an")), w == "a" && two == "quarter" && three == "of":
		return readFraction(m, words)
	case w == "three" && two == "quarters" && three == "of":
		if unit := lexicon.Units[at(words, 4)]; unit != 0 {
			m.add(0.75, unit)
			return 5
		}
		return 0
	case w == "a" && two == "half" && more, w == "с" && two == "половиной" && more:
		m.add(0.5, time.Hour)
		return 2
	case w == "четверть" && two == "часа":
		m.add(15, time.Minute)
		return 2
	case !more && anyOf(w, lexicon.SingleUnits) && strings.Trim(two, "0123456789") == two:
		m.add(1, lexicon.Units[w]) // «через час»
		return 1
	}
	n, ok := readNumber(w)
	if !ok {
		return 0
	}
	next := 1
	switch {
	case anyOf(two, "and с") && (three == "a" && at(words, 3) == "half"): // "two and a half hours"
		n, next = n+0.5, 4
	case two == "с" && three == "половиной": // «два с половиной часа»
		n, next = n+0.5, 3
	case w == "a" && two == "couple", w == "a" && two == "half":
		n, next = lexicon.Numbers[two], 2
	}
	if anyOf(at(words, next-1), "couple") && at(words, next) == "of" {
		next++
	}
	if tens := lexicon.Numbers[w]; tens >= 20 && tens <= 90 && lexicon.Units[at(words, 2)] != 0 { // "twenty five minutes"
		if ones, ok := readInt(two, 1, 9); ok {
			n, next = tens+float64(ones), 2
		}
	}
	unit := lexicon.Units[strings.TrimSuffix(strings.TrimRight(at(words, next), "'"), "'s")]
	if unit == 0 || unit == 15*time.Minute {
		return 0
	}
	m.add(n, unit)
	return next + 1
}

// readFraction reads "half an hour", "a quarter of an hour".
func readFraction(m *moment, w []word) int {
	n, part := 0, 0.25
	if at(w, 0) == "a" {
		n++
	}
	if at(w, n) == "half" {
		part = 0.5
	}
	n++
	for anyOf(at(w, n), "of a an") {
		n++
	}
	unit := lexicon.Units[at(w, n)]
	if unit == 0 || unit >= week {
		return 0
	}
	m.add(part, unit)
	return n + 1
}

func readCompact(m *moment, w string) int {
	was := *m
	for _, p := range compactPart.FindAllStringSubmatch(w, -1) {
		unit := lexicon.Units[p[2]]
		if unit == 0 {
			*m = was
			return 0
		}
		m.add(float64(number(p[1])), unit)
	}
	return 1
}

// readDay reads "tomorrow", "the day after tomorrow", "tonight".
func readDay(m *moment, w []word) int {
	if m.dated() || m.repeat != nil {
		return 0
	}
	n := 0
	if at(w, 0) == "the" {
		n++
	}
	if at(w, n) == "day" && at(w, n+1) == "after" && at(w, n+2) == "tomorrow" {
		m.ahead, m.isDay = 2, true
		return n + 3
	}
	if anyOf(w[0].text, "tonight") {
		m.isDay, m.part, m.isPart, m.tonight = true, lexicon.Evening, true, true
		return 1
	}
	ahead, ok := lexicon.Days[w[0].text]
	if !ok {
		return 0
	}
	m.ahead, m.isDay = ahead, true
	return 1
}

// readWeek reads "next week", "this month", «на следующей неделе».
func readWeek(m *moment, w []word) int {
	n := 0
	if anyOf(w[0].text, "на в in") {
		n++
	}
	next := anyOf(at(w, n), "next следующей следующем будущей будущем")
	if !next && !anyOf(at(w, n), "this этой этом") || m.isDay || m.isSpan || m.isWeek || m.calendarMonths != 0 || m.repeat != nil {
		return 0
	}
	switch unit := at(w, n+1); {
	case anyOf(unit, "week неделе") && !m.isDate && (next || m.weekdays != 0 || weekdayBehind(w[n+2:])):
		m.isWeek = true
		if next {
			m.weeks = 1
		}
	case anyOf(unit, "month месяце") && next && (!m.isDate || m.month == 0):
		m.calendarMonths = 1
	case anyOf(unit, "year году") && next && !m.isDate && m.weekdays == 0:
		m.calendarMonths = 12
	default:
		return 0
	}
	if m.calendarMonths > 0 && !m.isDate {
		var date moment
		if n+2 < len(w) {
			if taken := readDate(&date, w[n+2:]); date.isDate && date.month == 0 && m.calendarMonths == 1 {
				m.isDate, m.date = true, date.date
				return n + 2 + taken
			}
		}
	}
	return n + 2
}

// weekdayBehind reports whether a weekday follows: "this week on Friday".
func weekdayBehind(w []word) bool {
	var next moment
	return len(w) > 0 && readWeekday(&next, w) > 0
}

// weekdayAt is the weekday of a word, -1 for none.
func weekdayAt(w string) int {
	if d, ok := lexicon.Weekdays[w]; ok {
		return int(d)
	}
	return -1
}

// readWeekday reads "on Monday", "next Friday", "Monday and Thursday", «в следующую
// среду».
func readWeekday(m *moment, w []word) int {
	if m.weekdays != 0 || m.isDay || m.calendarMonths != 0 || m.repeat != nil && m.repeat.unit < day {
		return 0
	}
	n, later := 0, false
	if anyOf(w[0].text, "on в во") {
		n++
	}
	switch {
	case anyOf(at(w, n), "next следующий следующую следующее"):
		n, later = n+1, true
	case anyOf(at(w, n), "this coming этот эту это ближайший ближайшую ближайшее"):
		n++
	}
	weekday := weekdayAt(at(w, n))
	if plural, ok := lexicon.PluralWeekdays[at(w, n+1)]; ok && m.repeat != nil && m.repeat.unit == week && anyOf(w[0].text, "по on") {
		n, weekday = 1, int(plural)
	}
	short := len([]rune(at(w, n))) <= 3
	if weekday < 0 || n == 0 && short && m.repeat == nil && !m.isWeek && !timeBehind(w) {
		return 0 // "sat" alone may be another word
	}
	m.weekdays, m.later = 1<<weekday, later
	return n + 1 + readMoreWeekdays(m, w[n+1:])
}

// timeBehind reports whether a short weekday stands before a time of the day, a date or
// another weekday: "Sun 9am", "Tue 1 Dec", "Mon, Wed".
func timeBehind(w []word) bool {
	var next moment
	if len(w) < 2 {
		return false
	}
	joint := strings.HasSuffix(w[0].raw, ",") || anyOf(at(w, 1), lexicon.Join)
	for n := 1; n <= 2; n++ {
		if joint && weekdayAt(at(w, n)) >= 0 {
			return true
		}
	}
	return readClock(&next, w[1:]) > 0 || readDate(&next, w[1:]) > 0
}

// readMoreWeekdays reads the other days of "Monday, Wednesday and Friday".
func readMoreWeekdays(m *moment, w []word) int {
	n := 0
	for {
		joint := 0
		if anyOf(at(w, n), lexicon.Join+" then") {
			joint = 1
		}
		if anyOf(at(w, n+joint), "on в во") || joint > 0 && anyOf(at(w, n+joint), lexicon.Every) {
			joint++
		}
		weekday := weekdayAt(at(w, n+joint))
		if plural, ok := lexicon.PluralWeekdays[at(w, n+joint)]; ok {
			weekday = int(plural)
		}
		if weekday < 0 || m.weekdays&(1<<weekday) != 0 || joint == 0 && len([]rune(at(w, n))) <= 3 && m.repeat == nil && !timeBehind(w[n:]) {
			return n
		}
		m.weekdays |= 1 << weekday
		n += joint + 1
	}
}

var (
	isoDate       = regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$`)
	dottedDate    = regexp.MustCompile(`^(\d{1,2})[.](\d{1,2})(?:[.](\d{2}|\d{4}))?$`)
	hyphenDate    = regexp.MustCompile(`^(\d{1,2})-(\d{1,2})-(\d{4})$`)
	slashDate     = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})(?:/(\d{2}|\d{4}))?$`)
	dayOfMonth    = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th|-?(?:го|е|ое))?$`)
	ordinalDigits = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th|-?(?:го|е|ое|й|ый|ю|ую))$`)
	yearWord      = regexp.MustCompile(`^(20\d\d)$`)
)

// readDate reads a day of the calendar: "5 May", "the 3rd of January", "May 5", "the
// 15th", "5.12.2026", "24/12", "2026-12-05", «5 числа».
func readDate(m *moment, w []word) int {
	if m.isDay || m.isDate || m.isWeek || m.isSpan && m.anchor == 0 || m.calendarMonths > 1 {
		return 0
	}
	n := 0
	if anyOf(w[0].text, "on") {
		n++
	}
	if taken := readWrittenDate(m, at(w, n), at(w, n+1)); taken > 0 {
		return n + taken
	}
	the := at(w, n) == "the"
	if the {
		n++
	}
	date, month, taken := readMonthDay(w[n:])
	if month == 0 {
		ordinal, words := readOrdinal(w[n:])
		if n, ok := readInt(at(w, n), 1, 31); ok && ordinal == 0 {
			ordinal, words = n, 1
		}
		switch {
		case ordinal < 1 || ordinal > 31:
			return 0
		case at(w, n+words) == "числа": // «5 числа»
			words++
		case n == 0 && m.weekdays != 0 && ordinalDigits.MatchString(at(w, 0)): // "Monday 7th"
		case strings.HasSuffix(at(w, n), "го") && ordinalDigits.MatchString(at(w, n)):
		case !the || weekdayAt(at(w, n+words)) >= 0 || at(w, n+words) == "of" || ordinalDigits.FindString(at(w, n)) == "" && w[0].text != "on":
			return 0 // "the first Monday", "the 3rd party"
		}
		return m.onDay(0, 0, ordinal, n+words)
	}
	year, next := 0, n+taken
	if y := yearWord.FindString(at(w, next)); y != "" && m.repeat == nil {
		year, next = number(y), next+1
		if anyOf(at(w, next), "года г") {
			next++
		}
	}
	return m.onDay(year, month, date, next)
}

// readMonthDay reads "5 May", "3rd of January", "May the 5th", «третьего января».
func readMonthDay(w []word) (date, month, taken int) {
	if month := lexicon.Months[at(w, 0)]; month != 0 {
		n := 1
		if at(w, n) == "the" {
			n++
		}
		if d := dayOfMonth.FindStringSubmatch(at(w, n)); d != nil {
			return number(d[1]), month, n + 1
		}
		if date, words := readOrdinal(w[n:]); date > 0 {
			return date, month, n + words
		}
		return 0, 0, 0
	}
	date, n := readOrdinal(w)
	if d := dayOfMonth.FindStringSubmatch(at(w, 0)); d != nil {
		date, n = number(d[1]), 1
	}
	if at(w, n) == "of" {
		n++
	}
	if month := lexicon.Months[at(w, n)]; month != 0 && date > 0 {
		return date, month, n + 1
	}
	return 0, 0, 0
}

// readWrittenDate reads a date without words.
func readWrittenDate(m *moment, text, next string) int {
	if d := isoDate.FindStringSubmatch(text); d != nil {
		return m.onDay(number(d[1]), number(d[2]), number(d[3]), 1)
	}
	if d := dottedDate.FindStringSubmatch(text); d != nil {
		return m.onDay(century(d[3]), number(d[2]), number(d[1]), 1)
	}
	if d := hyphenDate.FindStringSubmatch(text); d != nil {
		return onEither(m, number(d[1]), number(d[2]), number(d[3]), text)
	}
	d := slashDate.FindStringSubmatch(text)
	if d == nil || text == "24/7" || lexicon.Units[next] != 0 { // "1/2 hour"
		return 0
	}
	return onEither(m, number(d[1]), number(d[2]), century(d[3]), text)
}

// onEither is a date whose day and month are in an order that countries differ about.
func onEither(m *moment, a, b, year int, text string) int {
	switch {
	case a > 12 || a == b:
		return m.onDay(year, b, a, 1)
	case b > 12:
		return m.onDay(year, a, b, 1)
	case a > 0 && b > 0:
		m.err = &UnclearError{Why: DoubtDate, Words: text}
		return 1
	}
	return 0
}

// century reads a year with two or four digits, 0 for none.
func century(digits string) int {
	if len(digits) == 2 {
		return 2000 + number(digits)
	}
	return number(digits)
}

func (m *moment) onDay(year, month, date, taken int) int {
	if month > 12 || month < 1 && (month != 0 || year != 0 || taken == 0) || date < 1 || date > 31 {
		return 0
	}
	m.year, m.month, m.date, m.isDate = year, month, date, true
	return taken
}

// clockText is a time of the day: "9:30", "9.30", "9-30", "9:30pm", "9am", "9", "18h30".
var (
	clockText  = regexp.MustCompile(`^(\d{1,2})(?:([:.h-])(\d{2})(?::(\d{2}))?)?(am|pm|a|p)?$`)
	fourText   = regexp.MustCompile(`^([01]\d|2[0-3])([0-5]\d)$`)
	zonedClock = regexp.MustCompile(`^(\d{1,2}:\d{2}(?::\d{2})?)(z|\+\d{1,2}(?::?\d{2})?|-(?:0\d|1[0-2])(?:\d{2})?)$`)
	hourText   = regexp.MustCompile(`^(\d{1,2})h$`)
)

// readClock reads a time of the day: "at 9", "9:30 pm", "half past nine", «в 9 часов»,
// "noon", and several: "at 9 and at 18:00".
func readClock(m *moment, w []word) int {
	if m.isClock() || m.isSpan && m.anchor == 0 && m.days == 0 && m.months == 0 || m.repeat != nil && m.repeat.unit < day {
		return 0
	}
	n := readOneClock(m, w)
	for n > 0 && m.err == nil {
		joint := n
		for anyOf(at(w, joint), lexicon.Join) {
			joint++
		}
		comma := joint == n && strings.HasSuffix(w[n-1].raw, ",")
		next := moment{repeat: m.repeat, dayOf: dayOf{isDay: m.repeat != nil}}
		if joint == n && !comma || joint >= len(w) {
			break
		}
		taken := readOneClock(&next, w[joint:])
		if taken == 0 || next.err != nil {
			break
		}
		m.clocks, m.bare = append(m.clocks, next.clocks...), max(m.bare, next.bare)
		n = joint + taken
	}
	return n
}

// readOneClock reads one time of the day.
func readOneClock(m *moment, w []word) int {
	n := 0
	if anyOf(w[0].text, "ровно exactly sharp") && len(w) > 1 {
		n++
	}
	said := anyOf(at(w, n), "at @ в во к")
	if said {
		n++
	}
	if taken := readClockWords(m, w[n:], said); taken > 0 {
		return n + taken
	}
	if said && anyOf(at(w, n), "ровно exactly") {
		n++
	}
	if f := fourText.FindStringSubmatch(at(w, n)); f != nil && said && anyOf(w[0].text, "at") && lexicon.Months[at(w, n+1)] == 0 {
		m.setClock(number(f[1]), number(f[2]), 0, "")
		m.minutes = true
		if n++; at(w, n) == "hours" {
			n++
		}
		return n
	}
	text := at(w, n)
	if z := zonedClock.FindStringSubmatch(text); z != nil { // "09:00Z", "9:00+03:00"
		text, m.zone = z[1], times.OffsetZone(strings.ToUpper(z[2]))
	}
	c := clockText.FindStringSubmatch(text)
	if h := hourText.FindStringSubmatch(at(w, n)); h != nil && said {
		c = []string{"", h[1], "h", "", "", ""}
	}
	if c == nil {
		hour, ok := readInt(at(w, n), 1, 24)
		if !ok || !said && !anyOf(at(w, n+1), "am pm o'clock oclock часов часа") {
			return 0
		}
		c = []string{"", numbers([]int{hour})[0], "", "", "", ""}
	}
	if c[2] == "-" && !said {
		return 0 // "9-30" may be a range
	}
	n++
	half := c[5]
	if len(half) == 1 {
		half += "m"
	}
	if half == "" && anyOf(at(w, n), "am pm") {
		half, n = at(w, n), n+1
	}
	// A bare number is a time only where one is expected, and at the end.
	if c[2] != ":" && half == "" && !said && (!m.dated() && m.repeat == nil || n < len(w) && timeAt(w[n:]) == 0 && !anyOf(at(w, n), lexicon.HourUnits+" час") && partAt(m, w[n:]) == 0) {
		return 0
	}
	n, minutes := readMinutes(m, w, n, number(c[1]), c[2] == "" && half == "")
	if minutes != "" {
		c[2], c[3] = ":", minutes
	}
	if half == "" && anyOf(at(w, n), "am pm") { // "9 o'clock pm"
		half, n = at(w, n), n+1
	}
	if !m.setClock(number(c[1]), number(c[3]), number(c[4]), half) {
		return 0
	}
	m.minutes = c[2] != "" || half != "" || m.minutes
	if hour := number(c[1]); c[2] == "" && half == "" && hour >= 1 && hour <= 6 && !strings.HasPrefix(c[1], "0") {
		m.bare = hour
	}
	if anyOf(at(w, n), "sharp ровно") {
		n++
	}
	return n
}

// readMinutes reads what may stand behind an hour: "o'clock", «часов 15 минут», "thirty".
func readMinutes(m *moment, w []word, n, hour int, bare bool) (taken int, minutes string) {
	if !bare {
		return n, ""
	}
	if one := at(w, n); anyOf(one, lexicon.HourUnits) || one == "час" && (hour%10 == 1 && hour != 11 || isPart(at(w, n+1))) {
		n++
		m.minutes = true
		if _, ok := readInt(at(w, n), 0, 59); ok && anyOf(at(w, n+1), "минут минуты минуту мин") {
			v, _ := readInt(at(w, n), 0, 59)
			return n + 2, numbers([]int{v})[0]
		}
		return n, ""
	}
	if v, ok := readInt(at(w, n), 0, 59); ok && (v >= 10 || strings.HasPrefix(at(w, n), "0")) {
		// "nine thirty" has minutes; "9 30" has some only when nothing follows.
		if spelled := strings.Trim(at(w, n), "0123456789") != ""; spelled && lexicon.Units[at(w, n+1)] == 0 || !spelled && (n+1 == len(w) || anyOf(at(w, n+1), "am pm утра вечера дня ночи")) {
			return n + 1, numbers([]int{v})[0]
		}
	}
	return n, ""
}

// readClockWords reads times of the day that are no digits.
func readClockWords(m *moment, w []word, said bool) int {
	one, two, three := at(w, 0), at(w, 1), at(w, 2)
	if clock, ok := lexicon.Clocks[one]; ok {
		m.clocks, m.twelve, m.minutes = []time.Duration{clock}, true, true
		return 1
	}
	if said && one == "час" { // «в час дня»
		m.clocks, m.bare = []time.Duration{time.Hour}, 1
		return 1
	}
	minutes, ok := readInt(one, 1, 59)
	after := 1
	switch {
	case one == "half":
		minutes, ok = 30, true
		if _, is := readInt(two, 1, 12); is && (said || lexicon.Units[three] == 0) && strings.Trim(two, "0123456789") != "" || is && said {
			m.err = &UnclearError{Words: phrase(w[:2], nil)} // 8:30 in some places, 9:30 in others
			return 2
		}
	case one == "quarter", one == "a" && two == "quarter":
		minutes, ok = 15, true
		if one == "a" {
			after = 2
		}
	}
	inMinutes := ok && anyOf(at(w, after), "minutes minute mins min")
	if inMinutes {
		after++
	}
	if direction := at(w, after); ok && anyOf(direction, "past to after before till") && !(one != "half" && one != "quarter" && one != "a" && anyOf(direction, "after before") && at(w, after-1) == one) {
		hour, is := readInt(at(w, after+1), 1, 12)
		if is && lexicon.Units[at(w, after+2)] == 0 && !(direction == "to" && !said && !inMinutes && strings.Trim(one, "0123456789") == "") {
			if anyOf(direction, "to before till") {
				hour, minutes = (hour+11)%12, 60-minutes
				if hour == 0 {
					hour = 12
				}
			}
			return halfOf(m, w, after+2, hour, minutes)
		}
	}
	return readRussianClock(m, w, said)
}

// halfOf sets a time of the day behind which "am" or "pm" may stand.
func halfOf(m *moment, w []word, n, hour, minutes int) int {
	half := ""
	if anyOf(at(w, n), "am pm") {
		half, n = at(w, n), n+1
	}
	m.minutes = true
	if !m.setClock(hour, minutes, 0, half) {
		return 0
	}
	return n
}

// readRussianClock reads «полдевятого», «половине девятого», «без четверти девять»,
// «десять минут девятого».
func readRussianClock(m *moment, w []word, said bool) int {
	one := at(w, 0)
	if rest, ok := strings.CutPrefix(one, "пол"); ok && rest != "" {
		if hour := lexicon.Ordinals[strings.TrimPrefix(rest, "-")]; hour >= 1 && hour <= 12 {
			return halfOf(m, w, 1, hourBefore(hour), 30)
		}
	}
	if hour := lexicon.Ordinals[at(w, 1)]; anyOf(one, "пол половине половину половина четверть") && hour >= 1 && hour <= 12 {
		minutes := 30
		if one == "четверть" {
			minutes = 15
		}
		return halfOf(m, w, 2, hourBefore(hour), minutes)
	}
	if one == "без" {
		n := 2
		minutes, ok := readInt(genitiveNumber(at(w, 1)), 1, 59)
		if anyOf(at(w, 1), "четверти") {
			minutes, ok = 15, true
		}
		if anyOf(at(w, n), "минут минуты") {
			n++
		}
		hour, is := readInt(at(w, n), 1, 12)
		if at(w, n) == "час" {
			hour, is = 1, true
		}
		if ok && is {
			return halfOf(m, w, n+1, hourBefore(hour), 60-minutes)
		}
	}
	if minutes, ok := readInt(one, 1, 59); ok && anyOf(at(w, 1), "минут минуты") {
		// A bare «5 минут первого» may go on with «урока».
		if hour := lexicon.Ordinals[at(w, 2)]; hour >= 1 && hour <= 12 && (said || !strings.HasSuffix(at(w, 3), "а")) {
			return halfOf(m, w, 3, hourBefore(hour), minutes)
		}
	}
	return 0
}

// hourBefore is the hour that is going on in «половине первого»: twelve.
func hourBefore(hour int) int { return (hour+10)%12 + 1 }

// genitiveNumber is a number after «без» as in lexicon.Units: «пяти» is "5".
func genitiveNumber(w string) string {
	if n, ok := map[string]string{"пяти": "5", "десяти": "10", "пятнадцати": "15", "двадцати": "20", "двадцатипяти": "25"}[w]; ok {
		return n
	}
	return w
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
	m.clocks = []time.Duration{time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second}
	return true
}

// readPart reads a part of the day: "in the evening", «утром», «вечера».
func readPart(m *moment, w []word) int {
	if m.isPart || m.isSpan && m.anchor == 0 && m.days == 0 && m.months == 0 || m.repeat != nil && m.repeat.unit < day {
		return 0
	}
	n := partAt(m, w)
	if n == 0 {
		return 0
	}
	if n == 1 && m.behindClock && startsText(w) {
		if !m.otherWith(lexicon.Parts[w[0].text]) {
			return 0
		}
		m.err = &UnclearError{Words: phrase(w[:min(2, len(w))], nil)} // "at 9 evening dress"
		return n
	}
	m.part, m.isPart = lexicon.Parts[at(w, n-1)], true
	m.tonight = m.part == lexicon.Night && (n == 1 && !m.isClock() || w[0].text == "this") && w[0].text != "ночи"
	if w[0].text == "this" && !m.dated() {
		m.isDay = true
	}
	return n
}

// startsText reports whether a part of the day may be the first word of what follows the
// time: "morning run", "evening dress".
func startsText(w []word) bool {
	return anyOf(w[0].text, "morning afternoon evening night") && len(w) > 1 && !strings.HasSuffix(w[0].raw, ",") &&
		!strings.HasSuffix(w[0].raw, ":") && !isJoint(w[1].text) && timeAt(w[1:]) == 0
}

// otherWith reports whether a part of the day makes the clock another one.
func (m *moment) otherWith(part time.Duration) bool {
	clock := m.clocks[len(m.clocks)-1]
	return !m.twelve && clock <= 12*time.Hour && (part != lexicon.Morning || clock == 12*time.Hour) && (part != lexicon.Afternoon || clock < 12*time.Hour)
}

// partAt is how many words say a part of the day.
func partAt(m *moment, w []word) int {
	n := 0
	switch {
	case at(w, 0) == "in" && at(w, 1) == "the":
		n = 2
	case at(w, 0) == "at" && at(w, 1) == "night", at(w, 0) == "this":
		n = 1
	}
	_, ok := lexicon.Parts[at(w, n)]
	if !ok || n == 0 && !m.isClock() && !m.dated() && m.repeat == nil && !anyOf(at(w, 0), "утром вечером") {
		return 0
	}
	return n + 1
}
