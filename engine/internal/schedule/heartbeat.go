package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/phrase"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/internal/clip"
	"klawbot/internal/wait"
	"klawbot/tools"
	"klawbot/tools/job"
)

const (
	// heartbeatEvery is how often the file is checked.
	heartbeatEvery = time.Second
	// heartbeatAgain is how often the jobs are compared with an unchanged file: a chat
	// may be allowed again.
	heartbeatAgain = time.Minute
)

// HeartbeatConfig is what NewHeartbeat needs.
type HeartbeatConfig struct {
	Editor    *Editor
	Workspace *workspace.Workspace
	// Every is how often the file is checked. Default: heartbeatEvery.
	Every time.Duration
	// Unstored logs a failed write that is retried.
	Unstored func(ctx context.Context, what string, err error, args ...any)
	Log      *slog.Logger
}

// Heartbeat keeps the jobs equal to the tasks of HEARTBEAT.md, the bot's background
// tasks.
type Heartbeat struct{ HeartbeatConfig }

// NewHeartbeat returns a Heartbeat.
func NewHeartbeat(c HeartbeatConfig) *Heartbeat { return &Heartbeat{c} }

// planned is the input of the last plan.
type planned struct {
	file      workspace.Stamp
	heartbeat settings.Heartbeat
	zone      string
}

// Watch keeps the jobs equal to the file until ctx ends. It reports errors in the file
// to faulty when they change; at the start it only logs them.
func (h *Heartbeat) Watch(ctx context.Context, faulty func(faults string)) {
	var last planned
	var faults string
	var at time.Time
	var on bool
	for first := true; ; first = false {
		s := h.Editor.Settings()
		now := planned{h.Workspace.HeartbeatStamp(), s.Heartbeat, s.Zone().String()}
		if now != last || on && time.Since(at).Abs() >= heartbeatAgain {
			file := h.Workspace.Heartbeat()
			on = len(file.Tasks) > 0 || file.Text != ""
			found, err := h.plan(ctx, file)
			switch {
			case err != nil && ctx.Err() == nil:
				h.Unstored(ctx, "heartbeat not planned", err)
			case err == nil:
				last, at = now, time.Now()
			}
			if text := strings.Join(found, "\n"); err == nil && text != faults {
				if faults = text; faults != "" {
					h.Log.Warn("HEARTBEAT.md has errors", "errors", faults)
					if !first {
						faulty(faults)
					}
				}
			}
		}
		if !wait.For(ctx, cmp.Or(h.Every, heartbeatEvery)) {
			return
		}
	}
}

// plan makes the jobs of the heartbeat equal to the file, and returns the errors in it.
func (h *Heartbeat) plan(ctx context.Context, file workspace.Heartbeat) (faults []string, err error) {
	by, err := h.fileAuthor(ctx)
	if err != nil {
		return nil, err
	}
	wanted, faults := h.beats(ctx, file)
	changed := false
	err = h.Editor.write(ctx, func(tx *store.Tx) error {
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
		h.attribute(wanted, by, known)
		for _, w := range wanted {
			was, found := there[w.Name]
			if found && was.Kind != store.JobHeartbeat {
				faults = append(faults, fmt.Sprintf("task %q: a schedule has this name", w.Name))
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
		h.Log.Info("heartbeat planned", "tasks", len(wanted), "errors", len(faults))
	}
	return faults, err
}

// beats are the jobs for the tasks of the file.
func (h *Heartbeat) beats(ctx context.Context, file workspace.Heartbeat) (all []store.Job, faults []string) {
	faults = slices.Clone(file.Faults)
	every := h.Editor.Settings().Heartbeat.Every
	if file.Text != "" && every > 0 {
		file.Tasks = append(file.Tasks, workspace.Beat{Name: workspace.HeartbeatFile, Message: clip.Runes(file.Text, maxJobText-1)})
	}
	for _, b := range file.Tasks {
		j, err := h.beat(ctx, b, time.Now())
		if err != nil {
			faults = append(faults, fmt.Sprintf("task %q: %v", clip.Runes(b.Name, maxJobName), err))
			continue
		}
		all = append(all, j)
	}
	return all, faults
}

// beat is the job for a task. Without a cron it repeats every heartbeat.every.
func (h *Heartbeat) beat(ctx context.Context, b workspace.Beat, now time.Time) (store.Job, error) {
	s := h.Editor.Settings()
	zone := s.Zone()
	j := store.Job{
		Kind: store.JobHeartbeat, Name: b.Name, Zone: zone.String(), Misfire: jobs.RunOnce, Origin: "workspace", State: store.JobOn,
	}
	if err := checkJobName(j.Name); err != nil {
		return j, err
	}
	asked := job.New{Message: b.Message, Model: b.Model, InjectInto: cmp.Or(b.InjectInto, s.Heartbeat.InjectInto)}
	if err := h.Editor.change(ctx, &j, asked, tools.Call{}, planner{}); err != nil {
		return j, err
	}
	if b.Cron == "" {
		j.At = now.Add(s.Heartbeat.Every).Truncate(time.Millisecond)
		j.NextRun = j.At
		return j, nil
	}
	repeat, zone, err := phrase.ReadRepeat(b.Cron, now, zone)
	if err != nil {
		return j, err
	}
	// The file is read again and again, so its words must not depend on the day.
	if later, _, err := phrase.ReadRepeat(b.Cron, now.AddDate(0, 0, 100), zone); err != nil || later.String() != repeat.String() {
		return j, errors.New(`"Cron" needs a first day with its year, such as "every 2 weeks from 2026-12-14 at 9"`)
	}
	err = again(&j, repeat, now, zone, max(s.Scheduler.MinInterval, lineInterval))
	return j, err
}

// putBeat stores a task and reports whether that changed anything. An unchanged task
// keeps the time that it waits for.
func putBeat(tx *store.Tx, was, w store.Job) (changed bool, err error) {
	if was.ID == 0 {
		if ever, err := tx.Jobs().JobEver(w.Name); err == nil && ever.Kind == store.JobHeartbeat {
			// It is running; the end of the run sets the next time.
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

// HeartbeatSpent is how many tokens the heartbeat has used on the day of now.
func HeartbeatSpent(tx *store.Tx, now time.Time) (int, error) {
	y, m, d := now.Date()
	return tx.Runs().HeartbeatTokens(time.Date(y, m, d, 0, 0, 0, 0, now.Location()))
}

// Text answers /heartbeat.
func (h *Heartbeat) Text(ctx context.Context) (string, error) {
	file, s := h.Workspace.Heartbeat(), h.Editor.Settings()
	_, faults := h.beats(ctx, file)
	var all []store.Job
	var spent int
	err := h.Editor.read(ctx, func(tx *store.Tx) (err error) {
		if all, err = tx.Jobs().Jobs(false); err == nil && s.Heartbeat.PerDayTokens > 0 {
			spent, err = HeartbeatSpent(tx, time.Now().In(s.Zone()))
		}
		return err
	})
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(j store.Job) bool { return j.Kind != store.JobHeartbeat })
	lines := []string{h.Editor.say(locale.HeartbeatOff)}
	if len(all) > 0 {
		lines[0] = h.Editor.say(locale.HeartbeatOn)
	} else if file.Text != "" && s.Heartbeat.Every <= 0 {
		lines[0] = h.Editor.say(locale.HeartbeatNoEvery)
	}
	for i, j := range all {
		line := h.Editor.listLine(i+1, j)
		if j.Target.Chat.Channel == "" {
			line += "; " + h.Editor.say(locale.HeartbeatLogged)
		} else {
			line += " → " + j.Target.Chat.String()
		}
		lines = append(lines, line)
	}
	if q := s.Heartbeat.Quiet; q.From != q.To {
		lines = append(lines, h.Editor.say(locale.HeartbeatQuiet, clock(q.From), clock(q.To)))
	}
	if most := s.Heartbeat.PerDayTokens; most > 0 {
		lines = append(lines, h.Editor.say(locale.HeartbeatBudget, spent, most))
	}
	if len(faults) > 0 {
		lines = append(lines, h.Editor.say(locale.HeartbeatFaults, locale.CodeBlock(strings.Join(faults, "\n"))))
	}
	return strings.Join(lines, "\n"), nil
}

// clock is a time of the day, "22:00".
func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
