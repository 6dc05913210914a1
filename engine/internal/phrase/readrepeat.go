package phrase

import (
	"strings"
	"time"

	"klawbot/engine/internal/phrase/lexicon"
)

// readRepeat reads what repeats: "every 2 weeks", "daily", "on Mondays", "from Monday to
// Friday", "on the first Monday of every month", «по будням», «раз в неделю», and the
// bounds of a repetition: "starting on 5 May", "until Friday".
func readRepeat(m *moment, w []word) int {
	if m.repeat != nil {
		if n := readRangeOfDays(m, w); n > 0 {
			return n
		}
		return readBounds(m, w)
	}
	if m.isSpan || m.isDay || m.isWeek || m.calendarMonths != 0 {
		return 0
	}
	for _, rule := range []func(*moment, []word) int{readEvery, readOnce, readAdverb, readPlural, readRange, readOfMonth} {
		if n := rule(m, w); n > 0 || m.err != nil {
			return n
		}
	}
	return 0
}

// workdays are Monday to Friday, weekendDays the others.
const (
	workdays    weekdays = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5
	weekendDays weekdays = 1<<0 | 1<<6
)

func (m *moment) every(n int, unit time.Duration) {
	switch unit {
	case 2 * week:
		n, unit = 2*n, week
	case 15 * time.Minute:
		n, unit = 15*n, time.Minute
	}
	m.repeat = &repeat{n: n, unit: unit}
}

// readEvery reads "every" with what follows: units, weekdays, parts of the day, dates.
func readEvery(m *moment, w []word) int {
	n := 0
	if anyOf(w[0].text, "on в at") {
		n++
	}
	if !anyOf(at(w, n), lexicon.Every) || len(w) <= n+1 {
		return 0
	}
	n++
	if date, month, taken := readMonthDay(w[n:]); month != 0 && m.weekdays == 0 && !m.isDate {
		m.every(1, year)
		m.repeat.days, m.repeat.month = []int{date}, month
		return n + taken
	}
	if taken := readNthOfMonth(m, w[n:], true); taken > 0 {
		return n + taken
	}
	for words, half := range []string{"полчаса", "half hour", "half an hour"} {
		if strings.HasPrefix(texts(w[n:])+" ", half+" ") && !m.isClock() {
			m.every(30, time.Minute)
			return n + words + 1
		}
	}
	step, taken := readStep(w[n:])
	n += taken
	one := at(w, n)
	if taken := readKind(m, w[n:], step); taken > 0 {
		return n + taken
	}
	if unit := lexicon.Units[one]; unit != 0 && len([]rune(one)) > 1 {
		if m.weekdays != 0 && unit < week || m.isClock() && unit < day {
			return 0
		}
		if unit == month && anyOf(at(w, n+1), "on") && at(w, n+2) == "the" || unit == month { // "every month on the 5th"
			return n + 1 + readMonthly(m, w[n+1:], step)
		}
		m.every(step, unit)
		return n + 1
	}
	return 0
}

// readStep reads "2", "other", "second": every how many. Nothing is 1.
func readStep(w []word) (step, taken int) {
	if anyOf(at(w, 0), "other") {
		return 2, 1
	}
	if at(w, 0) == "single" {
		return 1, 1
	}
	if unit := lexicon.Units[at(w, 1)]; unit != 0 || weekdayAt(at(w, 1)) >= 0 || anyOf(at(w, 1), lexicon.Workdays) {
		if n, ok := readInt(at(w, 0), 1, 1000); ok {
			return n, 1
		}
		// "every third Friday" may be every three weeks, or the third of a month.
		if n, taken := readOrdinal(w); n > 1 && taken == 1 && (n == 2 || unit != 0) {
			return n, 1
		}
	}
	return 1, 0
}

// readKind reads the days behind "every": a weekday, "weekday", "morning", "weekend".
func readKind(m *moment, w []word, step int) int {
	one := at(w, 0)
	if m.weekdays != 0 {
		return 0
	}
	if weekday := weekdayAt(one); weekday >= 0 {
		m.every(step, week)
		m.weekdays = 1 << weekday
		return 1 + readMoreWeekdays(m, w[1:])
	}
	if step != 1 {
		return 0
	}
	if part, ok := lexicon.RepeatedParts[one]; ok && !m.isPart {
		m.every(1, day)
		m.part, m.isPart = part, true
		return 1
	}
	if clock, ok := lexicon.Clocks[one]; ok && !m.isClock() {
		m.every(1, day)
		m.clocks, m.twelve = []time.Duration{clock}, true
		return 1
	}
	if anyOf(one, "business working week будний рабочий") && anyOf(at(w, 1), "day days день") {
		m.every(1, week)
		m.weekdays = workdays
		return 2
	}
	if anyOf(one, "weekday workday") {
		m.every(1, week)
		m.weekdays = workdays
		return 1
	}
	if anyOf(one, lexicon.Weekends) {
		m.every(1, week)
		m.weekdays = weekendDays
		return 1
	}
	return 0
}

// readMonthly reads the day of "every month on the 5th", «каждый месяц 5 числа».
func readMonthly(m *moment, w []word, step int) int {
	m.every(step, month)
	n := 0
	if anyOf(at(w, n), "on в") {
		n++
	}
	if at(w, n) == "the" {
		n++
	}
	if taken := nthDay(m, w[n:]); taken > 0 {
		return n + taken
	}
	return 0
}

// nthDay reads "1st", "1st and 15th", "last day", "first Monday" into the repeat.
func nthDay(m *moment, w []word) int {
	ordinal, n := readOrdinal(w)
	if v, ok := readInt(at(w, 0), 1, 31); ok && ordinal == 0 && anyOf(at(w, 1), "числа число day") {
		ordinal, n = v, 1
	}
	if ordinal == 0 || ordinal > 31 {
		return 0
	}
	if weekday := weekdayAt(at(w, n)); weekday >= 0 {
		if ordinal > 5 || m.weekdays != 0 {
			return 0
		}
		m.weekdays, m.repeat.nth = 1<<weekday, ordinal
		return n + 1
	}
	if anyOf(at(w, n), "day день числа число") {
		n++
	} else if ordinal == lexicon.Last {
		return 0
	}
	m.repeat.days = append(m.repeat.days, ordinal)
	if joint := n; anyOf(at(w, joint), lexicon.Join) {
		joint++
		if at(w, joint) == "the" {
			joint++
		}
		if more := nthDay(m, w[joint:]); more > 0 && m.repeat.nth == 0 {
			return joint + more
		}
	}
	return n
}

// readNthOfMonth reads "15th", "last day of the month", "first Monday of the month" behind
// "every" or before "of every month".
func readNthOfMonth(m *moment, w []word, every bool) int {
	if m.weekdays != 0 || m.isDate {
		return 0
	}
	was := *m
	m.every(1, month)
	n := nthDay(m, w)
	words := n
	if n > 0 && anyOf(at(w, n), "of in в") {
		words++
	}
	for anyOf(at(w, words), "the a "+lexicon.Every) {
		words++
	}
	ofMonth := anyOf(at(w, words), "month месяца") && n > 0
	said := false
	for _, one := range w[n:min(words, len(w))] {
		said = said || anyOf(one.text, lexicon.Every)
	}
	switch {
	case ofMonth && (every || said):
		return words + 1
	case every && n > 0 && m.repeat.nth == 0 && (anyOf(at(w, n-1), "числа число") || ordinalDigits.MatchString(at(w, n-1)) && lexicon.Units[at(w, n)] == 0 && m.repeat.days[0] > 0):
		return n // "every 15th"
	}
	*m = was
	return 0
}

// readOfMonth reads "on the 1st of every month", «1 числа каждого месяца».
func readOfMonth(m *moment, w []word) int {
	n := 0
	for anyOf(at(w, n), "on the в во") {
		n++
	}
	if taken := readNthOfMonth(m, w[n:], false); taken > 0 {
		return n + taken
	}
	return 0
}

// readOnce reads "once a week", «раз в две недели».
func readOnce(m *moment, w []word) int {
	n := 1
	switch {
	case w[0].text == "once" && anyOf(at(w, 1), "a an every per each in"):
		n = 2
	case w[0].text == "раз" && anyOf(at(w, 1), "в во"):
		n = 2
	case w[0].text == "один" && at(w, 1) == "раз" && anyOf(at(w, 2), "в во"):
		n = 3
	default:
		return 0
	}
	step, taken := readStep(w[n:])
	unit := lexicon.Units[at(w, n+taken)]
	if unit < time.Minute {
		return 0
	}
	m.every(step, unit)
	return n + taken + 1
}

// readAdverb reads "daily", "weekly", "nightly".
func readAdverb(m *moment, w []word) int {
	if anyOf(w[0].text, "biweekly bi-weekly bimonthly bi-monthly") {
		m.err = &UnclearError{Why: DoubtRepeat}
		return 1
	}
	unit := lexicon.Repeats[w[0].text]
	if unit == 0 || unit < day && m.isClock() || m.weekdays != 0 && unit < week {
		return 0
	}
	if w[0].text == "nightly" && !m.isPart {
		m.part, m.isPart = lexicon.Night, true
	}
	if unit == month {
		return 1 + readMonthly(m, w[1:], 1)
	}
	m.every(1, unit)
	return 1
}

// readPlural reads "on Mondays and Thursdays", "weekdays", «по будням», «по утрам».
func readPlural(m *moment, w []word) int {
	n := 0
	russian := anyOf(w[0].text, "по в")
	if anyOf(w[0].text, "on по в") {
		n++
	}
	one := at(w, n)
	if m.weekdays != 0 {
		return 0
	}
	switch weekday, ok := lexicon.PluralWeekdays[one]; {
	case ok:
		m.every(1, week)
		m.weekdays = 1 << weekday
		return n + 1 + readMoreWeekdays(m, w[n+1:])
	case anyOf(one, "weekdays workdays") || russian && anyOf(one, "будни будням"):
		m.every(1, week)
		m.weekdays = workdays
		return n + 1
	case russian && anyOf(one, "рабочим будним") && at(w, n+1) == "дням":
		m.every(1, week)
		m.weekdays = workdays
		return n + 2
	case one == "weekends" || w[0].text == "по" && one == "выходным":
		m.every(1, week)
		m.weekdays = weekendDays
		return n + 1
	}
	if part, ok := lexicon.RepeatedParts[one]; ok && w[0].text == "по" && strings.HasSuffix(one, "ам") && !m.isPart {
		m.every(1, day)
		m.part, m.isPart = part, true
		return n + 1
	}
	return 0
}

// readRange reads "Monday to Friday", "mon-fri", «с понедельника по пятницу».
func readRange(m *moment, w []word) int {
	n := 0
	if anyOf(w[0].text, "from on с со") {
		n++
	}
	first, last, taken := -1, -1, 0
	if a, b, ok := strings.Cut(at(w, n), "-"); ok {
		first, last, taken = weekdayAt(a), weekdayAt(b), 1
	} else {
		first = weekdayAt(at(w, n))
		if d, ok := lexicon.GenitiveWeekdays[at(w, n)]; ok && n > 0 {
			first = int(d)
		}
		if anyOf(at(w, n+1), "to through thru till until - по до") {
			last, taken = weekdayAt(at(w, n+2)), 3
			if d, ok := lexicon.GenitiveWeekdays[at(w, n+2)]; ok {
				last = int(d)
			}
		}
	}
	if first < 0 || last < 0 || m.weekdays != 0 || taken == 0 {
		return 0
	}
	m.every(1, week)
	for d := first; ; d = (d + 1) % 7 {
		m.weekdays |= 1 << d
		if d == last {
			break
		}
	}
	return n + taken
}

// readRangeOfDays reads "from Monday to Friday" behind "every day", which says on which
// days. "From Monday until Friday" bounds the repetition.
func readRangeOfDays(m *moment, w []word) int {
	if m.repeat.unit != day || m.repeat.n != 1 || m.repeat.starts != nil || m.repeat.until != nil {
		return 0
	}
	days := moment{}
	n := readRange(&days, w)
	if n == 0 || anyOf(at(w, n-2), "until till до") {
		return 0
	}
	m.repeat.unit, m.weekdays = week, days.weekdays
	return n
}

// readBounds reads where a repetition begins and ends.
func readBounds(m *moment, w []word) int {
	n, to := 1, &m.repeat.starts
	switch one := w[0].text; {
	case anyOf(one, "starting beginning начиная"):
		if anyOf(at(w, 1), "on from at с со") {
			n++
		}
	case anyOf(one, "from since с со"):
	case anyOf(one, "until till до"), one == "по" && m.repeat.starts != nil:
		to = &m.repeat.until
	default:
		return 0
	}
	if *to != nil || n >= len(w) {
		return 0
	}
	bound, taken := read(w[n:], false)
	if weekday, ok := lexicon.GenitiveWeekdays[at(w, n)]; ok && taken == 0 {
		bound, taken = moment{dayOf: dayOf{weekdays: 1 << weekday}}, 1
	}
	if taken == 0 || bound.err != nil || !bound.dated() || bound.repeat != nil || bound.exact() && to == &m.repeat.until {
		return 0
	}
	*to = &bound
	return n + taken
}
