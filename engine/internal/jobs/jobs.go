// Package jobs finds the jobs that are due and fires their runs.
//
// The database holds the jobs and their next times; gocron is only the timer. When it
// fires, one transaction looks up and claims what is due, so a timer that fires early,
// late, twice or not at all only shifts the moment. A start, a clock that was set and a
// change by another process all call Settle. The package runs nothing and knows no
// chats.
package jobs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"klawbot/engine/internal/store"
	"klawbot/internal/wait"
)

// Config is what New needs.
type Config struct {
	// Store is required.
	Store *store.Store
	// Rules returns the current rules. Required.
	Rules func() Rules
	// Fire gets each claimed run. It must not block. Required.
	Fire func(store.Run)
	// LookEvery is how often to check whether the clock was set. Default: 1 s.
	LookEvery time.Duration
	// Wall is the clock; nil is time.Now. Elapsed time is measured with the latter.
	Wall func() time.Time
	// Log is required.
	Log *slog.Logger
}

// Rules say what happens to missed runs.
type Rules struct {
	// Threshold is how late a run may start and not count as missed.
	Threshold time.Duration
	// Grace is how late a missed run may be caught up, 0 for unlimited.
	Grace time.Duration
}

// Scheduler wakes the engine when jobs are due.
type Scheduler struct {
	config  Config
	changed chan struct{}

	mu    sync.Mutex
	armed map[store.JobID]timer // guarded by mu
	// fired are the runs that were fired and have not ended.
	fired map[store.RunID]bool // guarded by mu
	cron  gocron.Scheduler     // guarded by mu; nil unless Run runs
	watch watch                // guarded by mu
}

// timer is a job's timer: in gocron, or that of a job that runs once.
type timer struct {
	plan plan
	job  gocron.Job
	once *time.Timer
}

// plan determines when a job is due.
type plan struct {
	cron, zone string
	at         time.Time
}

// New returns a Scheduler that does nothing until Run.
func New(c Config) *Scheduler {
	if c.Wall == nil {
		c.Wall = time.Now
	}
	return &Scheduler{watch: watch{wall: c.Wall}, config: c, changed: make(chan struct{}, 1), armed: map[store.JobID]timer{}, fired: map[store.RunID]bool{}}
}

// Changed tells the scheduler that jobs were added or changed.
func (s *Scheduler) Changed() { wait.Signal(s.changed) }

const (
	// stopWithin bounds the wait for gocron.
	stopWithin = 2 * time.Second
	// retrySync is the wait after a failed read or write of jobs.
	retrySync = 5 * time.Second
)

// Run fires what is due until ctx ends.
func (s *Scheduler) Run(ctx context.Context) error {
	cron, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(stopWithin))
	if err != nil {
		return fmt.Errorf("start the scheduler: %w", err)
	}
	s.mu.Lock()
	s.cron = cron
	s.watch.begin()
	s.mu.Unlock()
	cron.Start()
	defer s.stop()
	ticker := time.NewTicker(cmp.Or(s.config.LookEvery, watchEvery))
	defer ticker.Stop()
	ok, tried := s.sync(ctx, true), time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			ok = s.sync(ctx, false) && ok
		case <-ticker.C:
			if s.look() || !ok && time.Since(tried) >= retrySync {
				ok, tried = s.sync(ctx, true), time.Now()
			}
			s.sweep(ctx)
		}
	}
}

// look checks whether the clock was set, and reports whether to settle all jobs.
func (s *Scheduler) look() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	by, all := s.watch.look()
	if by != 0 {
		wait := time.Duration(0)
		if s.watch.held() {
			wait = calm
		}
		s.config.Log.Warn("the clock was set, next runs will be computed again", "by", by.Round(time.Millisecond), "in", wait)
	}
	return all
}

// held reports whether the clock was just set, so that due jobs must wait.
func (s *Scheduler) held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch.held()
}

// sweep deletes the missed runs that a wrong clock recorded, once the clock is steady.
func (s *Scheduler) sweep(ctx context.Context) {
	s.mu.Lock()
	due := s.watch.sweep()
	s.mu.Unlock()
	if !due {
		return
	}
	var n int64
	err := s.config.Store.Write(ctx, func(tx *store.Tx) (err error) {
		defer tx.At(s.now())()
		n, err = tx.Runs().DropVoidRuns()
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.config.Log.Error("missed runs recorded by a wrong clock not deleted", "err", err)
	}
	if n > 0 {
		s.config.Log.Info("missed runs recorded by a wrong clock deleted", "runs", n)
	}
}

// now is the time by the clock.
func (s *Scheduler) now() time.Time { return s.config.Wall() }

func (s *Scheduler) stop() {
	s.mu.Lock()
	cron := s.cron
	for _, t := range s.armed {
		if t.once != nil {
			t.once.Stop()
		}
	}
	s.cron, s.armed = nil, map[store.JobID]timer{}
	s.mu.Unlock()
	if err := cron.Shutdown(); err != nil {
		s.config.Log.Warn("scheduler not stopped in time", "err", err)
	}
}

// settleBatch is how many jobs are settled in one transaction.
const settleBatch = 100

// sync settles new and changed jobs, or all, and sets their timers. While the clock is
// not trusted it does not. It reports whether that worked.
func (s *Scheduler) sync(ctx context.Context, all bool) bool {
	var on []store.Job
	var open []store.Run
	known := s.known()
	held := s.held()
	var err error
	if all && !held {
		err = s.revive(ctx)
	}
	if err == nil {
		err = s.config.Store.Read(ctx, func(tx *store.Tx) (err error) {
			if on, err = tx.Jobs().Jobs(true); err != nil {
				return err
			}
			open, err = tx.Runs().OpenRuns()
			return err
		})
	}
	var fresh []store.JobID
	if err == nil {
		s.fireOpen(open, known)
		fresh = s.forget(on, all)
	}
	if held {
		fresh = nil // when the clock is trusted again, all are settled
	}
	for len(fresh) > 0 && err == nil {
		n := min(len(fresh), settleBatch)
		_, err = s.settle(ctx, fresh[:n]...)
		fresh = fresh[n:]
	}
	if err != nil {
		if ctx.Err() == nil {
			s.config.Log.Error("jobs not settled", "err", err)
		}
		return false
	}
	return true
}

// revive turns one-time jobs on again that a clock that was ahead recorded as missed.
func (s *Scheduler) revive(ctx context.Context) error {
	return s.config.Store.Write(ctx, func(tx *store.Tx) error {
		defer tx.At(s.now())()
		_, err := tx.Runs().ReviveJobs()
		return err
	})
}

// fireOpen fires the open runs that were not fired yet: interrupted ones, and those
// that users started. It forgets the ended ones among those fired before open was read.
func (s *Scheduler) fireOpen(open []store.Run, known []store.RunID) {
	ids := map[store.RunID]bool{}
	for _, r := range open {
		ids[r.ID] = true
		s.fire(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range known {
		if !ids[id] {
			delete(s.fired, id)
		}
	}
}

// known are the fired runs.
func (s *Scheduler) known() []store.RunID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.fired))
}

// Ended releases a run. If it is still open, it is fired again when jobs change.
func (s *Scheduler) Ended(id store.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fired, id)
}

// fire fires a run, once.
func (s *Scheduler) fire(r store.Run) {
	s.mu.Lock()
	known := s.fired[r.ID]
	s.fired[r.ID] = true
	s.mu.Unlock()
	if known {
		return
	}
	s.config.Log.Info("job due", "job", r.Job, "run", r.ID, "cause", r.Cause)
	s.config.Fire(r)
}

// forget removes the timers of removed and changed jobs, or all, and returns the jobs
// without a timer.
func (s *Scheduler) forget(on []store.Job, all bool) []store.JobID {
	s.mu.Lock()
	defer s.mu.Unlock()
	plans := map[store.JobID]plan{}
	var fresh []store.JobID
	for _, j := range on {
		plans[j.ID] = planOf(j)
		if t, ok := s.armed[j.ID]; !ok || all || t.plan != plans[j.ID] || j.NextRun.IsZero() {
			fresh = append(fresh, j.ID)
		}
	}
	for id, t := range s.armed {
		if p, on := plans[id]; all || !on || p != t.plan {
			s.disarm(id)
		}
	}
	return fresh
}

func planOf(j store.Job) plan { return plan{j.Cron, j.Zone, j.At} }

// disarm removes the timer of a job. s.mu is held.
func (s *Scheduler) disarm(id store.JobID) {
	t, ok := s.armed[id]
	if !ok || s.cron == nil {
		return
	}
	delete(s.armed, id)
	if t.once != nil {
		t.once.Stop()
		return
	}
	_ = s.cron.RemoveJob(t.job.ID()) // it may be gone
}

// settle claims and fires the due runs of some jobs, and sets their timers. When nothing
// was due, next is the time of the last of the jobs, else it is zero.
func (s *Scheduler) settle(ctx context.Context, ids ...store.JobID) (next time.Time, err error) {
	if s.held() {
		return next, nil
	}
	var due []store.Run
	var settled []store.Job
	err = s.config.Store.Write(ctx, func(tx *store.Tx) error {
		due, settled = due[:0], settled[:0]
		for _, id := range ids {
			j, runs, err := Settle(tx, id, s.now(), s.config.Rules())
			if err != nil {
				return err
			}
			due, settled = append(due, runs...), append(settled, j)
		}
		return nil
	})
	if err != nil {
		return next, err
	}
	for _, r := range due {
		s.fire(r)
	}
	for _, j := range settled {
		s.arm(ctx, j)
		if len(due) == 0 && j.State == store.JobOn {
			next = j.NextRun
		}
	}
	return next, nil
}

// arm sets the timer of a job that is on, unless it has one.
func (s *Scheduler) arm(ctx context.Context, j store.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cron == nil || j.State != store.JobOn || j.NextRun.IsZero() {
		return
	}
	if _, ok := s.armed[j.ID]; ok {
		return
	}
	if j.Cron == "" {
		// gocron's scheduler never comes back from a one-time job whose time passes while
		// the job is added: it asks on and on for a time that is not past.
		s.armed[j.ID] = timer{plan: planOf(j), once: time.AfterFunc(time.Until(j.NextRun), func() { s.wake(ctx, j.ID) })}
		return
	}
	t, err := newTimetable(j)
	if err != nil {
		s.config.Log.Error("schedule of the job not readable", "job", j.ID, "err", err)
		return
	}
	job, err := s.cron.NewJob(gocron.CronJob(j.Cron, false), gocron.NewTask(func() { s.wake(ctx, j.ID) }),
		gocron.WithName(j.Name), gocron.WithCronImplementation(t))
	if err != nil {
		s.config.Log.Error("timer of the job not set", "job", j.ID, "err", err)
		return
	}
	s.armed[j.ID] = timer{plan: planOf(j), job: job}
}

// nearly is how early a timer may fire when the clock is slowed down.
const nearly = 2 * time.Second

// wake settles a job when its timer fires.
func (s *Scheduler) wake(ctx context.Context, id store.JobID) {
	for ctx.Err() == nil {
		next, err := s.settle(ctx, id)
		left := next.Sub(s.now())
		switch {
		case err != nil && ctx.Err() == nil:
			s.config.Log.Error("job not claimed", "job", id, "err", err)
			left = retrySync
		case next.IsZero() || left > nearly:
			return
		}
		wait.For(ctx, left)
	}
}
