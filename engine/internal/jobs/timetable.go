package jobs

import (
	"time"

	"github.com/go-co-op/gocron/v2"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
)

// timetable adapts a job's schedule to gocron.
type timetable struct {
	repeat times.Repeat
	zone   *time.Location
}

var _ gocron.Cron = (*timetable)(nil)

func newTimetable(j store.Job) (*timetable, error) {
	repeat, err := times.ParseRepeat(j.Cron)
	if err != nil {
		return nil, err
	}
	zone, err := times.ParseZone(j.Zone, time.UTC)
	return &timetable{repeat, zone}, err
}

// IsValid reports whether an expression can be read. The zone is the job's own.
func (t *timetable) IsValid(crontab string, _ *time.Location, now time.Time) error {
	_, err := times.ParseRepeat(crontab)
	return err
}

// Next is the time after the last one, and never a past one: gocron would ask for each
// of those. A job that is never due again gets a time in 1,000 years.
func (t *timetable) Next(last time.Time) time.Time {
	if now := time.Now(); last.Before(now) {
		last = now
	}
	if next, ok := t.repeat.Next(last, t.zone); ok {
		return next
	}
	return last.AddDate(1000, 0, 0)
}
