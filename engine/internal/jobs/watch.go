package jobs

import "time"

const (
	// watchEvery is how often the clock is compared with the time that passed.
	watchEvery = time.Second
	// driftMax is how far the clock may go astray until timers are set anew.
	driftMax = 500 * time.Millisecond
	// leap is how far the clock must be set at once not to be believed.
	leap = time.Minute
	// calm is how long such a clock is not believed and nothing is due by it:
	// when it is soon set right again, nothing was missed and nothing ran that
	// was not due. A machine that wakes from sleep waits as long.
	calm = 30 * time.Second
	// steady is how long the clock must not have been set until the marks that it
	// has made void are deleted.
	steady = time.Minute
)

// watch compares the clock with the time that really passes. The zero value has
// seen nothing.
type watch struct {
	// wall is the clock, time.Now but in tests.
	wall func() time.Time
	// base is the clock as it is believed; last is the clock since it was set.
	base, last reading
	// set is when the clock was set last, or the start.
	set time.Time
	// hold is until when last is not believed, zero when it is.
	hold time.Time
	// swept says that the void marks are deleted.
	swept bool
}

// reading is the clock at a moment.
type reading struct{ wall, at time.Time }

// begin takes the clock as it is for right.
func (w *watch) begin() {
	w.last = reading{w.wall().Round(0), time.Now()}
	w.base, w.set, w.hold, w.swept = w.last, w.last.at, time.Time{}, false
}

// drift is how far the clock has left the time that passed since a reading.
func (w *watch) drift(since reading) time.Duration {
	return w.wall().Round(0).Sub(since.wall) - time.Since(since.at)
}

// held reports whether what is due must wait.
func (w *watch) held() bool {
	return !w.hold.IsZero() || !w.base.at.IsZero() && w.drift(w.base).Abs() > leap
}

// look says by how much the clock was set since the last look, 0 for not at all, and
// whether all jobs have to be looked through.
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

// sweep reports, once, that the clock has been left alone for a while.
func (w *watch) sweep() bool {
	if w.swept || w.held() || time.Since(w.set) < steady {
		return false
	}
	w.swept = true
	return true
}
