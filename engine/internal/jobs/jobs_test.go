package jobs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/store"
)

// clockwork is a Scheduler on a real database, whose runs end as soon as they
// are fired.
type clockwork struct {
	t     *testing.T
	dir   string
	rules jobs.Rules
	store *store.Store
	sched *jobs.Scheduler
	stop  func()
	look  time.Duration // how often the clock is looked at, 0 for once a minute
	ahead atomic.Int64  // how far the clock is ahead of the bubble's

	mu    sync.Mutex
	fired []store.Run // guarded by mu
}

// inBubble runs a test in fake time, which begins at 2000-01-01 00:00 UTC, with
// a Scheduler that is not started yet.
func inBubble(t *testing.T, dir string, test func(*testing.T, *clockwork)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{t: t, dir: dir, rules: jobs.Rules{Threshold: time.Minute}, stop: func() {}}
		defer func() { c.stop() }()
		test(t, c)
	})
}

func (c *clockwork) start() {
	c.t.Helper()
	log := slog.New(slog.DiscardHandler)
	var err error
	if c.store, err = store.Open(c.t.Context(), store.Config{Dir: c.dir, Log: log}); err != nil {
		c.t.Fatal(err)
	}
	st := c.store
	var ends sync.WaitGroup
	c.sched = jobs.New(jobs.Config{Store: st, Rules: func() jobs.Rules { return c.rules }, LookEvery: cmp.Or(c.look, time.Minute), Log: log,
		Wall: func() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }, Fire: func(r store.Run) {
			c.mu.Lock()
			c.fired = append(c.fired, r)
			c.mu.Unlock()
			ends.Go(func() {
				r.State = store.RunDone
				_ = st.Write(context.Background(), func(tx *store.Tx) error { return tx.Runs().UpdateRun(r) }) // the store may be closed by now
			})
		}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.sched.Run(ctx) }()
	c.stop = func() {
		c.stop = func() {}
		cancel()
		if err := <-ended; err != nil {
			c.t.Error(err)
		}
		ends.Wait()
		if err := st.Close(); err != nil {
			c.t.Error(err)
		}
	}
	synctest.Wait()
}

// add adds a job and returns its id.
func (c *clockwork) add(j store.Job) (id store.JobID) {
	c.t.Helper()
	j.Kind, j.Zone, j.NextRun = store.JobSchedule, "UTC", j.At
	c.write(func(tx *store.Tx) (err error) {
		if j.Name == "" {
			j.Name = "job"
		}
		id, err = tx.Jobs().AddJob(j)
		return err
	})
	c.sched.Changed()
	synctest.Wait()
	return id
}

func (c *clockwork) write(fn func(*store.Tx) error) {
	c.t.Helper()
	if err := c.store.Write(c.t.Context(), fn); err != nil {
		c.t.Fatal(err)
	}
}

// after lets time pass.
func (c *clockwork) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// history are the runs of a job, oldest first: "01-02 09:00:00 done due".
func (c *clockwork) history(id store.JobID) []string {
	c.t.Helper()
	var all []string
	err := c.store.Read(c.t.Context(), func(tx *store.Tx) error {
		runs, err := tx.Runs().Runs(id, -1)
		for _, r := range slices.Backward(runs) {
			line := r.ScheduledAt.UTC().Format("01-02 15:04:05 ") + string(r.State)
			if r.Cause != "" {
				line += " " + r.Cause
			}
			if r.Missed > 1 {
				line += fmt.Sprint(" ", r.Missed)
			}
			all = append(all, line)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

// runs are the runs that were fired so far.
func (c *clockwork) runs() []store.Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.fired)
}

func (c *clockwork) wants(id store.JobID, want ...string) {
	c.t.Helper()
	if got := c.history(id); !slices.Equal(got, want) {
		c.t.Errorf("the runs are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestRepeatedRuns(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		id := c.add(store.Job{Cron: "0 9 * * *"})
		c.after(9*time.Hour - time.Second)
		c.wants(id)
		c.after(time.Second)
		c.wants(id, "01-01 09:00:00 done due")
		c.after(48 * time.Hour)
		c.wants(id, "01-01 09:00:00 done due", "01-02 09:00:00 done due", "01-03 09:00:00 done due")
	})
}

func TestOneTimeRun(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		id := c.add(store.Job{At: time.Now().Add(90 * time.Second)})
		c.after(time.Hour)
		c.wants(id, "01-01 00:01:30 done due")
		c.write(func(tx *store.Tx) error {
			if j, err := tx.Jobs().Job(id); err != nil || j.State != store.JobDone || !j.NextRun.IsZero() {
				t.Errorf("the job is %+v, %v", j, err)
			}
			return nil
		})
		now := c.add(store.Job{Name: "now", At: time.Now()})
		c.wants(now, "01-01 01:00:00 done due")
	})
}

func TestChangesApplyAtOnce(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		id := c.add(store.Job{Cron: "0 9 * * *"})
		c.after(time.Hour)
		change := func(fn func(*store.Job)) {
			c.write(func(tx *store.Tx) error {
				j, err := tx.Jobs().Job(id)
				if err != nil {
					return err
				}
				fn(&j)
				return tx.Jobs().UpdateJob(j)
			})
			c.sched.Changed()
			synctest.Wait()
		}
		change(func(j *store.Job) { j.Cron, j.NextRun = "30 1 * * *", time.Time{} })
		c.after(9 * time.Hour)
		c.wants(id, "01-01 01:30:00 done due")
		change(func(j *store.Job) { j.State = store.JobPaused })
		c.after(48 * time.Hour)
		change(func(j *store.Job) { j.State, j.NextRun = store.JobOn, time.Time{} })
		c.after(24 * time.Hour)
		c.wants(id, "01-01 01:30:00 done due", "01-04 01:30:00 done due")
	})
}

// hourlyRule is "0 * * * *" as a recurrence rule.
const hourlyRule = "DTSTART:19991201T000000 RRULE:FREQ=HOURLY;BYMINUTE=0"

// TestMissedRuns stops the bot while a job is due four times.
func TestMissedRuns(t *testing.T) {
	missed := []string{"01-01 01:00:00 missed", "01-01 02:00:00 missed", "01-01 03:00:00 missed"}
	for _, tc := range []struct {
		name  string
		job   store.Job
		grace time.Duration
		off   time.Duration
		want  []string
	}{
		{"within the threshold", store.Job{Cron: "0 * * * *"}, 0, time.Hour + 59*time.Second, []string{"01-01 01:00:00 done due"}},
		{"two hours late", store.Job{Cron: "0 1 * * *"}, 0, 3 * time.Hour, []string{"01-01 01:00:00 done late"}},
		{"four times", store.Job{Cron: "0 * * * *"}, 0, 4*time.Hour + 30*time.Minute, append(missed[:3:3], "01-01 04:00:00 done late")},
		{"four times, the last in time", store.Job{Cron: "0 * * * *"}, 0, 4*time.Hour + 30*time.Second, append(missed[:3:3], "01-01 04:00:00 done due")},
		{"skipped", store.Job{Cron: "0 * * * *", Misfire: jobs.Skip}, 0, 4*time.Hour + 30*time.Minute, append(missed[:3:3], "01-01 04:00:00 missed")},
		{"too old", store.Job{Cron: "0 * * * *"}, 20 * time.Minute, 4*time.Hour + 30*time.Minute, append(missed[:3:3], "01-01 04:00:00 missed")},
		{"not too old", store.Job{Cron: "0 * * * *"}, 40 * time.Minute, 4*time.Hour + 30*time.Minute, append(missed[:3:3], "01-01 04:00:00 done late")},
		{"once, late", store.Job{At: time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)}, 0, 3 * time.Hour, []string{"01-01 01:00:00 done late"}},
		{"once, skipped", store.Job{At: time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC), Misfire: jobs.Skip}, 0, 3 * time.Hour, []string{"01-01 01:00:00 missed"}},
		{"a rule, four times", store.Job{Cron: hourlyRule}, 0, 4*time.Hour + 30*time.Minute, append(missed[:3:3], "01-01 04:00:00 done late")},
		{"a rule, every second hour", store.Job{Cron: "DTSTART:20000101T010000 RRULE:FREQ=HOURLY;INTERVAL=2"}, 0, 4*time.Hour + 30*time.Minute, []string{"01-01 01:00:00 missed", "01-01 03:00:00 done late"}},
		{"a rule, skipped", store.Job{Cron: hourlyRule, Misfire: jobs.Skip}, 0, 4*time.Hour + 30*time.Minute, append(missed[:3:3], "01-01 04:00:00 missed")},
		{"a rule that ends", store.Job{Cron: "DTSTART:20000101T010000 RRULE:FREQ=HOURLY;COUNT=2"}, 0, 4*time.Hour + 30*time.Minute, []string{"01-01 01:00:00 missed", "01-01 02:00:00 done late"}},
		{"very often", store.Job{Cron: "*/10 * * * * ?"}, 0, 30 * time.Hour, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
				c.rules.Grace = tc.grace
				c.start()
				id := c.add(tc.job)
				c.stop()
				c.after(tc.off)
				fired := len(c.runs())
				c.start()
				if n := len(c.runs()) - fired; n > 1 {
					t.Errorf("a burst of %d runs", n)
				}
				if tc.want != nil {
					c.wants(id, tc.want...)
					return
				}
				all := c.history(id)
				if first := all[0]; len(all) != 102 || first != "01-01 00:00:10 missed 9900" || all[101] != "01-02 06:00:00 done due" {
					t.Errorf("%d rows from %q to %q", len(all), first, all[len(all)-1])
				}
			})
		})
	}
}

// TestClockSet starts the bot again under another clock.
func TestClockSet(t *testing.T) {
	const year = 366 * 24 * time.Hour
	for _, tc := range []struct {
		name          string
		before, after time.Duration // how far each clock is ahead
		want          []string
	}{
		{"a day back", 25 * time.Hour, time.Hour, []string{"01-01 09:00:00 done due", "01-02 09:00:00 done due"}},
		{"a day on", time.Hour, 36 * time.Hour, []string{"01-01 09:00:00 done due", "01-02 09:00:00 done late", "01-03 09:00:00 done due"}},
		{"back from 2038", 38*year + time.Hour, time.Hour, []string{"01-01 09:00:00 done due", "01-02 09:00:00 done due", "01-29 09:00:00 done due"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			var id store.JobID
			inBubble(t, dir, func(t *testing.T, c *clockwork) {
				c.after(tc.before)
				c.start()
				id = c.add(store.Job{Cron: "0 9 * * *"})
				c.after(10 * time.Hour)
			})
			inBubble(t, dir, func(t *testing.T, c *clockwork) {
				c.after(tc.after)
				c.start()
				c.after(47*time.Hour - tc.after%(24*time.Hour))
				c.wants(id, tc.want...)
			})
		})
	}
	t.Run("on to 2038", func(t *testing.T) {
		dir := t.TempDir()
		var id store.JobID
		inBubble(t, dir, func(t *testing.T, c *clockwork) {
			c.start()
			id = c.add(store.Job{Cron: "0 9 * * *"})
		})
		inBubble(t, dir, func(t *testing.T, c *clockwork) {
			c.after(38 * year)
			c.start()
			all := c.history(id)
			if n := len(all); n != 102 && n != 101 || !strings.Contains(all[0], "missed") || len(c.runs()) != 1 {
				t.Errorf("%d rows, the first %q, %d runs", n, all[0], len(c.runs()))
			}
			c.after(24 * time.Hour)
			if n := len(c.runs()); n != 2 {
				t.Errorf("after a day there are %d runs", n)
			}
		})
	})
}

// TestRestored continues from now in the copy of a bot that ran: what was due since
// has most probably run.
func TestRestored(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		hourly, once := c.add(store.Job{Cron: "0 * * * *"}), c.add(store.Job{Name: "once", At: time.Now().Add(time.Hour)})
		ruled := c.add(store.Job{Name: "ruled", Cron: hourlyRule})
		c.stop()
		c.after(4*time.Hour + 30*time.Minute)
		restored, err := store.Open(t.Context(), store.Config{Dir: c.dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		err = restored.Write(t.Context(), func(tx *store.Tx) error {
			for _, id := range []store.JobID{hourly, ruled, once} {
				j, err := tx.Jobs().Job(id)
				if err != nil {
					return err
				}
				j.NextRun = time.Time{} // as Restore leaves it
				if err := tx.Jobs().UpdateJob(j); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(err, restored.Close()); err != nil {
			t.Fatal(err)
		}
		c.start()
		c.after(time.Hour)
		c.wants(hourly, "01-01 05:00:00 done due")
		c.wants(ruled, "01-01 05:00:00 done due")
		c.wants(once, "01-01 01:00:00 missed")
	})
}

func TestOpenRunSkipsNext(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		id := c.add(store.Job{Cron: "0 * * * *"})
		c.write(func(tx *store.Tx) error {
			_, err := tx.Runs().ClaimRun(store.Run{Job: id, ScheduledAt: time.Now(), State: store.RunRunning, Cause: store.CauseHand})
			return err
		})
		c.after(time.Hour)
		c.wants(id, "01-01 00:00:00 running by hand", "01-01 01:00:00 skipped due")
	})
}

func TestManyJobsDueTogether(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		c.write(func(tx *store.Tx) error {
			for i := range 1000 {
				if _, err := tx.Jobs().AddJob(store.Job{Kind: store.JobSchedule, Name: fmt.Sprint("job", i), Cron: "0 9 * * *", Zone: "UTC"}); err != nil {
					return err
				}
			}
			return nil
		})
		c.sched.Changed()
		c.after(9 * time.Hour)
		jobsFired := map[store.JobID]int{}
		for _, r := range c.runs() {
			jobsFired[r.Job]++
		}
		if n := len(c.runs()); n != 1000 || len(jobsFired) != 1000 {
			t.Errorf("%d runs of %d jobs", n, len(jobsFired))
		}
	})
}

// TestDaysOfRestarts lets 200 daily jobs run for days while the bot is dropped
// between any two calls of the store, again and again. The long form has 30 days.
func TestDaysOfRestarts(t *testing.T) { daysOfRestarts(t, 4) }

func daysOfRestarts(t *testing.T, days int) {
	const many = 200
	began, before := time.Now(), worked()
	restarts := 0
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.start()
		at := map[store.JobID]time.Time{}
		for i := range many {
			minute := 60 + rand.IntN(22*60)
			if i%4 == 0 {
				minute = 9 * 60 // many at once
			}
			id := c.add(store.Job{Name: fmt.Sprint("job", i), Cron: fmt.Sprintf("%d %d * * *", minute%60, minute/60), Misfire: []string{jobs.RunOnce, jobs.Skip}[i%2]})
			at[id] = time.Date(2000, 1, 1, minute/60, minute%60, 0, 0, time.UTC)
		}
		end := time.Now().AddDate(0, 0, days)
		for time.Now().Before(end) {
			// To the moment when 50 are due, or to any other.
			wait := time.Until(time.Date(2000, 1, time.Now().YearDay(), 9, 0, 0, 0, time.UTC))
			if wait <= 0 || rand.IntN(2) == 0 {
				wait = time.Duration(rand.Int64N(int64(12 * time.Hour)))
			}
			time.Sleep(wait)
			for range rand.IntN(3000) {
				runtime.Gosched()
			}
			c.stop()
			restarts++
			if rand.IntN(5) == 0 {
				time.Sleep(time.Duration(rand.Int64N(int64(5 * time.Hour))))
			}
			c.start()
		}
		c.after(time.Hour)
		checkDays(t, c, at, end, many*days)
	})
	// Not the time of the clock: others may use the machine too.
	if took := worked() - before; took > 10*time.Second && !raceEnabled {
		t.Errorf("it took %v of the processor", took)
	}
	t.Logf("%d restarts, %v, %v of the processor", restarts, time.Since(began).Round(time.Millisecond), worked()-before)
}

// worked is how long this process has used a processor.
func worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// checkDays wants one row for each time at which a job was due, and one
// firing for each row that says so.
func checkDays(t *testing.T, c *clockwork, at map[store.JobID]time.Time, end time.Time, most int) {
	t.Helper()
	times := map[store.RunID]int{}
	for _, r := range c.runs() {
		times[r.ID]++
	}
	total, missed := 0, 0
	err := c.store.Read(t.Context(), func(tx *store.Tx) error {
		for id, first := range at {
			runs, err := tx.Runs().Runs(id, -1)
			if err != nil {
				return err
			}
			slices.Reverse(runs)
			due := first
			for _, r := range runs {
				if !r.ScheduledAt.Equal(due) {
					t.Fatalf("job %d: a row for %v, want %v", id, r.ScheduledAt, due)
				}
				if n := times[r.ID]; r.State == store.RunMissed && n != 0 || n > 1 {
					t.Errorf("job %d at %v: %s, fired %d times", id, due, r.State, n)
				}
				if r.State == store.RunMissed {
					missed++
				}
				total++
				due = due.AddDate(0, 0, 1)
			}
			if due.Before(end) {
				t.Errorf("job %d: nothing is known of %v", id, due)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total < most*98/100 || missed == total {
		t.Errorf("%d times, %d of them missed", total, missed)
	}
	t.Logf("%d times, %d of them missed", total, missed)
}

// TestOneTimeJobsDueWhileTheyAreAdded runs in real time, in which a job's moment may pass
// between any two steps of the scheduler.
func TestOneTimeJobsDueWhileTheyAreAdded(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	fired := make(chan store.JobID, 1000)
	sched := jobs.New(jobs.Config{Store: st, Rules: func() jobs.Rules { return jobs.Rules{Threshold: time.Minute} }, Log: log, Fire: func(r store.Run) { fired <- r.Job }})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sched.Run(ctx) }()
	for round := range 20 {
		const n = 40
		err := st.Write(t.Context(), func(tx *store.Tx) error {
			for i := range n {
				at := time.Now().Add(time.Duration(5+2*i) * time.Millisecond)
				if _, err := tx.Jobs().AddJob(store.Job{Name: fmt.Sprint(round, " ", i), Kind: store.JobSchedule, Zone: "UTC", At: at, NextRun: at}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sched.Changed()
		for i := range n {
			select {
			case <-fired:
			case <-time.After(30 * time.Second):
				t.Fatalf("only %d of %d jobs ran in round %d", i, n, round)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
