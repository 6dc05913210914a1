package run

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

// A reminder must not depend on the model. When the model is silent or fails, the words
// of the job are delivered in its place.

const (
	// remindAfter is how long a reminder waits for its model, which leaves 10 s of the
	// 30 s that users are promised.
	remindAfter = 20 * time.Second
	// silentAfter is how long a model must have sent nothing.
	silentAfter = 8 * time.Second
)

// reminderWords are in the tasks of repeating reminders. A job that runs once is a
// reminder without them: no one sees its task again.
var reminderWords = regexp.MustCompile(`(?i)remind|remember|don.?t forget|напомн|напомин|не забуд|не забыть`)

// reminds reports whether the words of a job are worth delivering without a model.
func (rs *Runs) reminds(j store.Job) bool {
	return j.Kind == store.JobSchedule && j.Target.Chat.Channel != "" && rs.direct(j) == nil && (j.Cron == "" || reminderWords.MatchString(j.Message))
}

// modelWatch is what is known of the model of a run at work.
type modelWatch struct {
	mu     sync.Mutex
	asking bool      // guarded by mu
	heard  time.Time // guarded by mu; when it was asked, or sent something, last
}

// Asking says that the model is asked, or sends its answer, or has answered.
func (w *modelWatch) Asking(now bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asking, w.heard = now, time.Now()
}

func (w *modelWatch) silent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asking && time.Since(w.heard) >= silentAfter
}

// remindInTime delivers the words of a reminder when its model stays silent, until stop
// is called. A run that waits for its place counts as one whose model is silent.
func (rs *Runs) remindInTime(ctx context.Context, j store.Job, r store.Run) (w *modelWatch, stop func()) {
	w = &modelWatch{asking: true, heard: time.Now()}
	if !rs.reminds(j) {
		return w, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !wait.For(ctx, remindAfter) {
			return
		}
		for !w.silent() {
			if !wait.For(ctx, time.Second) {
				return
			}
		}
		rs.remind(ctx, j, r, rs.say(locale.RemindSlow, j.Message))
	}()
	return w, func() { cancel(); <-done }
}

// remindedKey is the key of the rows with the words of a job.
func remindedKey(r store.Run) string { return schedule.OutKey(r.ID) + "/reminder" }

// remind delivers a text in place of a model, once in a run. It reports whether it did
// now.
func (rs *Runs) remind(ctx context.Context, j store.Job, r store.Run, text string) (now bool) {
	outs := outbox.Rows(j.Target, rs.Gateway.Render(j.Target.Chat.Channel, text), remindedKey(r), 0)
	r.EndedAt = time.Now()
	err := rs.Life.Persist(ctx, gateway.Address{}, func(tx *store.Tx) error {
		now = false
		if done, err := reminded(tx, r); done || err != nil {
			return err
		}
		if current, err := tx.Jobs().Job(j.ID); err != nil || current.State == store.JobRemoved {
			return err
		}
		now = true
		if err := outbox.Add(tx, outs); err != nil {
			return err
		}
		return noteDelivery(tx, j, r, j.Target, text)
	})
	if err != nil {
		rs.Log.Error("reminder not stored", "run", r.ID, "err", err)
		return false
	}
	lifecycle.CrashPoint("run.reminded")
	if now {
		rs.Log.Warn("reminder delivered without the model", "job", j.ID, "run", r.ID, "name", j.Name)
	}
	return now
}

// reminded reports whether the words of a run's job were delivered.
func reminded(tx *store.Tx, r store.Run) (bool, error) {
	_, err := tx.Outbox().OutNamed(remindedKey(r) + "/0")
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// saysNoMore reports whether an answer only repeats a reminder that was delivered: it is
// short, and no tool was used for it.
func (rs *Runs) saysNoMore(j store.Job, r store.Run, text string, said []store.Message) bool {
	if text == "" || len([]rune(text)) > 2*len([]rune(j.Message))+40 {
		return false
	}
	for _, m := range said {
		if len(m.Body.Calls()) > 0 {
			return false
		}
	}
	done := false
	err := rs.Store.Read(context.Background(), func(tx *store.Tx) (err error) {
		done, err = reminded(tx, r)
		return err
	})
	return err == nil && done
}
