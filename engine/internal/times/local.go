package times

import "time"

// A local time is what clocks show, kept as a time in UTC: it may come twice or
// never in a zone.

// LocalOf is what clocks in a zone show at a moment, to the second.
func LocalOf(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// Midnight is the beginning of a local time's day.
func Midnight(local time.Time) time.Time {
	return time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
}

// around is longer than any change of a zone's offset.
const around = 36 * time.Hour

// Instant is the first moment at which clocks in a zone show a local time. One
// that is left out because clocks are set forward is the moment when they are.
func Instant(local time.Time, zone *time.Location) time.Time {
	_, before := local.Add(-around).In(zone).Zone()
	_, after := local.Add(around).In(zone).Zone()
	early := local.Add(-time.Duration(max(before, after)) * time.Second).In(zone)
	if LocalOf(early, zone).Equal(local) {
		return early
	}
	late := local.Add(-time.Duration(min(before, after)) * time.Second).In(zone)
	if LocalOf(late, zone).Equal(local) {
		return late
	}
	if _, end := early.ZoneBounds(); !end.IsZero() {
		return end
	}
	return late
}
