package phrase

import (
	"time"

	"klawbot/engine/internal/phrase/lexicon"
	"klawbot/engine/internal/times"
)

// moment is what a phrase says about a time; it may say several things.
type moment struct {
	// length is from now on, or with anchor 1 after and with -1 before the rest of the
	// moment.
	length
	isSpan bool
	anchor int
	dayOf
	clockOf
	zone *time.Location
	// place is a zone whose city may also be the place of what happens.
	place      *time.Location
	placeWords string
	repeat     *repeat
	// behindClock: the words before are a time of the day.
	behindClock bool
	// beginning: the moment is read at the beginning of a text.
	beginning bool
	err       error
}

// dayOf says on which day.
type dayOf struct {
	// ahead is how many days after today, when isDay.
	ahead int
	isDay bool
	// weeks and calendarMonths are how many weeks and months after this one: "next week".
	weeks, calendarMonths int
	isWeek                bool
	// weekdays are days of the coming week; later: today is not meant.
	weekdays weekdays
	later    bool
	// date has the year 0 when none is said, and the month 0 for "the 15th".
	year, month, date int
	isDate            bool
}

// clockOf says at what time of the day.
type clockOf struct {
	// clocks are times of the day, part a part of it.
	clocks []time.Duration
	part   time.Duration
	isPart bool
	// tonight: the part is a whole night, which ends on the next day.
	tonight bool
	// twelve: the clock has twelve hours and its half is said.
	twelve bool
	// minutes: the last clock says minutes, or its half.
	minutes bool
	// bare is an hour from 1 to 6 without its half: "at 3" is 15:00 more often than not.
	bare int
}

// length is a length of time.
type length struct {
	after        time.Duration
	days, months int
}

// add adds a number of units.
func (s *length) add(n float64, unit time.Duration) {
	switch whole := n == float64(int(n)); {
	case unit == year && whole:
		s.months += 12 * int(n)
	case unit == year:
		s.months += int(12 * n)
	case unit == month && whole:
		s.months += int(n)
	case unit >= day && unit != month && whole:
		s.days += int(n) * int(unit/day)
	default:
		s.after += time.Duration(n * float64(unit))
	}
}

func (m *moment) dated() bool {
	return m.isDay || m.weekdays != 0 || m.isDate || m.isWeek || m.calendarMonths != 0 || m.isSpan && m.anchor == 0
}

// isClock reports whether a time of the day is said.
func (m *moment) isClock() bool { return len(m.clocks) > 0 }

// exact reports whether the moment needs no anchor: it names a clock.
func (m *moment) exact() bool { return m.isClock() || m.isPart }

// complete reports whether something is said that makes a time.
func (m *moment) complete() bool {
	return m.repeat != nil || m.dated() || m.exact() && (m.isClock() || m.anchor == 0)
}

// time is the moment that is meant.
func (m moment) time(now time.Time, zone *time.Location) (time.Time, error) {
	switch {
	case m.err != nil:
		return time.Time{}, m.err
	case len(m.clocks) > 1 || len(m.weekdays.list()) > 1:
		return time.Time{}, &UnclearError{Why: DoubtSeveral}
	case m.bare > 0 && !m.isPart:
		return time.Time{}, &UnclearError{Why: DoubtHour, Number: m.bare}
	case m.tonight && m.isClock() && m.clocks[0] < 5*time.Hour && m.dated():
		return m.smallHours(now, zone)
	case m.anchor == 0:
		return m.base(now, zone)
	}
	return m.anchored(now, zone)
}

// smallHours is "tonight at 2", the next time that it is two at night. "Tomorrow night at
// 2" can be either night.
func (m moment) smallHours(now time.Time, zone *time.Location) (time.Time, error) {
	if !m.isDay || m.ahead > 0 || m.anchor != 0 {
		return time.Time{}, &UnclearError{Why: DoubtWords}
	}
	m.isDay, m.part = false, lexicon.Night
	return m.base(now, zone)
}

// anchored is a moment such as "3 days before 24 December".
func (m moment) anchored(now time.Time, zone *time.Location) (time.Time, error) {
	by := m.length
	rest := m
	rest.isSpan, rest.anchor, rest.length = false, 0, length{}
	if by.after != 0 && !m.exact() {
		return time.Time{}, &UnclearError{Why: DoubtWords}
	}
	at, err := rest.base(now, zone)
	if err != nil {
		return at, err
	}
	shift := func(at time.Time) time.Time {
		local := times.LocalOf(at, m.zoneOr(zone))
		local = addMonths(local, m.anchor*by.months).AddDate(0, 0, m.anchor*by.days)
		return times.Instant(local, m.zoneOr(zone)).Add(time.Duration(m.anchor) * by.after)
	}
	if at = shift(at); !at.After(now) && !m.dated() { // a time of the day: the next one
		at = times.Instant(times.LocalOf(at, m.zoneOr(zone)).AddDate(0, 0, 1), m.zoneOr(zone))
	}
	return at, nil
}

func (m moment) zoneOr(zone *time.Location) *time.Location {
	if m.zone != nil {
		return m.zone
	}
	return zone
}

// base is the moment without an anchor. Days are those of the usual zone; the clock is
// that of the zone that was named.
func (m moment) base(now time.Time, zone *time.Location) (time.Time, error) {
	local := times.LocalOf(now, zone)
	today := times.Midnight(local)
	clock, there := m.timeOfDay(0), m.zoneOr(zone)
	switch {
	case m.isSpan && m.weekdays != 0:
		return m.weekdayAfter(local, clock, there)
	case m.isSpan && m.days == 0 && m.months == 0 && !m.exact():
		return now.Add(m.after), nil
	case m.isSpan:
		day := addMonths(local, m.months).AddDate(0, 0, m.days).Add(m.after)
		if m.exact() {
			day = times.Midnight(day).Add(clock)
		}
		return times.Instant(day, there), nil
	case m.isDate:
		return m.onDate(clock, now, zone)
	case m.calendarMonths > 0:
		first := today.AddDate(0, m.calendarMonths, 1-today.Day())
		if m.calendarMonths == 12 {
			first = time.Date(today.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return times.Instant(first.Add(clock), there), nil
	case m.isWeek:
		weekday := 1
		if m.weekdays != 0 {
			weekday = m.weekdays.from(0)
		}
		return times.Instant(monday(today).AddDate(0, 0, 7*m.weeks+(weekday+6)%7).Add(clock), there), nil
	case m.isDay:
		return times.Instant(today.AddDate(0, 0, m.ahead).Add(clock), there), nil
	case m.weekdays != 0:
		ahead := (m.weekdays.from(0) - int(today.Weekday()) + 7) % 7
		at := times.Instant(today.AddDate(0, 0, ahead).Add(clock), there)
		if !at.After(now) || m.later && ahead == 0 {
			at = times.Instant(today.AddDate(0, 0, ahead+7).Add(clock), there)
		}
		return at, nil
	}
	today = times.Midnight(times.LocalOf(now, there))
	at := times.Instant(today.Add(clock), there)
	if !at.After(now) {
		at = times.Instant(today.AddDate(0, 0, 1).Add(clock), there)
	}
	return at, nil
}

// monday is the first day of a day's week.
func monday(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// weekdayAfter is "Friday in two weeks": the Friday of the week that is two weeks ahead,
// if none is nearer to that day. Another span must lead to that weekday.
func (m moment) weekdayAfter(local time.Time, clock time.Duration, zone *time.Location) (time.Time, error) {
	weekday := m.weekdays.from(0)
	there := times.Midnight(addMonths(local, m.months).AddDate(0, 0, m.days))
	switch {
	case m.after != 0:
		return time.Time{}, &UnclearError{Why: DoubtWords}
	case m.months == 0 && m.days%7 == 0:
		day := monday(there).AddDate(0, 0, (weekday+6)%7)
		if off := int(day.Sub(there).Hours() / 24); off < -3 || off > 3 { // another one is nearer
			return time.Time{}, &UnclearError{Why: DoubtWords}
		}
		there = day
	case int(there.Weekday()) != weekday:
		return time.Time{}, &UnclearError{Why: DoubtWeekday, Words: there.Format(time.DateOnly), weekday: there.Weekday()}
	}
	return times.Instant(there.Add(clock), zone), nil
}

// timeOfDay is the i-th time of the day that is meant.
func (m moment) timeOfDay(i int) time.Duration {
	if !m.isClock() {
		if m.isPart {
			return m.part
		}
		return lexicon.Morning
	}
	clock := m.clocks[i]
	switch {
	case !m.isPart || m.twelve || clock >= 13*time.Hour:
		return clock
	case m.part == lexicon.Night && clock >= 12*time.Hour:
		return clock + 12*time.Hour // twelve at night
	case m.part == lexicon.Night && clock < 5*time.Hour, m.part == lexicon.Morning, clock >= 12*time.Hour:
		return clock
	}
	return clock + 12*time.Hour
}

// onDate is a date of the calendar; without a year, or a month, it is the next that
// comes.
func (m moment) onDate(clock time.Duration, now time.Time, zone *time.Location) (time.Time, error) {
	local := times.LocalOf(now, zone)
	year, month, step := m.year, m.month, 12
	if year == 0 {
		year = local.Year()
	}
	if month == 0 {
		month, step = int(local.Month())+m.calendarMonths, 1
	}
	for i := 0; i <= 9*12; i += step { // as long as it takes to the next leap day
		first := time.Date(year, time.Month(month+i), 1, 0, 0, 0, 0, time.UTC)
		day := first.AddDate(0, 0, m.date-1)
		at := times.Instant(day.Add(clock), m.zoneOr(zone))
		switch fits := day.Month() == first.Month(); {
		case !fits && m.month == 0 && m.calendarMonths > 0:
			return time.Time{}, &UnclearError{Why: DoubtDay, Number: m.date, month: first.Month()}
		case !fits && m.month != 0 && (m.year != 0 || m.month != 2 || m.date != 29):
			return time.Time{}, &UnclearError{Why: DoubtDay, Number: m.date, month: time.Month(m.month)}
		case fits && (m.year != 0 || at.After(now)):
			if weekday := m.weekdays.from(0); weekday >= 0 && weekday != int(day.Weekday()) {
				return at, &UnclearError{Why: DoubtWeekday, Words: day.Format(time.DateOnly), weekday: day.Weekday()}
			}
			return at, nil
		}
	}
	return time.Time{}, &UnclearError{Why: DoubtDay, Number: m.date, month: time.Month(m.month)}
}

// addMonths is the same day of a later month, or its last day.
func addMonths(local time.Time, months int) time.Time {
	first := local.AddDate(0, months, 1-local.Day())
	return first.AddDate(0, 0, min(local.Day(), times.DaysIn(first))-1)
}
