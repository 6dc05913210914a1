package times

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Describe says in words when an expression is due, in "en" or "ru".
func (c Cron) Describe(language string) string {
	w := wordsOf(language)
	clock, daily := c.describeTime(w)
	day := c.day.describe(w)
	if day == "" && daily {
		day = w.everyDay
	}
	parts := []string{day, clock}
	if !daily {
		parts = []string{clock, day}
	}
	if c.month != span(1, 12) {
		parts = append(parts, w.in+" "+w.join(w.named(c.month, w.months)))
	}
	if c.years != nil {
		parts = append(parts, w.in+" "+w.join(numbers(c.years)))
	}
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " "))
}

// manyTimes is how many times of a day are listed one by one.
const manyTimes = 6

// describeTime says at which times of a day it is due; daily says that these are
// times of the clock, so that the day has to be named too.
func (c Cron) describeTime(w words) (text string, daily bool) {
	hours, minutes, seconds := c.hour.list(), c.minute.list(), c.second.list()
	onMinute := len(seconds) == 1 && seconds[0] == 0
	if len(hours)*len(minutes)*len(seconds) <= manyTimes {
		var times []string
		for _, h := range hours {
			for _, m := range minutes {
				for _, s := range seconds {
					times = append(times, clock(h, m, s, onMinute))
				}
			}
		}
		return w.at + " " + w.join(times), true
	}
	var parts []string
	switch {
	case !onMinute && every(seconds, 60) > 0:
		parts = append(parts, w.every(every(seconds, 60), w.second))
	case !onMinute:
		parts = append(parts, fmt.Sprintf(w.atSeconds, w.join(numbers(seconds))))
	}
	allMinutes, allHours := len(minutes) == 60, len(hours) == 24
	switch step := every(minutes, 60); {
	case allMinutes && !onMinute:
	case step > 0 && len(minutes) > 1:
		parts = append(parts, w.every(step, w.minute))
	case len(minutes) == 1 && minutes[0] == 0 && every(hours, 24) > 0:
		return strings.Join(append(parts, w.every(every(hours, 24), w.hour)), ", "), false
	default:
		parts = append(parts, fmt.Sprintf(w.pastHour, w.join(numbers(minutes))))
	}
	switch step := every(hours, 24); {
	case allHours:
	case step > 0:
		parts = append(parts, w.every(step, w.hour))
	case runs(hours):
		parts = append(parts, fmt.Sprintf(w.between, clock(hours[0], 0, 0, true), clock(hours[len(hours)-1], 59, 0, true)))
	default:
		parts = append(parts, fmt.Sprintf(w.inHours, w.join(numbers(hours))))
	}
	return strings.Join(parts, ", "), false
}

func clock(h, m, s int, onMinute bool) string {
	if onMinute {
		return fmt.Sprintf("%02d:%02d", h, m)
	}
	return fmt.Sprintf("%02d:%02d:%02d", h, m, s)
}

// every is the step of numbers that go from 0 in equal steps through a whole
// cycle, 0 when they do not.
func every(all []int, cycle int) int {
	if len(all) < 2 || all[0] != 0 {
		return 0
	}
	step := all[1]
	for i, n := range all {
		if n != i*step {
			return 0
		}
	}
	if all[len(all)-1]+step != cycle {
		return 0
	}
	return step
}

// runs reports whether numbers follow each other without a gap.
func runs(all []int) bool { return len(all) > 1 && all[len(all)-1]-all[0] == len(all)-1 }

func numbers(all []int) []string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = fmt.Sprint(n)
	}
	return texts
}

// describe says which days match, "" for all.
func (d dayRule) describe(w words) string {
	switch {
	case d.last && d.beforeLast > 0:
		return fmt.Sprintf(w.beforeLast, d.beforeLast)
	case d.last:
		return w.lastDay
	case d.lastWorkday:
		return w.lastWorkday
	case d.nearest != 0:
		return fmt.Sprintf(w.nearest, d.nearest)
	case d.nth < 0:
		return w.nth(0, d.weekdays.from(0))
	case d.nth > 0:
		return w.nth(d.nth, d.weekdays.from(0))
	}
	allDays, allWeekdays := d.days == span(1, 31), d.weekdays == span(0, 6)
	inMonth := fmt.Sprintf(w.onDays, w.join(numbers(d.days.list())))
	inWeek := w.onWeekdays(d.weekdays)
	switch {
	case d.either:
		return inMonth + " " + w.or + " " + inWeek
	case allDays && allWeekdays:
		return ""
	case allDays:
		return inWeek
	case allWeekdays:
		return inMonth
	}
	return fmt.Sprintf(w.both, inMonth, inWeek)
}

// DescribeTime is a moment for people, with its weekday and, unless told
// otherwise, its zone.
func DescribeTime(t time.Time, zone *time.Location, language string) string {
	w := wordsOf(language)
	t = t.In(zone)
	layout := " 2006-01-02 15:04"
	if t.Second() != 0 {
		layout += ":05"
	}
	return w.short[t.Weekday()] + t.Format(layout)
}

// MonthName is the name of a month as behind "in", in "en" or "ru".
func MonthName(m time.Month, language string) string { return wordsOf(language).months[m] }

// WeekdayName is the short name of a weekday in "en" or "ru".
func WeekdayName(d time.Weekday, language string) string { return wordsOf(language).short[d] }
