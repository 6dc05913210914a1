package times

import (
	"fmt"
	"time"
)

// The usual times of a day, and of its parts.
const (
	morning   = 9 * time.Hour
	afternoon = 14 * time.Hour
	evening   = 19 * time.Hour
	night     = 22 * time.Hour
)

// moment is what a phrase says about a time; it may say several things.
type moment struct {
	// after, days and months are from now on.
	after        time.Duration
	days, months int
	isAfter      bool
	// ahead is how many days after today, when isDay.
	ahead int
	isDay bool
	// weekday is a day of the coming week; later says that today is not meant.
	weekday          time.Weekday
	isWeekday, later bool
	// date has the year 0 when none is said.
	year, month, date int
	isDate            bool
	// clock is a time of the day, part a part of it.
	clock, part     time.Duration
	isClock, isPart bool
	// twelve says that the clock has twelve hours and its half is said.
	twelve bool
}

// time is the moment that is meant.
func (m moment) time(now time.Time, zone *time.Location) (time.Time, error) {
	local := localOf(now, zone)
	today := midnight(local)
	clock := m.timeOfDay()
	switch {
	case m.isAfter && m.days == 0 && m.months == 0 && !m.isClock && !m.isPart:
		return now.Add(m.after), nil
	case m.isAfter:
		day := addMonths(local, m.months).AddDate(0, 0, m.days).Add(m.after)
		if m.isClock || m.isPart {
			day = midnight(day).Add(clock)
		}
		return instant(day, zone), nil
	case m.isDate:
		return m.onDate(clock, now, zone)
	case m.isDay:
		return instant(today.AddDate(0, 0, m.ahead).Add(clock), zone), nil
	case m.isWeekday:
		ahead := (int(m.weekday) - int(today.Weekday()) + 7) % 7
		at := instant(today.AddDate(0, 0, ahead).Add(clock), zone)
		if !at.After(now) || m.later && ahead == 0 {
			at = instant(today.AddDate(0, 0, ahead+7).Add(clock), zone)
		}
		return at, nil
	}
	at := instant(today.Add(clock), zone)
	if !at.After(now) {
		at = instant(today.AddDate(0, 0, 1).Add(clock), zone)
	}
	return at, nil
}

// timeOfDay is the time of the day that is meant.
func (m moment) timeOfDay() time.Duration {
	switch {
	case !m.isClock && m.isPart:
		return m.part
	case !m.isClock:
		return morning
	case !m.isPart || m.twelve || m.clock >= 13*time.Hour:
		return m.clock
	case m.part == night && m.clock >= 12*time.Hour:
		return m.clock + 12*time.Hour // twelve at night
	case m.part == night && m.clock < 5*time.Hour, m.part == morning, m.clock >= 12*time.Hour:
		return m.clock
	}
	return m.clock + 12*time.Hour
}

// onDate is a date of the calendar; without a year it is the next that comes.
func (m moment) onDate(clock time.Duration, now time.Time, zone *time.Location) (time.Time, error) {
	year := m.year
	if year == 0 {
		year = localOf(now, zone).Year()
	}
	for range 9 { // as long as it takes to the next leap day
		day := time.Date(year, time.Month(m.month), m.date, 0, 0, 0, 0, time.UTC)
		at := instant(day.Add(clock), zone)
		switch {
		case day.Day() != m.date && (m.year != 0 || m.month != 2 || m.date != 29):
			return time.Time{}, fmt.Errorf("%d.%d. is no day of the calendar", m.date, m.month)
		case m.year != 0, day.Day() == m.date && at.After(now):
			return at, nil
		}
		year++
	}
	return time.Time{}, fmt.Errorf("%d.%d. is no day of the calendar", m.date, m.month)
}

// addMonths is the same day of a later month, or its last day.
func addMonths(local time.Time, months int) time.Time {
	first := local.AddDate(0, months, 1-local.Day())
	return first.AddDate(0, 0, min(local.Day(), daysIn(first))-1)
}
