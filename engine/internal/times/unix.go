package times

import (
	"cmp"
	"strings"
)

// parseUnix reads the five fields of Unix cron.
func (c *Cron) parseUnix(fields []string) error {
	var faults [5]error
	c.second = 1
	c.minute, faults[0] = minuteField.mask(fields[0])
	c.hour, faults[1] = hourField.mask(fields[1])
	c.day.days, faults[2] = dayField.mask(fields[2])
	c.month, faults[3] = monthField.mask(fields[3])
	weekdays, fault := weekdayField.mask(fields[4])
	faults[4] = fault
	if weekdays.has(7) {
		weekdays = weekdays&^(1<<7) | 1
	}
	c.day.weekdays = weekdays
	// As in cron itself: a field that begins with * does not restrict.
	c.day.either = !loose(fields[2]) && !loose(fields[4])
	return cmp.Or(faults[:]...)
}

func loose(field string) bool { return strings.HasPrefix(field, "*") || field == "?" }
