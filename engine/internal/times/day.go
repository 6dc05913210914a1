package times

import "time"

// dayRule says which days match.
type dayRule struct {
	// days of the month, and weekdays from Sunday 0. A day must match both, or
	// with either one of them.
	days, weekdays mask
	either         bool
	// last is the last day of the month, or the one beforeLast days before it.
	last       bool
	beforeLast int
	// nearest is a day of the month whose nearest day from Monday to Friday
	// matches, 0 for none; lastWorkday says that it is the last of the month.
	nearest     int
	lastWorkday bool
	// nth is which of the month's days with that weekday matches, -1 for the
	// last, 0 for each.
	nth int
}

// matches reports whether a day, a midnight in UTC, matches.
func (d dayRule) matches(day time.Time) bool {
	weekday := d.weekdays.has(int(day.Weekday()))
	switch length := DaysIn(day); {
	case d.last:
		return day.Day() == length-d.beforeLast
	case d.nearest != 0:
		return day.Day() == nearestWorkday(day, min(d.nearest, length))
	case d.nth < 0:
		return weekday && day.Day()+7 > length
	case d.nth > 0:
		return weekday && (day.Day()-1)/7+1 == d.nth
	}
	if inMonth := d.days.has(day.Day()); d.either {
		return inMonth || weekday
	} else {
		return inMonth && weekday
	}
}

// nearestWorkday is the day from Monday to Friday that is nearest to a day of the
// month of day, and in that month.
func nearestWorkday(day time.Time, n int) int {
	switch weekday := day.AddDate(0, 0, n-day.Day()).Weekday(); {
	case weekday == time.Saturday && n == 1:
		return n + 2
	case weekday == time.Saturday:
		return n - 1
	case weekday == time.Sunday && n == DaysIn(day):
		return n - 2
	case weekday == time.Sunday:
		return n + 1
	}
	return n
}

// DaysIn is the number of days of a day's month.
func DaysIn(day time.Time) int {
	return time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
