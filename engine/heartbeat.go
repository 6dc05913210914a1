package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/internal/clip"
	"klawbot/internal/wait"
	"klawbot/tools"
	"klawbot/tools/job"
)

// HeartbeatFile is the file of the workspace that says what the bot looks after
// by itself.
const HeartbeatFile = workspace.HeartbeatFile

const (
	// heartbeatEvery is how often the file is looked at.
	heartbeatEvery = time.Second
	// heartbeatAnew is how often the plan is compared with the file even when
	// neither has changed: a chat may be allowed again.
	heartbeatAnew = time.Minute
)

// planned is what the plan was made of.
type planned struct {
	file      workspace.Stamp
	heartbeat settings.Heartbeat
	zone      string
}

// watchHeartbeat keeps what is planned the same as what the file says.
func (e *Engine) watchHeartbeat(ctx context.Context) error {
	var last planned
	var faults string
	var at time.Time
	var on bool
	for first := true; ; first = false {
		s := e.settings()
		now := planned{e.workspace.HeartbeatStamp(), s.Heartbeat, s.Zone().String()}
		if now != last || on && time.Since(at).Abs() >= heartbeatAnew {
			h := e.workspace.Heartbeat()
			on = len(h.Tasks) > 0 || h.Text != ""
			found, err := e.planHeartbeat(ctx, h)
			switch {
			case err != nil && ctx.Err() == nil:
				e.life.LogUnstored(ctx, "heartbeat not planned", err)
			case err == nil:
				last, at = now, time.Now()
			}
			if text := strings.Join(found, "\n"); err == nil && text != faults {
				faults = text
				e.tellHeartbeat(ctx, text, first)
			}
		}
		if !wait.For(ctx, cmp.Or(e.lookEvery, heartbeatEvery)) {
			return nil
		}
	}
}

// tellHeartbeat says what is wrong with the file; at the start only in the log.
func (e *Engine) tellHeartbeat(ctx context.Context, faults string, atStart bool) {
	if faults == "" {
		return
	}
	e.log.Warn("heartbeat has faults", "faults", faults)
	if atStart {
		return
	}
	for _, to := range e.alertees(store.Job{}, true) {
		e.outbox.Post(ctx, to, "heartbeat/"+rand.Text(), e.say(locale.HeartbeatFaults, locale.CodeBlock(faults)))
	}
}

// planHeartbeat makes the jobs of the heartbeat the same as the file, and returns
// what is wrong with it.
func (e *Engine) planHeartbeat(ctx context.Context, h workspace.Heartbeat) (faults []string, err error) {
	by, err := e.heartbeatAuthor(ctx)
	if err != nil {
		return nil, err
	}
	wanted, faults := e.beats(ctx, h)
	changed := false
	err = e.store.Write(ctx, func(tx *store.Tx) error {
		changed = false
		all, err := tx.Jobs().Jobs(false)
		if err != nil {
			return err
		}
		there := map[string]store.Job{}
		for _, j := range all {
			there[j.Name] = j
		}
		known, err := tx.Jobs().Heartbeats(time.Now().Add(-authorKept))
		if err != nil {
			return err
		}
		e.attribute(wanted, by, known)
		for _, w := range wanted {
			was, found := there[w.Name]
			if found && was.Kind != store.JobHeartbeat {
				faults = append(faults, fmt.Sprintf("task %q: there is a schedule of this name", w.Name))
				continue
			}
			delete(there, w.Name)
			did, err := putBeat(tx, was, w)
			if err != nil {
				return err
			}
			changed = changed || did
		}
		for _, j := range there {
			if j.Kind != store.JobHeartbeat {
				continue
			}
			changed = true
			removeJob(&j)
			if err := tx.Jobs().UpdateJob(j); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && changed {
		e.log.Info("heartbeat planned", "tasks", len(wanted), "faults", len(faults))
	}
	return faults, err
}

// beats are the jobs that the file asks for.
func (e *Engine) beats(ctx context.Context, h workspace.Heartbeat) (all []store.Job, faults []string) {
	faults = slices.Clone(h.Faults)
	every := e.settings().Heartbeat.Every
	if h.Text != "" && every > 0 {
		h.Tasks = append(h.Tasks, workspace.Beat{Name: workspace.HeartbeatFile, Message: clip.Runes(h.Text, maxJobText-1)})
	}
	for _, b := range h.Tasks {
		j, err := e.beat(ctx, b, time.Now())
		if err != nil {
			faults = append(faults, fmt.Sprintf("task %q: %v", clip.Runes(b.Name, maxJobName), err))
			continue
		}
		all = append(all, j)
	}
	return all, faults
}

// beat is the job that a task asks for. One without a cron is due again and again
// after heartbeat.every.
func (e *Engine) beat(ctx context.Context, b workspace.Beat, now time.Time) (store.Job, error) {
	s := e.settings()
	zone := s.Zone()
	j := store.Job{
		Kind: store.JobHeartbeat, Name: b.Name, Zone: zone.String(), Misfire: jobs.RunOnce, Origin: "workspace", State: store.JobOn,
	}
	if err := checkJobName(j.Name); err != nil {
		return j, err
	}
	asked := job.New{Message: b.Message, Model: b.Model, InjectInto: cmp.Or(b.InjectInto, s.Heartbeat.InjectInto)}
	if err := e.schedules.change(ctx, &j, asked, tools.Call{}, planner{}); err != nil {
		return j, err
	}
	if b.Cron == "" {
		j.At = now.Add(s.Heartbeat.Every).Truncate(time.Millisecond)
		j.NextRun = j.At
		return j, nil
	}
	cron, err := times.ParseCron(b.Cron)
	if err != nil {
		return j, err
	}
	next, ok := cron.Next(now, zone)
	if !ok {
		return j, fmt.Errorf("cron '%s' is never due", cron)
	}
	if gap, least := cron.Gap(now, zone), max(s.Scheduler.MinInterval, lineInterval); gap < least {
		return j, fmt.Errorf("cron '%s' is due every %v; %v is the shortest", cron, gap, least)
	}
	j.Cron, j.NextRun = cron.String(), next
	return j, nil
}

// putBeat stores a task, and reports whether that changed anything. A task that
// is as it was stays so, with the time that it waits for.
func putBeat(tx *store.Tx, was, w store.Job) (changed bool, err error) {
	if was.ID == 0 {
		if ever, err := tx.Jobs().JobEver(w.Name); err == nil && ever.Kind == store.JobHeartbeat {
			// Its time has come, and the run sets the next one when it ends.
			if busy, err := tx.Runs().OpenRunOf(ever.ID); err != nil || busy {
				return false, err
			}
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
		_, err := tx.Jobs().AddJob(w)
		return true, err
	}
	same := sameBeat(was, w) && was.Zone == w.Zone && was.Home == w.Home && was.Creator == w.Creator
	if w.Cron == "" && was.At.After(w.At) {
		same = false // heartbeat.every is shorter now
	}
	if same {
		return false, nil
	}
	was.Cron, was.Zone, was.Message, was.Model, was.Target = w.Cron, w.Zone, w.Message, w.Model, w.Target
	was.Home, was.Creator = w.Home, w.Creator
	was.At, was.NextRun, was.State, was.Note, was.Failures = w.At, w.NextRun, store.JobOn, "", 0
	return true, tx.Jobs().UpdateJob(was)
}

// rearm sets the next time of a heartbeat without a cron, when its run has ended:
// one wait, however long the run, or a sleep of the machine, has taken.
func (e *Engine) rearm(tx *store.Tx, id store.JobID, end runEnd, now time.Time) error {
	every := e.settings().Heartbeat.Every
	if end.state == store.RunRetry || every <= 0 {
		return nil
	}
	j, err := tx.Jobs().Job(id)
	if err != nil || j.Kind != store.JobHeartbeat || j.Cron != "" || j.State != store.JobDone {
		return err
	}
	j.State, j.At = store.JobOn, now.Add(every).Truncate(time.Millisecond)
	j.NextRun = j.At
	if end.pause != "" {
		j.State, j.Note = store.JobPaused, clip.Runes(end.pause, resultKept)
	}
	return tx.Jobs().UpdateJob(j)
}

// resting says why a heartbeat that is due does not run, "" when it does. What a
// person starts by hand always does.
func (e *Engine) resting(ctx context.Context, j store.Job, r store.Run) (why string, left int, err error) {
	s := e.settings()
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
	spent, err := e.heartbeatTokens(ctx, s)
	if err != nil {
		return "", 0, err
	}
	if spent >= most {
		return fmt.Sprintf("the heartbeat's tokens of today are used up (%d of %d)", spent, most), 0, nil
	}
	return "", most - spent, nil
}

// heartbeatTokens is what the heartbeat has taken today.
func (e *Engine) heartbeatTokens(ctx context.Context, s settings.Settings) (spent int, err error) {
	y, m, d := time.Now().In(s.Zone()).Date()
	err = e.store.Read(ctx, func(tx *store.Tx) (err error) {
		spent, err = tx.Runs().HeartbeatTokens(time.Date(y, m, d, 0, 0, 0, 0, s.Zone()))
		return err
	})
	return spent, err
}

// heartbeatText says what the heartbeat does, for people.
func (e *Engine) heartbeatText(ctx context.Context) (string, error) {
	h, s := e.workspace.Heartbeat(), e.settings()
	_, faults := e.beats(ctx, h)
	var all []store.Job
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = tx.Jobs().Jobs(false)
		return err
	})
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(j store.Job) bool { return j.Kind != store.JobHeartbeat })
	lines := []string{e.say(locale.HeartbeatOff)}
	if len(all) > 0 {
		lines[0] = e.say(locale.HeartbeatOn)
	} else if h.Text != "" && s.Heartbeat.Every <= 0 {
		lines[0] = e.say(locale.HeartbeatNoEvery)
	}
	for i, j := range all {
		line := e.listLine(i+1, j)
		if j.Target.Chat.Channel == "" {
			line += "; " + e.say(locale.HeartbeatLogged)
		} else {
			line += " → " + j.Target.Chat.String()
		}
		lines = append(lines, line)
	}
	if q := s.Heartbeat.Quiet; q.From != q.To {
		lines = append(lines, e.say(locale.HeartbeatQuiet, clock(q.From), clock(q.To)))
	}
	if most := s.Heartbeat.PerDayTokens; most > 0 {
		spent, err := e.heartbeatTokens(ctx, s)
		if err != nil {
			return "", err
		}
		lines = append(lines, e.say(locale.HeartbeatBudget, spent, most))
	}
	if len(faults) > 0 {
		lines = append(lines, e.say(locale.HeartbeatFaults, locale.CodeBlock(strings.Join(faults, "\n"))))
	}
	return strings.Join(lines, "\n"), nil
}

// clock is a time of the day, "22:00".
func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
