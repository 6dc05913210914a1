package phrase

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"klawbot/engine/internal/times"
)

// errNoTime is the error of a text that is not a time.
var errNoTime = errors.New(`not a time: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`)

// isoTime is a date with a time of the day, perhaps with an offset.
var isoTime = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{1,2}:?\d{2})?$`)

// ParseAt reads when a job is due: an ISO time (in the zone, when it has no offset of
// its own), a duration from now ("in 20m"), words ("tomorrow at 9", «завтра в 9»), or a
// repetition ("every 2 weeks on Monday at 9"). A past time is times.ErrPast.
func ParseAt(text string, now time.Time, zone *time.Location) (Wish, error) {
	text = strings.TrimSpace(text)
	at, err := parseISO(text, zone)
	if errors.Is(err, errNoTime) {
		w, err := readWhole(text, now, zone)
		if errors.Is(err, ErrNoTime) {
			err = errNoTime
		}
		if err != nil || w.Repeat != nil {
			return w, err
		}
		at = w.At
	} else if err != nil {
		return Wish{}, err
	}
	if !at.After(now) {
		return Wish{At: at, Zone: zone}, fmt.Errorf("%w: %s", times.ErrPast, at.In(zone).Format("2006-01-02 15:04:05 -07:00"))
	}
	return Wish{At: at, Zone: zone}, tooFar(at, now)
}

// tooFar refuses a time that is decades away.
func tooFar(at, now time.Time) error {
	if at.After(now.AddDate(times.Horizon, 0, 0)) {
		return fmt.Errorf("the year %d is too far away", at.Year())
	}
	return nil
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
		return time.Time{}, fmt.Errorf("%s is not a valid time", quote(text))
	}
	if ends {
		local = local.AddDate(0, 0, 1)
	}
	if offset == "" {
		return times.Instant(local, zone), nil
	}
	there := times.OffsetZone(offset)
	if there == nil {
		return time.Time{}, fmt.Errorf("%s is not a valid time", quote(text))
	}
	return times.Instant(local, there), nil
}
