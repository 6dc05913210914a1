package times

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// ErrPast is the error of a time that has come already.
var ErrPast = errors.New("the time is in the past")

// errNoTime is the error of a text that is no time.
var errNoTime = errors.New(`not a time: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`)

// isoTime is a date with a time of the day, perhaps with an offset.
var isoTime = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:?\d{2})?$`)

// ParseAt reads the time of a job that runs once: an ISO time (in the zone, when
// it has no offset of its own), a duration from now ("in 20m"), or words
// ("tomorrow at 9", «завтра в 9»). A time that has come is ErrPast.
func ParseAt(text string, now time.Time, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	at, err := parseISO(text, zone)
	if errors.Is(err, errNoTime) {
		var rest string
		if at, rest, err = ParseReminder(text, now, zone); rest != "" || errors.Is(err, ErrNoTime) {
			return time.Time{}, errNoTime
		}
	}
	switch {
	case err != nil:
		return time.Time{}, err
	case !at.After(now):
		return time.Time{}, fmt.Errorf("%w: %s", ErrPast, at.In(zone).Format("2006-01-02 15:04:05 -07:00"))
	case at.After(now.AddDate(horizon, 0, 0)):
		return time.Time{}, fmt.Errorf("the year %d is too far away", at.Year())
	}
	return at, nil
}

func parseISO(text string, zone *time.Location) (time.Time, error) {
	m := isoTime.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, errNoTime
	}
	day, clock, offset := m[1], m[2], m[3]
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	ends := clock == "24:00:00" // the end of the day
	if ends {
		clock = "00:00:00"
	}
	local, err := time.Parse("2006-01-02 15:04:05", day+" "+clock)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s is no time of the calendar", quote(text))
	}
	if ends {
		local = local.AddDate(0, 0, 1)
	}
	if offset == "" {
		return instant(local, zone), nil
	}
	if offset == "Z" {
		return local, nil
	}
	shift, err := time.Parse("-0700", strings.Replace(offset, ":", "", 1))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s is no time of the calendar", quote(text))
	}
	_, seconds := shift.Zone()
	return local.Add(-time.Duration(seconds) * time.Second), nil
}

// ParseZone reads the name of a time zone; empty is the one that is given, and
// "Local" the system's.
func ParseZone(name string, usual *time.Location) (*time.Location, error) {
	if name == "" {
		return usual, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known; write an IANA name such as Europe/Berlin", quote(name))
	}
	return zone, nil
}
