package jobs

import "time"

const (
	// watchEvery is how often the clock is compared with the time that passed.
	watchEvery = time.Second
	// driftMax is how far the clock may drift before timers are set again.
	driftMax = 500 * time.Millisecond
	// leap is the step from which a clock is not trusted.
	leap = time.Minute
	// calm is how long such a clock is not trusted and nothing is due. If it is set
	// right by then, nothing was missed and nothing ran early. A machine that wakes from
	// sleep waits as long.
	calm = 30 * time.Second
	// steady is how long after the last step the void rows are deleted.
	steady = time.Minute
)

// watch compares the clock with elapsed time.
type watch struct {
	// wall is the clock, time.Now but in tests.
	wall func() time.Time
	// base is the last trusted reading; last is the reading after the last step.
	base, last reading
	// set is when the clock was set last, or the start.
	set time.Time
	// hold is until when last is not trusted, zero when it is.
	hold time.Time
	// swept: the void rows are deleted.
	swept bool
}

// reading is the clock at a moment.
type reading struct{ wall, at time.Time }

// begin trusts the clock as it is.
func (w *watch) begin() {
	w.last = reading{w.wall().Round(0), time.Now()}
	w.base, w.set, w.hold, w.swept = w.last, w.last.at, time.Time{}, false
}

// drift is how far the clock and elapsed time differ since a reading.
func (w *watch) drift(since reading) time.Duration {
	return w.wall().Round(0).Sub(since.wall) - time.Since(since.at)
}

// held reports whether due jobs must wait.
func (w *watch) held() bool {
	return !w.hold.IsZero() || !w.base.at.IsZero() && w.drift(w.base).Abs() > leap
}

// look returns by how much the clock was set since the last look, and whether to settle
// all jobs.
func (w *watch) look() (by time.Duration, all bool) {
	by = w.drift(w.last)
	switch {
	case by.Abs() > driftMax:
		base := w.base
		right := w.drift(base).Abs() <= leap
		w.begin()
		if right {
			return by, true
		}
		w.base, w.hold = base, w.set.Add(calm)
		return by, false
	case !w.hold.IsZero() && !time.Now().Before(w.hold):
		w.base, w.hold = w.last, time.Time{}
		return 0, true
	}
	return 0, false
}

// sweep reports, once, that the clock is steady.
func (w *watch) sweep() bool {
	if w.swept || w.held() || time.Since(w.set) < steady {
		return false
	}
	w.swept = true
	return true
}
