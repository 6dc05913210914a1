package times

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	lastDay     = regexp.MustCompile(`^L(?:-(\d{1,2}))?$`)
	nearestDay  = regexp.MustCompile(`^(\d{1,2}|L)W$`)
	lastWeekday = regexp.MustCompile(`^([A-Z]{3}|[1-7])?L$`)
	nthWeekday  = regexp.MustCompile(`^([A-Z]{3}|[1-7])#([1-5])$`)
)

// parseQuartz reads the six or seven fields of Quartz: seconds first, an optional
// year last, one of the two days "?". The grammar is that of Quartz's CronExpression.
func (c *Cron) parseQuartz(fields []string) error {
	for i := range fields {
		fields[i] = strings.ToUpper(fields[i])
	}
	var faults [7]error
	c.second, faults[0] = secondField.mask(fields[0])
	c.minute, faults[1] = minuteField.mask(fields[1])
	c.hour, faults[2] = hourField.mask(fields[2])
	faults[3] = c.day.parseQuartzDay(fields[3])
	c.month, faults[4] = monthField.mask(fields[4])
	faults[5] = c.day.parseQuartzWeekday(fields[5])
	if len(fields) == 7 && !free(fields[6]) {
		c.years, faults[6] = yearField.numbers(fields[6])
		slices.Sort(c.years)
	}
	if err := cmp.Or(faults[:]...); err != nil {
		return err
	}
	if !free(fields[3]) && !free(fields[5]) {
		return fmt.Errorf("day of month %q and day of week %q: one of the two must be ?", quote(fields[3]), quote(fields[5]))
	}
	return nil
}

func (d *dayRule) parseQuartzDay(text string) (err error) {
	d.days = span(1, 31)
	if m := lastDay.FindStringSubmatch(text); m != nil {
		d.last, d.beforeLast = true, number(m[1])
		if d.beforeLast > 30 {
			return fmt.Errorf("%s %q: a month has no such day", dayField.name, quote(text))
		}
		return nil
	}
	if m := nearestDay.FindStringSubmatch(text); m != nil {
		d.nearest = 31
		if m[1] == "L" {
			d.lastWorkday = true
		} else if d.nearest, err = dayField.number(m[1]); err != nil {
			return err
		}
		return nil
	}
	d.days, err = dayField.mask(text)
	return err
}

func (d *dayRule) parseQuartzWeekday(text string) error {
	d.weekdays = span(0, 6)
	if m := lastWeekday.FindStringSubmatch(text); m != nil {
		weekday := 7 // L alone is Saturday
		if m[1] != "" {
			n, err := quartzWeekday.number(m[1])
			if err != nil {
				return err
			}
			weekday = n
		}
		if text != "L" {
			d.nth = -1
		}
		d.weekdays = 1 << (weekday - 1)
		return nil
	}
	if m := nthWeekday.FindStringSubmatch(text); m != nil {
		n, err := quartzWeekday.number(m[1])
		if err != nil {
			return err
		}
		d.weekdays, d.nth = 1<<(n-1), number(m[2])
		return nil
	}
	weekdays, err := quartzWeekday.mask(text)
	d.weekdays = weekdays >> 1 // from 1 to 7 to time.Weekday
	return err
}

// number reads digits that a pattern has found, 0 for none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
