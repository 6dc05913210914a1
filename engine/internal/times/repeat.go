package times

import (
	"errors"
	"fmt"
	"time"
)

// ErrPast is the error of a past time.
var ErrPast = errors.New("the time is in the past")

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

// ReadExpression reads a cron expression or a recurrence rule. One without DTSTART begins
// now. Text that does not even look like one is ErrNotCron.
func ReadExpression(text string, now time.Time, zone *time.Location) (Repeat, error) {
	if !isRule(text) {
		return ParseCron(text)
	}
	r, err := parseRule(text)
	if err == nil {
		if until := r.rule.Until; untilUTC.MatchString(text) {
			r.rule.Until = LocalOf(until, zone)
		}
		var ok bool
		if r, ok = r.anchored(now, zone); !ok {
			err = fmt.Errorf("%s is never due", quote(text))
		}
	}
	return r, err
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
