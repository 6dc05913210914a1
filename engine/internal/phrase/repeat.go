package phrase

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/phrase/lexicon"
	"klawbot/engine/internal/times"
)

// ReadRepeat reads a cron expression, a recurrence rule, or words such as "every 2 weeks on Monday at 9". The
// zone is the one that is given or that the words name. Other text is times.ErrNotCron.
func ReadRepeat(text string, now time.Time, zone *time.Location) (times.Repeat, *time.Location, error) {
	r, err := times.ReadExpression(text, now, zone)
	if !errors.Is(err, times.ErrNotCron) {
		return r, zone, err
	}
	w, err := readWhole(text, now, zone)
	if unclear, ok := errors.AsType[*UnclearError](err); ok && unclear.Why != DoubtWords && unclear.Why != DoubtRepeat {
		return nil, zone, unclear
	}
	if err != nil || w.Repeat == nil {
		return nil, zone, times.ErrNotCron
	}
	return w.Repeat, w.Zone, nil
}

// repeat is what a phrase says about a repetition: every n units.
type repeat struct {
	n    int
	unit time.Duration
	// days of the month, -1 for the last; nth is which of the month's weekdays, -1 for
	// the last, 0 for each.
	days []int
	nth  int
	// month is for "every 5 January".
	month int
	// starts and until bound it.
	starts, until *moment
}

// repeats is the Repeat that a moment with a repeat means.
func (m moment) repeats(now time.Time, zone *time.Location) (times.Repeat, error) {
	r := m.repeat
	if m.isSpan || m.isDay || m.weeks != 0 || m.months != 0 {
		return nil, &UnclearError{Why: DoubtRepeat}
	}
	if m.isDate { // "monthly on 5 May" says a year or nothing
		if r.unit != year || m.year != 0 {
			return nil, &UnclearError{Why: DoubtRepeat}
		}
		r.days, r.month = []int{m.date}, m.month
	}
	local := times.LocalOf(now, zone)
	if r.starts != nil {
		begin, err := r.starts.time(now, zone)
		if err != nil {
			return nil, err
		}
		if local = times.LocalOf(begin, zone); len(m.clocks) == 0 {
			m.clocks = r.starts.clocks
		}
	}
	clocks := slices.Clone(m.clocks)
	if len(clocks) > 0 || m.isPart {
		if r.unit < day {
			return nil, &UnclearError{Why: DoubtRepeat}
		}
	}
	if len(clocks) == 0 {
		clocks = []time.Duration{0}
	}
	for i := range clocks {
		clocks[i] = m.timeOfDay(i) % day
	}
	if !oneMinute(clocks) {
		return nil, &UnclearError{Why: DoubtSeveral}
	}
	if r.unit == week && m.weekdays == 0 {
		m.weekdays = 1 << local.Weekday()
	}
	if r.unit >= month && len(r.days) == 0 && m.weekdays == 0 {
		r.days = []int{local.Day()}
	}
	if r.unit == year && r.month == 0 {
		r.month = int(local.Month())
	}
	if m.weekdays != 0 && (r.unit == month || r.unit == year) != (r.nth != 0) {
		return nil, &UnclearError{Why: DoubtRepeat}
	}
	if text := r.cron(m.weekdays, clocks); text != "" && r.starts == nil && r.until == nil {
		return times.ParseCron(text)
	}
	return r.rule(m.weekdays, clocks, now, zone)
}

// oneMinute reports whether all times of the day have the same minute.
func oneMinute(clocks []time.Duration) bool {
	return !slices.ContainsFunc(clocks, func(c time.Duration) bool { return c%time.Hour != clocks[0]%time.Hour })
}

// cron is the repetition as a cron expression, "" when there is none.
func (r repeat) cron(weekdays weekdays, clocks []time.Duration) string {
	seconds := int(clocks[0].Seconds()) % 60
	at := fmt.Sprintf("%d %s", int(clocks[0].Minutes())%60, strings.Join(hoursOf(clocks), ","))
	dow := "*"
	if weekdays != 0 {
		dow = strings.Join(numbers(weekdays.list()), ",")
	}
	switch {
	case r.unit == time.Second && 60%r.n == 0 && weekdays == 0:
		return fmt.Sprintf("*/%d * * * * ?", r.n)
	case seconds != 0:
		return ""
	case r.unit == time.Minute && 60%r.n == 0:
		return fmt.Sprintf("*/%d * * * %s", r.n, dow)
	case r.unit == time.Hour && 24%r.n == 0:
		return fmt.Sprintf("0 */%d * * %s", r.n, dow)
	case r.n != 1:
		return ""
	case r.unit == day || r.unit == week:
		return at + " * * " + dow
	case r.nth != 0:
		return r.nthCron(weekdays, at)
	case slices.Contains(r.days, lexicon.Last):
		if len(r.days) > 1 || r.unit == year {
			return ""
		}
		return "0 " + at + " L * ?"
	}
	days := strings.Join(numbers(r.days), ",")
	if r.unit == year {
		return fmt.Sprintf("%s %s %d *", at, days, r.month)
	}
	return at + " " + days + " * *"
}

// nthCron is "0 0 9 ? * 2#1", the first Monday of a month.
func (r repeat) nthCron(weekdays weekdays, at string) string {
	all := weekdays.list()
	if len(all) != 1 || r.unit != month {
		return ""
	}
	if r.nth == lexicon.Last {
		return fmt.Sprintf("0 %s ? * %dL", at, all[0]+1)
	}
	return fmt.Sprintf("0 %s ? * %d#%d", at, all[0]+1, r.nth)
}

// rule is the repetition as a recurrence rule, which begins with the first time after now.
func (r repeat) rule(weekdays weekdays, clocks []time.Duration, now time.Time, zone *time.Location) (times.Repeat, error) {
	freq := map[time.Duration]string{time.Minute: "MINUTELY", time.Hour: "HOURLY", day: "DAILY", week: "WEEKLY", month: "MONTHLY", year: "YEARLY"}[r.unit]
	if freq == "" {
		return nil, &UnclearError{Why: DoubtRepeat}
	}
	parts := []string{"FREQ=" + freq, fmt.Sprintf("INTERVAL=%d", r.n)}
	add := func(name string, values []string) {
		if len(values) > 0 {
			parts = append(parts, name+"="+strings.Join(values, ","))
		}
	}
	var days []string
	for _, d := range weekdays.list() {
		name := strings.Fields("SU MO TU WE TH FR SA")[d]
		if r.nth != 0 {
			name = fmt.Sprint(r.nth) + name
		}
		days = append(days, name)
	}
	add("BYDAY", days)
	add("BYMONTHDAY", numbers(r.days))
	if r.month != 0 {
		add("BYMONTH", numbers([]int{r.month}))
	}
	if r.unit >= day {
		add("BYHOUR", hoursOf(clocks))
		add("BYMINUTE", numbers([]int{int(clocks[0].Minutes()) % 60}))
		add("BYSECOND", numbers([]int{int(clocks[0].Seconds()) % 60}))
	}
	from := now
	if r.starts != nil {
		begin, err := r.starts.time(now, zone)
		if err != nil {
			return nil, err
		}
		if from = begin.Add(-time.Second); len(r.starts.clocks) == 0 {
			from = times.Instant(times.Midnight(times.LocalOf(begin, zone)), zone).Add(-time.Second)
		}
	}
	if r.until != nil {
		end, err := r.until.time(from, zone)
		if err != nil {
			return nil, err
		}
		add("UNTIL", []string{times.LocalOf(end, zone).Format("20060102")})
	}
	repeats, err := times.ReadExpression("RRULE:"+strings.Join(parts, ";"), from, zone)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", times.ErrPast, err)
	}
	return repeats, nil
}

// hoursOf are the hours of times of the day.
func hoursOf(clocks []time.Duration) []string {
	var hours []int
	for _, c := range clocks {
		hours = append(hours, int(c.Hours()))
	}
	return numbers(hours)
}
