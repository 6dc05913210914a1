package times

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// Rule is a recurrence rule of RFC 5545 with the local time at which it begins. It says
// what a cron expression cannot: every two weeks, every 90 minutes, until a day.
type Rule struct {
	text  string
	rule  rrule.ROption
	start time.Time // as clocks show it, see local.go
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// localTime is how DTSTART and UNTIL are written; the zone is the job's.
const localTime = "20060102T150405"

const (
	// maxRule bounds the text of a rule, maxCount the times of one with a COUNT.
	maxRule  = 300
	maxCount = 1000
)

var errNoRule = errors.New("not a recurrence rule")

// isRule reports whether a text looks like a recurrence rule.
func isRule(text string) bool {
	text = strings.ToUpper(strings.TrimSpace(text))
	return strings.HasPrefix(text, "DTSTART") || strings.HasPrefix(text, "RRULE:") || strings.HasPrefix(text, "FREQ=")
}

// parseRule reads "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO". Without
// a DTSTART, start is zero.
func parseRule(text string) (Rule, error) {
	var r Rule
	fields := strings.Fields(strings.ToUpper(text))
	if len(text) > maxRule || len(fields) == 0 || len(fields) > 2 {
		return r, errNoRule
	}
	if begin, ok := strings.CutPrefix(fields[0], "DTSTART"); ok {
		begin, ok = strings.CutPrefix(begin, ":")
		start, err := time.Parse(localTime, begin)
		if !ok || err != nil || len(fields) != 2 {
			return r, errors.New("write DTSTART:20261130T090000, in local time, before RRULE; the zone is tz")
		}
		r.start, fields = start, fields[1:]
	}
	rule := strings.TrimPrefix(fields[0], "RRULE:")
	if len(fields) != 1 || !strings.HasPrefix(rule, "FREQ=") {
		return r, errors.New("a recurrence rule is DTSTART and one RRULE that begins with FREQ=")
	}
	option, err := rrule.StrToROptionInLocation(rule, time.UTC)
	if err == nil {
		_, err = rrule.NewRRule(*option)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("recurrence rule: %w", err)
	case option.Count < 0 || option.Count > maxCount:
		return r, fmt.Errorf("recurrence rule: COUNT must be from 1 to %d", maxCount)
	case option.Interval > 10_000:
		return r, errors.New("recurrence rule: INTERVAL is too large")
	case option.Freq == rrule.SECONDLY || option.Freq >= rrule.HOURLY && len(option.Bysetpos) > 0:
		return r, errors.New("recurrence rule: write the seconds and the positions as a cron expression")
	}
	if at := option.Until; !at.IsZero() && at.Equal(Midnight(at)) {
		option.Until = at.Add(day - time.Second) // a day without a time: all of it
	}
	r.rule, r.rule.Dtstart = *option, time.Time{}
	r.text = r.write()
	return r, nil
}

// write is the text of the rule.
func (r Rule) write() string {
	rule := r.rule
	rule.Dtstart = time.Time{}
	// The library writes local times as UTC.
	text := "RRULE:" + strings.Replace(rule.RRuleString(), rule.Until.Format(rrule.DateTimeFormat), rule.Until.Format(localTime), 1)
	if !r.start.IsZero() {
		text = "DTSTART:" + r.start.Format(localTime) + " " + text
	}
	return text
}

// String is the rule as it is stored.
func (r Rule) String() string { return r.text }

// untilUTC finds an end that is written in UTC, which is how RFC 5545 wants it.
var untilUTC = regexp.MustCompile(`(?i)UNTIL=\d{8}T\d{6}Z`)

// anchored is a rule with a beginning: the first time after now, so that the interval
// counts from there. Rules of days and longer begin at 9 unless they say an hour.
func (r Rule) anchored(now time.Time, zone *time.Location) (Rule, bool) {
	if !r.start.IsZero() {
		r.text = r.write()
		_, ok := r.Next(now, zone)
		return r, ok
	}
	first := r
	first.start = LocalOf(now, zone).Truncate(time.Minute)
	if r.rule.Freq < rrule.HOURLY && len(r.rule.Byhour) == 0 {
		first.start = Midnight(first.start).Add(9 * time.Hour)
	}
	if len(r.rule.Byminute) > 0 || len(r.rule.Byhour) > 0 {
		first.start = first.start.Truncate(time.Hour)
	}
	begin := first.start
	first.rule.Interval, first.rule.Count = 1, 0
	next, ok := first.Next(now, zone)
	if !ok {
		return r, false
	}
	r.start = LocalOf(next, zone)
	if r.rule.Freq >= rrule.HOURLY && r.rule.Interval > 1 && len(r.rule.Byhour) == 0 {
		r.start = begin.Add(periods[r.rule.Freq] * time.Duration(r.rule.Interval))
	}
	r.text = r.write()
	return r, true
}

// periods are the frequencies whose periods all have one length on a local clock.
var periods = map[rrule.Frequency]time.Duration{rrule.WEEKLY: week, rrule.DAILY: day, rrule.HOURLY: time.Hour, rrule.MINUTELY: time.Minute}

// ruleHorizon bounds, in years, how far a rule is followed that looks at every hour or
// minute.
const ruleHorizon = 5

// from returns the local times of the rule that may come after a local time. The library
// counts from the beginning, so the beginning is moved close to that time.
func (r Rule) from(local time.Time) rrule.Next {
	option := r.rule
	option.Dtstart = r.start
	years := Horizon
	if option.Freq >= rrule.HOURLY {
		years = ruleHorizon
	}
	last := local
	if r.start.After(local) {
		last = r.start
	}
	if last = last.AddDate(years, 0, 0); option.Until.IsZero() || option.Until.After(last) {
		option.Until = last
	}
	if period := periods[option.Freq] * time.Duration(max(option.Interval, 1)); period > 0 && option.Count == 0 {
		if whole := local.Sub(r.start) / period; whole > 0 {
			option.Dtstart = r.start.Add(whole * period)
		}
	}
	rule, err := rrule.NewRRule(option)
	if err != nil {
		return func() (time.Time, bool) { return time.Time{}, false }
	}
	return rule.Iterator()
}

// Next is the first time after a moment at which the rule is due in a zone, as its
// clocks show it. Clock changes count as for a Cron.
func (r Rule) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	local := LocalOf(after, zone)
	next := r.from(local)
	for {
		at, ok := next()
		if !ok {
			return time.Time{}, false
		}
		if at.After(local) {
			if at := Instant(at, zone); at.After(after) {
				return at, true
			}
		}
	}
}

// Gap is the shortest time between two times that are due, as far as one can see.
func (r Rule) Gap(after time.Time, zone *time.Location) time.Duration {
	return shortest(r, after, zone)
}

// Describe says in words when the rule is due, in "en" or "ru". A rule for which there
// are no words is its text.
func (r Rule) Describe(language string) string {
	w, o := wordsOf(language), r.rule
	if len(o.Bysetpos)+len(o.Byyearday)+len(o.Byweekno)+len(o.Byeaster) > 0 || o.Count > 0 {
		return r.text
	}
	units := map[rrule.Frequency]unit{
		rrule.MINUTELY: w.minute, rrule.HOURLY: w.hour, rrule.DAILY: w.dayUnit, rrule.WEEKLY: w.week, rrule.MONTHLY: w.month, rrule.YEARLY: w.year,
	}
	parts := []string{w.every(max(o.Interval, 1), units[o.Freq])}
	var weekdays mask
	for _, d := range o.Byweekday {
		if d.N() != 0 {
			if d.N() < -1 || d.N() > 5 || len(o.Byweekday) > 1 {
				return r.text
			}
			parts = append(parts, w.nth(max(d.N(), 0), (d.Day()+1)%7))
			continue
		}
		weekdays |= 1 << ((d.Day() + 1) % 7)
	}
	if weekdays != 0 {
		parts = append(parts, w.onDay+" "+w.daysOf(weekdays))
	}
	switch {
	case slices.Equal(o.Bymonthday, []int{-1}):
		parts = append(parts, w.lastDay)
	case slices.ContainsFunc(o.Bymonthday, func(d int) bool { return d < 0 }):
		return r.text
	case len(o.Bymonthday) > 0:
		parts = append(parts, fmt.Sprintf(w.onDays, w.join(numbers(o.Bymonthday))))
	case o.Freq <= rrule.MONTHLY && weekdays == 0 && len(o.Byweekday) == 0:
		parts = append(parts, fmt.Sprintf(w.onDays, fmt.Sprint(r.start.Day())))
	}
	if len(o.Bymonth) > 0 {
		var months mask
		for _, m := range o.Bymonth {
			months |= 1 << m
		}
		parts = append(parts, w.in+" "+w.join(w.named(months, w.months)))
	}
	if o.Freq < rrule.HOURLY {
		parts = append(parts, r.clocks(w))
	}
	if !o.Until.IsZero() {
		parts = append(parts, w.until+" "+o.Until.Format(time.DateOnly))
	}
	return strings.Join(parts, " ")
}

// clocks says at which times of the day the rule is due.
func (r Rule) clocks(w words) string {
	hours, minutes := r.rule.Byhour, r.rule.Byminute
	if len(hours) == 0 {
		hours = []int{r.start.Hour()}
	}
	if len(minutes) == 0 {
		minutes = []int{r.start.Minute()}
	}
	var texts []string
	for _, h := range hours {
		for _, m := range minutes {
			texts = append(texts, clock(h, m, r.start.Second(), r.start.Second() == 0))
		}
	}
	return w.at + " " + w.join(texts)
}
