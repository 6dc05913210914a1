package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/store"
)

const day = 24 * time.Hour

// next is when a job is due next.
func (c *clockwork) next(id store.JobID) string {
	c.t.Helper()
	var at string
	if err := c.store.Read(c.t.Context(), func(tx *store.Tx) error {
		j, err := tx.Jobs().Job(id)
		at = j.NextRun.UTC().Format("01-02 15:04:05")
		return err
	}); err != nil {
		c.t.Fatal(err)
	}
	return at
}

// jump sets the clock for a while, and back.
func (c *clockwork) jump(by, during time.Duration) {
	c.ahead.Store(int64(by))
	c.after(during)
	c.ahead.Store(0)
}

// TestWrongClockBriefly sets the clock of a bot that runs, and after 15 seconds
// back. Nothing was missed, nothing ran before its time, and nothing runs twice.
func TestWrongClockBriefly(t *testing.T) {
	for _, by := range []time.Duration{day, -day, time.Hour, -time.Hour, 56 * 365 * day, 90 * time.Second, -90 * time.Second} {
		for _, minute := range []time.Duration{40, 44} { // with a run that becomes due, and without
			t.Run(fmt.Sprintf("by %v from minute %d", by, minute), func(t *testing.T) {
				inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
					c.look = time.Second
					c.after(3 * day)
					c.start()
					quarterly, hourly, daily := c.add(store.Job{Cron: "*/15 * * * *"}), c.add(store.Job{Name: "h", Cron: "0 * * * *"}), c.add(store.Job{Name: "d", Cron: "0 3 * * *"})
					once, skipped := c.add(store.Job{Name: "o", At: time.Now().Add(2 * time.Hour)}), c.add(store.Job{Name: "s", At: time.Now().Add(150 * time.Minute), Misfire: jobs.Skip})
					c.after(minute*time.Minute + 50*time.Second)
					c.jump(by, 15*time.Second)
					c.after(40 * time.Second)
					if got := []string{c.next(quarterly), c.next(hourly), c.next(daily), c.next(once)}; !slices.Equal(got, []string{
						map[time.Duration]string{40: "01-04 00:45:00", 44: "01-04 01:00:00"}[minute], "01-04 01:00:00", "01-04 03:00:00", "01-04 02:00:00",
					}) {
						t.Errorf("after the jump the next times are %q", got)
					}
					c.after(4 * time.Hour)
					c.wants(hourly, "01-04 01:00:00 done due", "01-04 02:00:00 done due", "01-04 03:00:00 done due", "01-04 04:00:00 done due")
					c.wants(daily, "01-04 03:00:00 done due")
					c.wants(once, "01-04 02:00:00 done due")
					c.wants(skipped, "01-04 02:30:00 done due")
					if all := c.history(quarterly); len(all) != 18+int(minute-40)/4 || slices.ContainsFunc(all, func(line string) bool { return !strings.HasSuffix(line, "done due") }) {
						t.Errorf("%d runs: %q", len(all), all)
					}
				})
			})
		}
	}
}

// TestWrongClockLong leaves the clock a day ahead for two hours. What ran then has
// run; what did not run then runs at its time.
func TestWrongClockLong(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
		c.look = time.Second
		c.start()
		hourly, once := c.add(store.Job{Cron: "0 * * * *"}), c.add(store.Job{Name: "o", At: time.Now().Add(20 * time.Hour)})
		skipped := c.add(store.Job{Name: "s", At: time.Now().Add(20 * time.Hour), Misfire: jobs.Skip})
		ruled := c.add(store.Job{Name: "r", Cron: hourlyRule})
		c.after(30 * time.Minute)
		c.jump(day, 2*time.Hour)
		c.after(time.Minute)
		if got := c.next(hourly); got != "01-01 03:00:00" {
			t.Errorf("the next time is %s", got)
		}
		c.after(time.Minute)
		for _, line := range c.history(hourly) {
			if strings.Contains(line, "missed") && line > "01-01 02:32" {
				t.Errorf("a mark of a time to come is left: %s", line)
			}
		}
		c.after(30 * time.Hour)
		seen := map[string]int{}
		for _, r := range c.runs() {
			seen[fmt.Sprint(r.Job, r.ScheduledAt)]++
		}
		for at, n := range seen {
			if n > 1 {
				t.Errorf("%s ran %d times", at, n)
			}
		}
		all := c.history(hourly)
		for h := 1; h <= 32; h++ {
			at := time.Date(2000, 1, 1, h, 0, 0, 0, time.UTC).Format("01-02 15:04:05")
			if !slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, at) }) {
				t.Errorf("%s has no run and no mark: %q", at, all)
			}
		}
		late := 0
		for _, line := range all {
			if strings.HasSuffix(line, "late") {
				late++
			}
		}
		if late > 1 {
			t.Errorf("%d runs caught up: %q", late, all)
		}
		c.wants(ruled, all...)
		c.wants(once, "01-01 20:00:00 done late") // early, and only then
		c.wants(skipped, "01-01 20:00:00 done due")
	})
}

// TestWrongClockCatchesUpOnce leaves the clock ahead for a few minutes, in which a time
// is due: one late run catches up, by the wrong clock or by the right one.
func TestWrongClockCatchesUpOnce(t *testing.T) {
	for _, by := range []time.Duration{day, 3 * time.Hour, 40 * time.Minute} {
		for _, during := range []time.Duration{2 * time.Minute, 10 * time.Minute} {
			t.Run(fmt.Sprintf("by %v for %v", by, during), func(t *testing.T) {
				inBubble(t, t.TempDir(), func(t *testing.T, c *clockwork) {
					c.look = time.Second
					c.start()
					quarterly := c.add(store.Job{Cron: "*/15 * * * *"})
					c.after(44 * time.Minute)
					c.jump(by, during)
					c.after(by + 4*time.Hour)
					late := 0
					for _, line := range c.history(quarterly) {
						if strings.HasSuffix(line, "late") {
							late++
						}
					}
					if late > 1 {
						t.Errorf("%d late runs: %q", late, c.history(quarterly)[:20])
					}
				})
			})
		}
	}
}

// TestClockWrongAtBoot starts a machine without a clock of its own: the time is
// years behind until the network tells it, 20 seconds later.
func TestClockWrongAtBoot(t *testing.T) {
	for name, off := range map[string]time.Duration{"a quick restart": 2 * time.Minute, "off for three hours": 3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var hourly, once store.JobID
			inBubble(t, dir, func(t *testing.T, c *clockwork) {
				c.after(9*day + 10*time.Minute)
				c.start()
				hourly, once = c.add(store.Job{Cron: "0 * * * *"}), c.add(store.Job{Name: "o", At: time.Now().Add(5 * time.Hour)})
				c.after(80 * time.Minute) // 01:30
			})
			inBubble(t, dir, func(t *testing.T, c *clockwork) {
				c.look = time.Second
				c.after(17 * time.Minute)
				c.start()
				c.after(20 * time.Second)
				c.ahead.Store(int64(9*day + 73*time.Minute + off)) // 01:30 and what it was off
				c.after(45 * time.Second)
				want := []string{"01-10 01:00:00 done due"}
				if off > time.Hour {
					want = append(want, "01-10 02:00:00 missed", "01-10 03:00:00 missed", "01-10 04:00:00 done late")
				}
				c.wants(hourly, want...)
				c.wants(once)
				if got, want := c.next(hourly), map[bool]string{false: "01-10 02:00:00", true: "01-10 05:00:00"}[off > time.Hour]; got != want {
					t.Errorf("the next time is %s, want %s", got, want)
				}
			})
		})
	}
}

// TestClockWrongAtStart starts the bot a day ahead, without noticing, and then
// right: the marks that it made count no more.
func TestClockWrongAtStart(t *testing.T) {
	dir := t.TempDir()
	var quarterly, daily store.JobID
	inBubble(t, dir, func(t *testing.T, c *clockwork) {
		c.after(time.Minute)
		c.start()
		quarterly, daily = c.add(store.Job{Cron: "*/15 * * * *"}), c.add(store.Job{Name: "d", Cron: "0 3 * * *"})
		c.after(39 * time.Minute)
	})
	inBubble(t, dir, func(t *testing.T, c *clockwork) {
		c.after(day + 41*time.Minute)
		c.start()
		c.after(15 * time.Second)
	})
	inBubble(t, dir, func(t *testing.T, c *clockwork) {
		c.after(42 * time.Minute)
		c.look = time.Second
		c.start()
		if got := c.next(quarterly); got != "01-01 00:45:00" {
			t.Errorf("the next time is %s", got)
		}
		c.after(2 * time.Minute)
		c.wants(quarterly, "01-01 00:15:00 done due", "01-01 00:30:00 done due", "01-02 00:30:00 done late")
		c.after(day)
		c.wants(daily, "01-01 03:00:00 done late") // it ran in the wrong time
		if n := len(c.history(quarterly)); n != 2+96 {
			t.Errorf("%d runs: %q", n, c.history(quarterly))
		}
	})
}
