// Package run runs jobs that are due. It decides whether a job may run, has a turn do
// the work, and commits the end: what is delivered, who hears of a failure, and whether
// the run is retried. Package schedule edits jobs; the model loop
// is the engine's.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// retryAfter is the wait before the one retry of a run that failed.
	retryAfter = 5 * time.Minute
	// maxAttempts is how often a run is attempted.
	maxAttempts = 2
	// runTimeout is the default for how long a run may take.
	runTimeout = 5 * time.Minute
	// resultKept bounds the result that is stored with a run, in characters.
	resultKept = 4000
	// jobsTogether times the concurrent model calls is the number of concurrent runs;
	// others wait in the order in which they were due.
	jobsTogether = 2
	// lostAfter is the age from which a subagent is not resumed: its result is not
	// wanted a day later.
	lostAfter = 24 * time.Hour
	// Kept is how long ended jobs and run records are kept.
	Kept = 90 * 24 * time.Hour
)

// Config is what New needs. All of it but LookEvery is required.
type Config struct {
	Store    *store.Store
	Life     *lifecycle.Lifecycle
	Gateway  *gateway.Gateway
	Settings func() settings.Settings
	// Turn makes the turn of a run. Its context ends at the run's deadline, when the job
	// is removed, and when the process ends.
	Turn func(context.Context, *Work) Made
	// Owners are the private chats of the owners of a channel, except beside.
	Owners func(beside gateway.ChatID) []gateway.Address
	// LookEvery is how often the jobs are checked for changes by other processes, 0 for
	// the default.
	LookEvery time.Duration
	Log       *slog.Logger
}

// Runs fires jobs that are due and runs them.
type Runs struct {
	Config
	jobs  *jobs.Scheduler
	slots *model.Slots
	live  live
}

// New returns Runs, which start with Run.
func New(c Config) *Runs {
	rs := &Runs{Config: c}
	rs.slots = model.NewSlots(func() int { return jobsTogether * max(c.Settings().MaxConcurrentModelCalls, 1) })
	rs.jobs = jobs.New(jobs.Config{
		Store: c.Store, Log: c.Log, Fire: rs.start, LookEvery: c.LookEvery,
		Rules: func() jobs.Rules {
			s := c.Settings().Scheduler
			return jobs.Rules{Threshold: s.MisfireThreshold, Grace: s.MisfireGrace}
		},
	})
	return rs
}

// Run fires what is due until ctx ends.
func (rs *Runs) Run(ctx context.Context) error { return rs.jobs.Run(ctx) }

// start begins a claimed or interrupted run. It does not block.
func (rs *Runs) start(r store.Run) {
	lifecycle.CrashPoint("run.claimed")
	rs.Life.Go(func(ctx context.Context) { rs.make(ctx, r.ID) })
}

// make makes a run, with its retry. ctx ends with the engine; then a running turn is
// parked.
func (rs *Runs) make(ctx context.Context, id store.RunID) {
	defer rs.jobs.Ended(id)
	defer func() {
		if p := recover(); p != nil {
			rs.Log.Error("run panicked", "run", id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	for {
		var j store.Job
		var r store.Run
		err := rs.Store.Read(ctx, func(tx *store.Tx) (err error) {
			if r, err = tx.Runs().Run(id); err != nil {
				return err
			}
			j, err = tx.Jobs().Job(r.Job)
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				rs.Log.Error("run not begun", "run", id, "err", err)
			}
			return
		}
		if r.State == store.RunRetry && !wait.For(ctx, min(time.Until(r.RetryAt), retryAfter)) {
			return
		}
		if again := rs.attempt(ctx, j, r); !again {
			return
		}
	}
}

// attempt makes one attempt and reports whether to make another.
func (rs *Runs) attempt(ctx context.Context, j store.Job, r store.Run) (again bool) {
	log := rs.Log.With("job", j.ID, "run", r.ID)
	switch {
	case r.State != store.RunClaimed && r.State != store.RunRunning && r.State != store.RunRetry:
		return false
	case j.State == store.JobRemoved:
		rs.end(ctx, j, r, ending{state: store.RunStopped, note: goneNote(j)}, nil)
		return false
	}
	if why := rs.lost(ctx, j, r); why != "" {
		log.Warn("subagent lost", "name", j.Name, "reason", why)
		rs.end(ctx, j, r, rs.troubled(j, store.RunLost, why), nil)
		return false
	}
	if why := rs.Barred(j); why != "" {
		log.Warn("job paused", "name", j.Name, "reason", why)
		rs.end(ctx, j, r, rs.troubled(j, store.RunFailed, why), nil)
		return false
	}
	rest, left, err := rs.resting(ctx, j, r)
	if err != nil {
		rs.Life.LogUnstored(ctx, "run not begun", err, "run", r.ID)
		return wait.For(ctx, time.Second)
	}
	if rest != "" {
		rs.end(ctx, j, r, ending{state: store.RunSkipped, note: rest}, nil)
		return false
	}
	if j.Kind == store.JobReminder {
		rs.end(ctx, j, r, ending{state: store.RunDone, report: rs.reminder(j, r), result: j.Message}, nil)
		return false
	}
	watch, stop := rs.remindInTime(ctx, j, r)
	defer stop()
	release, err := rs.slots.Take(ctx, false)
	if err != nil {
		return false
	}
	defer release()
	w, err := rs.begin(ctx, j, r)
	if errors.Is(err, lifecycle.ErrJobGone) {
		return true // the next attempt ends it
	}
	if err != nil {
		rs.Life.LogUnstored(ctx, "run not begun", err, "run", r.ID)
		return wait.For(ctx, time.Second)
	}
	w.Left, w.Most = left, cmp.Or(j.Budget, rs.Settings().Scheduler.RunTokens)
	running, cancel := context.WithCancelCause(rs.Life.Parking())
	defer cancel(nil)
	defer rs.live.add(r.ID, liveRun{j, cancel})()
	if rs.removed(j) { // after begin checked
		cancel(lifecycle.ErrJobGone)
	}
	clock := wait.NewClock(cmp.Or(rs.Settings().Scheduler.RunTimeout, runTimeout), func() { cancel(lifecycle.ErrDeadline) })
	defer clock.End()
	w.Pause = clock.Stop
	w.Asking = watch.Asking
	w.Asking(false) // it has its place
	made := rs.Turn(running, w)
	stop()
	if made.Parked {
		return false
	}
	return rs.end(context.WithoutCancel(ctx), j, w.Run, rs.endingOf(w, made), &made).State == store.RunRetry
}

// reminder is how a reminder reads; a terminal shows no time beside it.
func (rs *Runs) reminder(j store.Job, r store.Run) string {
	if j.Target.Chat.Channel != "console" {
		return "⏰ " + j.Message
	}
	return "⏰ " + r.ScheduledAt.In(rs.Settings().Zone()).Format("15:04") + " " + j.Message
}

// lost says why a subagent cannot be resumed, "" when it can: its progress is unknown,
// or it is too old.
func (rs *Runs) lost(ctx context.Context, j store.Job, r store.Run) string {
	if j.Kind != store.JobSpawn {
		return ""
	}
	if time.Since(r.ScheduledAt) > lostAfter {
		return rs.say(locale.LostOld)
	}
	if r.State != store.RunRunning {
		return ""
	}
	var t store.Turn
	err := rs.Store.Read(ctx, func(tx *store.Tx) (err error) {
		t, err = tx.Turns().Turn(r.Turn)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && t.State != store.TurnRunning {
		return rs.say(locale.LostTurn)
	}
	return ""
}

// resting says why a heartbeat that is due does not run, "" when it does, and how many
// tokens are left today. A run by hand ignores quiet hours.
func (rs *Runs) resting(ctx context.Context, j store.Job, r store.Run) (why string, left int, err error) {
	s := rs.Settings()
	if j.Kind != store.JobHeartbeat {
		return "", 0, nil
	}
	if r.Cause != store.CauseHand && s.Heartbeat.Quiet.Hold(time.Now().In(s.Zone())) {
		return "quiet hours", 0, nil
	}
	most := s.Heartbeat.PerDayTokens
	if most <= 0 {
		return "", 0, nil
	}
	var spent int
	err = rs.Store.Read(ctx, func(tx *store.Tx) (err error) {
		spent, err = schedule.HeartbeatSpent(tx, time.Now().In(s.Zone()))
		return err
	})
	if err != nil {
		return "", 0, err
	}
	if spent >= most {
		return fmt.Sprintf("the heartbeat's tokens of today are used up (%d of %d)", spent, most), 0, nil
	}
	return "", most - spent, nil
}

// Barred says why a job may not run, "" when it may: its chat or its target is no longer
// on the allow list.
func (rs *Runs) Barred(j store.Job) string {
	for _, a := range []gateway.Address{j.Target, j.Home} {
		if a.Chat.Channel == "" {
			continue
		}
		if err := rs.Gateway.Reachable(a.Chat); err != nil {
			return err.Error()
		}
	}
	return ""
}

// StopSubagents cancels the subagents of a chat and returns how many.
func (rs *Runs) StopSubagents(ctx context.Context, a gateway.Address) int {
	var stopped atomic.Int64 // on a full disk the change is retried after the return
	rs.Life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		n, err := schedule.CancelSpawnedBy(tx, a)
		stopped.Store(int64(n))
		return err
	}, rs.Life.OrLog("subagents not stopped", a, nil))
	rs.live.stop(lifecycle.ErrJobGone, func(j store.Job) bool { return j.Kind == store.JobSpawn && j.Home == a })
	return int(stopped.Load())
}

// removed reports whether a running job was removed.
func (rs *Runs) removed(j store.Job) bool {
	err := rs.Store.Read(context.Background(), func(tx *store.Tx) (err error) {
		j, err = tx.Jobs().Job(j.ID)
		return err
	})
	return err == nil && j.State == store.JobRemoved
}

// Changed looks for jobs that were added or changed, and ends the runs of removed jobs.
func (rs *Runs) Changed() {
	rs.jobs.Changed()
	rs.live.stop(lifecycle.ErrJobGone, rs.removed)
}

// say is one of the bot's sentences in its language.
func (rs *Runs) say(p locale.Phrase, args ...any) string {
	return locale.Say(rs.Settings().Language, p, args...)
}
