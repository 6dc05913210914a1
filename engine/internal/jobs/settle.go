package jobs

import (
	"fmt"
	"time"

	"klawbot/engine/internal/store"
)

// The misfire rules: what happens to missed runs.
const (
	// RunOnce catches up with one run, however many were missed.
	RunOnce = "run_once"
	// Skip does not catch up.
	Skip = "skip"
)

const (
	// missedRows is how many missed runs of a job have a row each; older ones share
	// one.
	missedRows = 100
	// missedMax is how many missed runs are counted.
	missedMax = 10_000
)

// Settle claims the run of a job that is due and sets its next time. It may be called at
// any time: a time that has a run gets no second one, and several missed times get one
// run. The caller starts the runs that it returns.
func Settle(tx *store.Tx, id store.JobID, now time.Time, r Rules) (store.Job, []store.Run, error) {
	defer tx.At(now)()
	j, err := tx.Jobs().Job(id)
	if err != nil || j.State != store.JobOn {
		return j, nil, err
	}
	s := settlement{tx: tx, job: j, now: now, rules: r}
	if j.Cron == "" {
		err = s.once()
	} else {
		err = s.again()
	}
	if err == nil && s.job != j {
		err = tx.Jobs().UpdateJob(s.job)
	}
	if err != nil {
		return j, nil, fmt.Errorf("settle job %d: %w", id, err)
	}
	return s.job, s.due, nil
}

// settlement is one Settle.
type settlement struct {
	tx    *store.Tx
	job   store.Job
	now   time.Time
	rules Rules
	due   []store.Run
	// made: a clock that was ahead already caught up.
	made bool
}

// once settles a job that has one time.
func (s *settlement) once() error {
	restored := s.job.NextRun.IsZero() // see store.Restore: it has most likely run
	s.job.NextRun = s.job.At
	if s.job.At.After(s.now) {
		return nil
	}
	s.job.State, s.job.NextRun = store.JobDone, time.Time{}
	late := s.now.Sub(s.job.At)
	switch {
	case restored:
		return s.miss(s.job.At, 1, store.NoteRestored)
	case late <= s.rules.Threshold:
		return s.claim(s.job.At, store.CauseDue)
	case s.catchesUp(late):
		return s.claim(s.job.At, store.CauseLate)
	}
	return s.miss(s.job.At, 1, missedNote(late))
}

// catchesUp reports whether to start a run that is so late.
func (s *settlement) catchesUp(late time.Duration) bool {
	return s.job.Misfire != Skip && !s.made && (s.rules.Grace <= 0 || late <= s.rules.Grace)
}

// again settles a job that repeats.
func (s *settlement) again() error {
	t, err := newTimetable(s.job)
	if err != nil {
		s.job.State, s.job.Note = store.JobPaused, err.Error()
		return nil
	}
	next, ok, err := s.free(t)
	if err != nil {
		return err
	}
	from, err := s.from(t, next)
	if err != nil {
		return err
	}
	s.job.NextRun = next
	if !ok {
		s.job.State = store.JobDone
	}
	if from.IsZero() || from.After(s.now) {
		return nil
	}
	missed, last, more := t.between(from, s.now)
	late := s.now.Sub(last)
	switch {
	case late <= s.rules.Threshold:
		err = s.claim(last, store.CauseDue)
	case s.catchesUp(late):
		err = s.claim(last, store.CauseLate)
	default:
		missed = append(missed, last)
	}
	if err != nil {
		return err
	}
	return s.missAll(missed, more)
}

// from is the first time that may be due: NextRun, or an earlier one that a clock that
// was ahead recorded as missed. next is the first free time after now; if it is before
// NextRun, the clock was set back. Until the clock is where it was, late times are not
// missed.
func (s *settlement) from(t *timetable, next time.Time) (time.Time, error) {
	from := s.job.NextRun
	void, err := s.tx.Runs().FirstVoid(s.job.ID)
	if err != nil || from.IsZero() {
		return from, err
	}
	if !void.IsZero() && void.Before(from) {
		from = void
		if s.made, err = s.tx.Runs().MadeUpAfter(s.job.ID, s.now); err != nil {
			return from, err
		}
	}
	settled := s.job.Settled
	switch {
	case from.After(s.now):
		if !next.IsZero() && next.Before(s.job.NextRun) && settled.Before(s.job.NextRun) {
			s.job.Settled = s.job.NextRun
		}
		return from, nil
	case !settled.After(s.now):
		s.job.Settled = time.Time{}
	}
	if s.now.Sub(from) > s.rules.Threshold && from.Before(settled) {
		from, _ = t.repeat.Next(settled.Add(-time.Millisecond), t.zone)
	}
	return from, nil
}

// free is the first time after now that has no run.
func (s *settlement) free(t *timetable) (next time.Time, ok bool, err error) {
	for next = s.now; ; {
		if next, ok = t.repeat.Next(next, t.zone); !ok {
			return time.Time{}, false, nil
		}
		taken, err := s.tx.Runs().RunAt(s.job.ID, next)
		if err != nil || !taken {
			return next, true, err
		}
	}
}

// between are the times from a due one up to now: the last, and at most missedMax
// before it; more: there were more.
func (t *timetable) between(from, now time.Time) (before []time.Time, last time.Time, more bool) {
	last = from
	for len(before) < missedMax {
		next, ok := t.repeat.Next(last, t.zone)
		if !ok || next.After(now) {
			return before, last, false
		}
		before, last = append(before, last), next
	}
	return before, t.latest(last, now), true
}

// latest is the last time up to now, at or after one that is known.
func (t *timetable) latest(known, now time.Time) time.Time {
	for window := time.Minute; now.Add(-window).After(known); window *= 4 {
		next, ok := t.repeat.Next(now.Add(-window), t.zone)
		for ok && !next.After(now) {
			known = next
			next, ok = t.repeat.Next(known, t.zone)
		}
	}
	return known
}

// claim claims a run. It is skipped while another run of the job is open.
func (s *settlement) claim(at time.Time, cause string) error {
	busy, err := s.tx.Runs().OpenRunOf(s.job.ID)
	if err != nil {
		return err
	}
	r := store.Run{Job: s.job.ID, ScheduledAt: at, State: store.RunClaimed, Cause: cause}
	if busy {
		r.State, r.EndedAt, r.Note = store.RunSkipped, s.now, "the previous run had not ended"
	}
	if r.ID, err = s.tx.Runs().ClaimRun(r); err == nil && r.ID != 0 && !busy {
		s.due = append(s.due, r)
	}
	return err
}

// missAll records missed runs: a row for each of the newest, and one for the rest.
func (s *settlement) missAll(all []time.Time, more bool) error {
	if rest := len(all) - missedRows; rest > 0 {
		note := fmt.Sprintf("%d runs were missed from here on", rest)
		if more {
			note = fmt.Sprintf("more than %d runs were missed from here on", rest)
		}
		if err := s.miss(all[0], rest, note); err != nil {
			return err
		}
		all = all[rest:]
	}
	for _, at := range all {
		if err := s.miss(at, 1, missedNote(s.now.Sub(at))); err != nil {
			return err
		}
	}
	return nil
}

func (s *settlement) miss(at time.Time, n int, note string) error {
	_, err := s.tx.Runs().ClaimRun(store.Run{Job: s.job.ID, ScheduledAt: at, State: store.RunMissed, Missed: n, Note: note, EndedAt: s.now})
	return err
}

func missedNote(late time.Duration) string {
	return "noticed " + late.Round(time.Second).String() + " late"
}
