package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// nine is when the jobs of these tests are due.
var nine = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

func news(name string) store.Job {
	return store.Job{
		Kind: store.JobSchedule, Name: name, Cron: "0 9 * * *", Zone: "Europe/Berlin", Misfire: "run_once", Model: "main",
		Message: "the news", Home: store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 7}, Creator: 11,
		Target: store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}, Policy: "{}", Budget: 5000, Origin: "person", NextRun: nine,
	}
}

func addJob(t *testing.T, s *store.Store, j store.Job) (id store.JobID) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		id, err = tx.Jobs().AddJob(j)
		return err
	})
	return id
}

func TestJobsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	id := addJob(t, s, news("news"))
	must(t, s.Close())
	s = open(t, dir)
	read(t, s, func(tx *store.Tx) error {
		got, err := tx.Jobs().JobNamed("news")
		want := news("news")
		want.ID, want.State, want.CreatedAt, want.ChangedAt = id, store.JobOn, got.CreatedAt, got.ChangedAt
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		return err
	})
}

func TestNamesOfJobsAreUniqueWhileTheyWait(t *testing.T) {
	s := open(t, t.TempDir())
	id := addJob(t, s, news("news"))
	again := func(kind store.JobKind) error {
		return s.Write(t.Context(), func(tx *store.Tx) error {
			j := news("news")
			j.Kind = kind
			_, err := tx.Jobs().AddJob(j)
			return err
		})
	}
	if again(store.JobReminder) == nil {
		t.Error("a reminder took the name of a schedule")
	}
	for range 2 {
		must(t, again(store.JobSpawn))
	}
	write(t, s, func(tx *store.Tx) error {
		j, err := tx.Jobs().Job(id)
		j.State = store.JobDone
		return errors.Join(err, tx.Jobs().UpdateJob(j))
	})
	must(t, again(store.JobSchedule))
	read(t, s, func(tx *store.Tx) error {
		j, err := tx.Jobs().JobEver("news")
		if j.ID == id {
			t.Error("the one that is done was found before the one that waits")
		}
		return err
	})
}

// TestJobsAreCounted counts by chat, whatever the thread, what is not over.
func TestJobsAreCounted(t *testing.T) {
	s := open(t, t.TempDir())
	for _, name := range []string{"one", "two", "over", "other thread", "other chat"} {
		j := news(name)
		switch name {
		case "other thread":
			j.Home.Thread = 8
		case "other chat":
			j.Home.Chat.ID = 11
		}
		id := addJob(t, s, j)
		if name != "over" && name != "two" {
			continue
		}
		write(t, s, func(tx *store.Tx) error {
			j, err := tx.Jobs().Job(id)
			j.State = map[string]store.JobState{"over": store.JobDone, "two": store.JobPaused}[name]
			return errors.Join(err, tx.Jobs().UpdateJob(j))
		})
	}
	read(t, s, func(tx *store.Tx) error {
		all, own, err := tx.Jobs().CountJobs(news("").Home)
		if all != 4 || own != 3 {
			t.Errorf("%d jobs, %d of the chat, want 4 and 3", all, own)
		}
		return err
	})
}

func TestEachTimeIsClaimedOnce(t *testing.T) {
	s := open(t, t.TempDir())
	id := addJob(t, s, news("news"))
	var first, second store.RunID
	write(t, s, func(tx *store.Tx) (err error) {
		first, err = tx.Runs().ClaimRun(store.Run{Job: id, ScheduledAt: nine, Cause: store.CauseDue})
		return err
	})
	write(t, s, func(tx *store.Tx) (err error) {
		second, err = tx.Runs().ClaimRun(store.Run{Job: id, ScheduledAt: nine, State: store.RunMissed})
		return err
	})
	if first == 0 || second != 0 {
		t.Errorf("claims are %d and %d", first, second)
	}
	run := store.Run{
		ID: first, Job: id, ScheduledAt: nine, State: store.RunDone, Cause: store.CauseDue, Attempts: 2, Turn: 3, InputTokens: 4,
		OutputTokens: 5, Cost: 6, Delivered: "telegram_-100", Result: "sunny", Note: "n", RetryAt: nine, StartedAt: nine, EndedAt: nine,
	}
	open := run
	open.State = store.RunRetry
	write(t, s, func(tx *store.Tx) error { return tx.Runs().UpdateRun(open) })
	read(t, s, func(tx *store.Tx) error {
		all, err := tx.Runs().OpenRuns()
		if diff := cmp.Diff([]store.Run{open}, all); diff != "" {
			t.Error(diff)
		}
		return err
	})
	write(t, s, func(tx *store.Tx) error { return tx.Runs().UpdateRun(run) })
	read(t, s, func(tx *store.Tx) error {
		all, err := tx.Runs().Runs(id, 5)
		if diff := cmp.Diff([]store.Run{run}, all); diff != "" {
			t.Error(diff)
		}
		latest, err2 := tx.Runs().LatestRuns()
		if diff := cmp.Diff(map[store.JobID]store.Run{id: run}, latest); diff != "" {
			t.Error(diff)
		}
		completed, err3 := tx.Runs().RunsOf(news("news"), run.ID+1, 5)
		if diff := cmp.Diff([]store.PastRun{{Run: run, Message: news("news").Message}}, completed); diff != "" {
			t.Error(diff)
		}
		before, err4 := tx.Runs().RunsOf(news("news"), run.ID, 5)
		if len(before) != 0 {
			t.Errorf("before the first run there are %v", before)
		}
		return errors.Join(err, err2, err3, err4)
	})
}

func TestJobsFollowTheirChat(t *testing.T) {
	s := open(t, t.TempDir())
	id := addJob(t, s, news("news"))
	write(t, s, func(tx *store.Tx) error { return tx.Chats().MoveChat("telegram", -100, -1000) })
	var paused []string
	write(t, s, func(tx *store.Tx) (err error) {
		paused, err = tx.Jobs().PauseJobsFor("telegram", -1000, "it is gone")
		return err
	})
	read(t, s, func(tx *store.Tx) error {
		j, err := tx.Jobs().Job(id)
		if j.Home.Chat.ID != -1000 || j.Target.Chat.ID != -1000 || j.State != store.JobPaused || j.Note != "it is gone" {
			t.Errorf("the job is %+v", j)
		}
		return err
	})
	if diff := cmp.Diff([]string{"news"}, paused); diff != "" {
		t.Error(diff)
	}
}

func TestEndedJobsAreForgottenWithTheirRuns(t *testing.T) {
	s := open(t, t.TempDir())
	waiting, ended := addJob(t, s, news("news")), addJob(t, s, news("old"))
	write(t, s, func(tx *store.Tx) error {
		j, err := tx.Jobs().Job(ended)
		j.State = store.JobRemoved
		_, err2 := tx.Runs().ClaimRun(store.Run{Job: ended, ScheduledAt: nine})
		return errors.Join(err, err2, tx.Jobs().UpdateJob(j))
	})
	write(t, s, func(tx *store.Tx) error {
		n, err := tx.Prune(store.AgedJobs, time.Now().Add(time.Hour))
		if n != 1 {
			t.Errorf("%d jobs were deleted", n)
		}
		return err
	})
	read(t, s, func(tx *store.Tx) error {
		_, err := tx.Jobs().Job(waiting)
		runs, err2 := tx.Runs().OpenRuns()
		if _, gone := tx.Jobs().Job(ended); !errors.Is(gone, store.ErrNotFound) || len(runs) != 0 {
			t.Errorf("left are %v, %v", gone, runs)
		}
		return errors.Join(err, err2)
	})
}
