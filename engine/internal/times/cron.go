// Package times reads cron expressions, recurrence rules and time zones, finds the next
// times, and says them in English and Russian. Package phrase reads words.
package times

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrNotCron is the error of a text that does not look like a cron expression.
var ErrNotCron = errors.New("not a cron expression")

// Cron is a cron expression: when something is due, again and again. Five fields
// are read as Unix cron does (minute first, 0 and 7 are Sunday, a day matches
// when one of two restricted day fields does), six and seven as Quartz does
// (seconds first, 1 is Sunday, ?, L, W, #, an optional year).
type Cron struct {
	text                 string
	second, minute, hour mask
	month                mask
	day                  dayRule
	// years are the years that match, nil for all.
	years []int
}

// nicknames are the names of common expressions.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// maxCron bounds the text of an expression.
const maxCron = 200

// cronHead is what the first field of an expression looks like; words do not.
var cronHead = regexp.MustCompile(`^[0-9*?][0-9*?/,-]*$`)

// ParseCron reads an expression. Text that does not even look like one is
// ErrNotCron; another error says what is wrong.
func ParseCron(text string) (Cron, error) {
	text = strings.Join(strings.Fields(text), " ")
	c := Cron{text: text}
	written := text
	if strings.HasPrefix(text, "@") {
		var known bool
		if written, known = nicknames[strings.ToLower(text)]; !known {
			return c, fmt.Errorf("%s is not known; there are @hourly, @daily, @weekly, @monthly and @yearly", quote(text))
		}
	}
	fields := strings.Fields(written)
	if len(text) > maxCron || len(fields) == 0 || !cronHead.MatchString(fields[0]) {
		return c, ErrNotCron
	}
	var err error
	switch len(fields) {
	case 5:
		err = c.parseUnix(fields)
	case 6, 7:
		err = c.parseQuartz(fields)
	default:
		err = fmt.Errorf("a cron expression has 5 fields (minute hour day month weekday), or 6 or 7 with seconds first and a year last; this one has %d", len(fields))
	}
	return c, err
}

// String is the expression as it was written.
func (c Cron) String() string { return c.text }

// Horizon is how many years ahead a time is looked for. The 29th of February
// falls on a given weekday after at most 40 years.
const Horizon = 60

// Next is the first time after a moment at which the expression is due in a
// zone, as its clocks show it; ok is false when it never is. A local time that
// comes twice, when clocks are set back, counts the first time; one that is left
// out, when they are set forward, is due at that moment.
func (c Cron) Next(after time.Time, zone *time.Location) (next time.Time, ok bool) {
	from := LocalOf(after, zone)
	day := Midnight(from)
	second := int(from.Sub(day) / time.Second)
	for last := from.Year() + Horizon; day.Year() <= last; second = 0 {
		if skipped := c.skip(day); skipped.After(day) {
			day = skipped
			continue
		}
		if c.day.matches(day) {
			for at := c.secondOfDay(second); at >= 0; at = c.secondOfDay(at + 1) {
				if t := Instant(day.Add(time.Duration(at)*time.Second), zone); t.After(after) {
					return t, true
				}
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// skip is the first day from day on whose month and year may match.
func (c Cron) skip(day time.Time) time.Time {
	switch {
	case c.years != nil && !slices.Contains(c.years, day.Year()):
		return time.Date(day.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
	case !c.month.has(int(day.Month())):
		return time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

// secondOfDay is the first matching second of a day from one on, -1 for none.
func (c Cron) secondOfDay(from int) int {
	h, m, s := from/3600, from/60%60, from%60
	for hour := c.hour.from(h); hour >= 0; hour = c.hour.from(hour + 1) {
		if hour > h {
			m, s = 0, 0
		}
		for minute := c.minute.from(m); minute >= 0; minute = c.minute.from(minute + 1) {
			if minute > m {
				s = 0
			}
			if second := c.second.from(s); second >= 0 {
				return hour*3600 + minute*60 + second
			}
		}
	}
	return -1
}

// Gap is the shortest time between two times that are due, as far as one can see.
func (c Cron) Gap(after time.Time, zone *time.Location) time.Duration {
	gap := time.Duration(1<<63 - 1)
	for s := c.second.from(0); s >= 0; {
		next := c.second.from(s + 1)
		if next >= 0 {
			gap = min(gap, time.Duration(next-s)*time.Second)
		}
		s = next
	}
	return min(gap, shortest(c, after, zone))
}
