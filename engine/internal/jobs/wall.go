package jobs

import "time"

// A wall time is what clocks show, kept as a time in UTC: it may come twice or
// never in a zone.

// wallOf is what clocks in a zone show at a moment, to the second.
func wallOf(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// midnight is the beginning of a wall time's day.
func midnight(wall time.Time) time.Time {
	return time.Date(wall.Year(), wall.Month(), wall.Day(), 0, 0, 0, 0, time.UTC)
}

// around is longer than any change of a zone's offset.
const around = 36 * time.Hour

// instant is the first moment at which clocks in a zone show a wall time. One
// that is left out because clocks are set forward is the moment when they are.
func instant(wall time.Time, zone *time.Location) time.Time {
	_, before := wall.Add(-around).In(zone).Zone()
	_, after := wall.Add(around).In(zone).Zone()
	early := wall.Add(-time.Duration(max(before, after)) * time.Second).In(zone)
	if wallOf(early, zone).Equal(wall) {
		return early
	}
	late := wall.Add(-time.Duration(min(before, after)) * time.Second).In(zone)
	if wallOf(late, zone).Equal(wall) {
		return late
	}
	if _, end := early.ZoneBounds(); !end.IsZero() {
		return end
	}
	return late
}
