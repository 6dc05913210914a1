package times

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// Repeat says when something is due again and again: a Cron or a Rule.
type Repeat interface {
	// String is the text that ParseRepeat reads.
	String() string
	// Next is the first time after a moment, as clocks in a zone show it; ok is false
	// when there is none.
	Next(after time.Time, zone *time.Location) (next time.Time, ok bool)
	// Gap is the shortest time between two times, as far as one can see.
	Gap(after time.Time, zone *time.Location) time.Duration
	// Describe says in words when it is due, in "en" or "ru".
	Describe(language string) string
}

// ParseRepeat reads what a job stores: a cron expression, or a recurrence rule with its
// DTSTART. Text that does not even look like one is ErrNotCron.
func ParseRepeat(text string) (Repeat, error) {
	if !isRule(text) {
		return ParseCron(text)
	}
	r, err := parseRule(text)
	if err == nil && r.start.IsZero() {
		err = errNoRule
	}
	return r, err
}

// ReadRepeat reads what people and models write: as ParseRepeat does, a rule without
// DTSTART, or words such as "every 2 weeks on Monday at 9". The zone is the one that is
// given or that the words name. Other text is ErrNotCron.
func ReadRepeat(text string, now time.Time, zone *time.Location) (Repeat, *time.Location, error) {
	if isRule(text) {
		r, err := parseRule(text)
		if err == nil {
			var ok bool
			if r, ok = r.anchored(now, zone); !ok {
				err = fmt.Errorf("%s is never due", quote(text))
			}
		}
		return r, zone, err
	}
	c, err := ParseCron(text)
	if !errors.Is(err, ErrNotCron) {
		return c, zone, err
	}
	w, err := readWhole(text, now, zone)
	if unclear, ok := errors.AsType[*UnclearError](err); ok && unclear.Why != DoubtWords && unclear.Why != DoubtRepeat {
		return nil, zone, unclear
	}
	if err != nil || w.Repeat == nil {
		return nil, zone, ErrNotCron
	}
	return w.Repeat, w.Zone, nil
}

// NextTimes are the next n times, fewer when there are no more.
func NextTimes(r Repeat, after time.Time, zone *time.Location, n int) []time.Time {
	var all []time.Time
	for range n {
		next, ok := r.Next(after, zone)
		if !ok {
			break
		}
		all = append(all, next)
		after = next
	}
	return all
}

// gapSamples is how many times are looked at for the shortest gap.
const gapSamples = 200

func shortest(r Repeat, after time.Time, zone *time.Location) time.Duration {
	gap := time.Duration(1<<63 - 1)
	all := NextTimes(r, after, zone, gapSamples)
	for i := 1; i < len(all); i++ {
		gap = min(gap, all[i].Sub(all[i-1]))
	}
	return gap
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
func (m moment) repeats(now time.Time, zone *time.Location) (Repeat, error) {
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
	local := localOf(now, zone)
	if r.starts != nil {
		begin, err := r.starts.time(now, zone)
		if err != nil {
			return nil, err
		}
		if local = localOf(begin, zone); len(m.clocks) == 0 {
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
		return ParseCron(text)
	}
	return r.rule(m.weekdays, clocks, now, zone)
}

// oneMinute reports whether all times of the day have the same minute.
func oneMinute(clocks []time.Duration) bool {
	return !slices.ContainsFunc(clocks, func(c time.Duration) bool { return c%time.Hour != clocks[0]%time.Hour })
}

// cron is the repetition as a cron expression, "" when there is none.
func (r repeat) cron(weekdays mask, clocks []time.Duration) string {
	var hours []string
	for _, c := range clocks {
		hours = append(hours, fmt.Sprint(int(c.Hours())))
	}
	seconds := int(clocks[0].Seconds()) % 60
	at := fmt.Sprintf("%d %s", int(clocks[0].Minutes())%60, strings.Join(hours, ","))
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
	case slices.Contains(r.days, lastWord):
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
func (r repeat) nthCron(weekdays mask, at string) string {
	all := weekdays.list()
	if len(all) != 1 || r.unit != month {
		return ""
	}
	if r.nth == lastWord {
		return fmt.Sprintf("0 %s ? * %dL", at, all[0]+1)
	}
	return fmt.Sprintf("0 %s ? * %d#%d", at, all[0]+1, r.nth)
}

// rule is the repetition as a recurrence rule, which begins with the first time after now.
func (r repeat) rule(weekdays mask, clocks []time.Duration, now time.Time, zone *time.Location) (Repeat, error) {
	if r.unit == time.Second {
		return nil, &UnclearError{Why: DoubtRepeat}
	}
	freq := map[time.Duration]rrule.Frequency{
		time.Minute: rrule.MINUTELY, time.Hour: rrule.HOURLY, day: rrule.DAILY, week: rrule.WEEKLY, month: rrule.MONTHLY, year: rrule.YEARLY,
	}[r.unit]
	rule := Rule{rule: rrule.ROption{Freq: freq, Interval: r.n, Bymonthday: r.days}}
	for _, d := range weekdays.list() {
		one := []rrule.Weekday{rrule.SU, rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA}[d]
		if r.nth != 0 {
			one = one.Nth(r.nth)
		}
		rule.rule.Byweekday = append(rule.rule.Byweekday, one)
	}
	if r.month != 0 {
		rule.rule.Bymonth = []int{r.month}
	}
	if r.unit >= day {
		for _, c := range clocks {
			rule.rule.Byhour = append(rule.rule.Byhour, int(c.Hours()))
		}
		rule.rule.Byminute = []int{int(clocks[0].Minutes()) % 60}
		rule.rule.Bysecond = []int{int(clocks[0].Seconds()) % 60}
	}
	from := now
	if r.starts != nil {
		begin, err := r.starts.time(now, zone)
		if err != nil {
			return nil, err
		}
		if from = begin.Add(-time.Second); len(r.starts.clocks) == 0 {
			from = instant(midnight(localOf(begin, zone)), zone).Add(-time.Second)
		}
	}
	if r.until != nil {
		end, err := r.until.time(from, zone)
		if err != nil {
			return nil, err
		}
		rule.rule.Until = midnight(localOf(end, zone)).Add(day - time.Second)
	}
	rule, ok := rule.anchored(from, zone)
	if !ok {
		return nil, ErrPast
	}
	return ParseRepeat(rule.String()) // as it will be read from the database
}
