// Package schedule edits schedules, reminders, subagents and the tasks of the heartbeat,
// for tools, chats and the command line. An edit only changes rows. Package jobs fires
// what is due, package run runs it.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/job"
)

const (
	// maxJobs bounds all jobs, maxChatJobs those of one chat that does not belong to
	// an owner.
	maxJobs     = 5000
	maxChatJobs = 100
	// lineInterval is the shortest interval at the command line.
	lineInterval = time.Second
	maxJobName   = 64
	maxJobText   = 8000
)

// Config is what New needs.
type Config struct {
	// Open returns the database, or why there is none.
	Open func() (*store.Store, error)
	// Gateway knows which chats may get results.
	Gateway  *gateway.Gateway
	Settings func() settings.Settings
	// ToCron asks a model for the cron expression that words mean. It is nil, or
	// returns ErrNoModel, when there is none.
	ToCron func(ctx context.Context, c tools.Call, words string) (string, error)
}

// ErrNoModel: no model is configured that could read words.
var ErrNoModel = errors.New("no model is set up")

// Editor edits schedules, reminders and subagents.
type Editor struct{ Config }

var _ job.Schedules = (*Editor)(nil)

// New returns an Editor.
func New(c Config) *Editor { return &Editor{c} }

// planner is the user who edits schedules.
type planner struct {
	home gateway.Address
	user int64
	// all: the planner may see and change the jobs of others, as an owner or at the
	// command line. line: it is the command line.
	all, line bool
}

func (s *Editor) who(c tools.Call) (planner, error) {
	if c.Chat == "" {
		return planner{all: true, line: true}, nil
	}
	chat, err := gateway.ParseChatID(c.Chat)
	if err != nil {
		return planner{}, tools.Refuse(tools.Validation, "%v", err)
	}
	return s.whoIn(gateway.Address{Chat: chat, Thread: c.Thread}, c.User), nil
}

// whoIn is the planner for a user in a chat. An owner sees all jobs at the terminal and
// in the private chat, but not in a group, where others would read them.
func (s *Editor) whoIn(a gateway.Address, user int64) planner {
	alone := a.Chat.ID == 0 || a.Chat.ID == user && s.Settings().Owns(a.Chat.Channel, user)
	return planner{home: a, user: user, all: alone}
}

// sees reports whether the planner may see a job.
func (a planner) sees(j store.Job) bool {
	return j.Kind != store.JobSpawn && (a.all || a.home.Chat == j.Home.Chat)
}

// read and write are the store's, on a database that may not be there.
func (s *Editor) read(ctx context.Context, fn func(*store.Tx) error) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	return st.Read(ctx, fn)
}

func (s *Editor) write(ctx context.Context, fn func(*store.Tx) error) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	return st.Write(ctx, fn)
}

// List returns what the caller may see, by name.
func (s *Editor) List(ctx context.Context, c tools.Call) ([]job.Schedule, error) {
	who, err := s.who(c)
	if err != nil {
		return nil, err
	}
	var list []job.Schedule
	err = s.read(ctx, func(tx *store.Tx) error {
		list = []job.Schedule{}
		all, err := tx.Jobs().Jobs(false)
		if err != nil {
			return err
		}
		latest, err := tx.Runs().LatestRuns()
		if err != nil {
			return err
		}
		for _, j := range all {
			if !who.sees(j) {
				continue
			}
			cost, err := tx.Runs().CostOf(j.ID)
			if err != nil {
				return err
			}
			one := s.shown(j, latest[j.ID])
			one.CostUSD = float64(cost) / store.Dollar
			list = append(list, one)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b job.Schedule) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

// Add creates a schedule.
func (s *Editor) Add(ctx context.Context, c tools.Call, n job.New) (job.Schedule, error) {
	who, err := s.who(c)
	if err != nil {
		return job.Schedule{}, err
	}
	j := store.Job{Kind: store.JobSchedule, Name: strings.TrimSpace(n.Name), Home: who.home, Creator: who.user, State: store.JobOn, Origin: cmp.Or(string(c.Origin), "command")}
	if who.line {
		j.Origin = "command"
	}
	if (n.Cron == "") == (n.At == "") {
		return job.Schedule{}, tools.Refuse(tools.Validation, "give cron (again and again) or at (once), one of the two")
	}
	if err := checkJobName(j.Name); err != nil {
		return job.Schedule{}, err
	}
	if strings.TrimSpace(n.Message) == "" {
		return job.Schedule{}, tools.Refuse(tools.Validation, "the message is empty; say what to do")
	}
	wrote(&j, c, who)
	n.Misfire = cmp.Or(n.Misfire, jobs.RunOnce)
	if err := s.change(ctx, &j, n, c, who); err != nil {
		return job.Schedule{}, err
	}
	err = s.write(ctx, func(tx *store.Tx) error {
		if err := free(tx, who, j.Name); err != nil {
			return err
		}
		j.ID, err = tx.Jobs().AddJob(j)
		return err
	})
	return s.shown(j, store.Run{}), err
}

// Origins of jobs besides those of calls.
const (
	// OriginOthers and OriginOutside: an owner's turn created or changed the job in a
	// conversation with messages of other users, or with untrusted content.
	OriginOthers  = "others"
	OriginOutside = "outside"
)

// wrote limits the permissions of a job's runs to those of the user who changes it, and
// marks a job that an owner changed after others had written.
func wrote(j *store.Job, c tools.Call, who planner) {
	switch {
	case who.line:
	case !c.Owner:
		j.Creator = who.user
	case c.Others:
		j.Origin = OriginOthers
	case c.Heard && j.Origin != OriginOthers:
		j.Origin = OriginOutside
	}
}

// free is an error when no job of this name can be added.
func free(tx *store.Tx, who planner, name string) error {
	if _, err := tx.Jobs().JobNamed(name); !errors.Is(err, store.ErrNotFound) {
		if err == nil {
			err = tools.Refuse(tools.Validation, "schedule '%s' already exists", name)
		}
		return err
	}
	all, own, err := tx.Jobs().CountJobs(who.home)
	if err != nil {
		return err
	}
	if all >= maxJobs || !who.all && own >= maxChatJobs {
		return tools.Refuse(tools.PolicyDenied, "there are too many schedules; remove one first")
	}
	return nil
}

func checkJobName(name string) error {
	switch {
	case name == "":
		return tools.Refuse(tools.Validation, "the name is empty")
	case len([]rune(name)) > maxJobName || strings.IndexFunc(name, unicode.IsControl) >= 0:
		return tools.Refuse(tools.Validation, "the name must be one line of at most %d characters", maxJobName)
	}
	return nil
}

// named finds a job that the planner may see, with JobNamed or JobEver.
func (a planner) named(find func(string) (store.Job, error), name string) (store.Job, error) {
	name = strings.TrimSpace(name)
	j, err := find(name)
	if errors.Is(err, store.ErrNotFound) || err == nil && !a.sees(j) {
		return j, tools.Refuse(tools.NotFound, "schedule '%s' not found", clip.Runes(name, maxJobName))
	}
	return j, err
}

// alter changes a job by its name.
func (s *Editor) alter(ctx context.Context, c tools.Call, name string, fn func(*store.Tx, *store.Job, planner) error) (j store.Job, err error) {
	who, err := s.who(c)
	if err != nil {
		return j, err
	}
	err = s.write(ctx, func(tx *store.Tx) error {
		if j, err = who.named(tx.Jobs().JobNamed, name); err != nil {
			return err
		}
		before := j
		if err := fn(tx, &j, who); err != nil || j == before {
			return err
		}
		return tx.Jobs().UpdateJob(j)
	})
	return j, err
}

// inFile refuses to change a task of HEARTBEAT.md.
func inFile(j store.Job) error {
	if j.Kind != store.JobHeartbeat {
		return nil
	}
	return tools.Refuse(tools.Validation, "'%s' is a task of the heartbeat; change it in HEARTBEAT.md", j.Name)
}

// Remove deletes a schedule.
func (s *Editor) Remove(ctx context.Context, c tools.Call, name string) error {
	_, err := s.alter(ctx, c, name, func(_ *store.Tx, j *store.Job, _ planner) error {
		if err := inFile(*j); err != nil {
			return err
		}
		removeJob(j)
		return nil
	})
	return err
}

func removeJob(j *store.Job) { j.State, j.NextRun = store.JobRemoved, time.Time{} }

// Switch turns a schedule on or off.
func (s *Editor) Switch(ctx context.Context, c tools.Call, name string, on bool) (job.Schedule, error) {
	j, err := s.alter(ctx, c, name, func(tx *store.Tx, j *store.Job, _ planner) error { return switchJob(tx, j, on) })
	return s.shown(j, store.Run{}), err
}

// switchJob turns a job on, from now on, or off.
func switchJob(tx *store.Tx, j *store.Job, on bool) error {
	if !on {
		j.State, j.Note = store.JobPaused, ""
		return nil
	}
	if j.State == store.JobOn {
		return nil
	}
	next, err := nextOf(tx, *j, time.Now())
	if errors.Is(err, times.ErrPast) || errors.Is(err, errNever) {
		return tools.Refuse(tools.Validation, "schedule '%s' cannot run again: %v; give it another time first", j.Name, err)
	}
	if err != nil {
		return err
	}
	j.State, j.Note, j.Failures, j.NextRun, j.Settled = store.JobOn, "", 0, next, time.Time{}
	if j.Cron == "" {
		j.At = next
	}
	return nil
}

// errNever: a job is never due again.
var errNever = errors.New("it is never due")

// nextOf is the first time of a job after now that has no run.
func nextOf(tx *store.Tx, j store.Job, now time.Time) (time.Time, error) {
	switch {
	case j.Cron != "":
	case j.At.After(now):
		return j.At, nil
	case j.Kind == store.JobHeartbeat:
		return now.Add(time.Minute).Truncate(time.Millisecond), nil
	default:
		return time.Time{}, times.ErrPast
	}
	for {
		next := nextTimes(j, now, 1)
		if len(next) == 0 {
			return time.Time{}, errNever
		}
		taken, err := tx.Runs().RunAt(j.ID, next[0])
		if err != nil || !taken {
			return next[0], err
		}
		now = next[0]
	}
}

// nextTimes are the next times of a job after a moment.
func nextTimes(j store.Job, after time.Time, n int) []time.Time {
	repeat, err := times.ParseRepeat(j.Cron)
	zone, err2 := times.ParseZone(j.Zone, time.UTC)
	if err != nil || err2 != nil {
		return nil
	}
	return times.NextTimes(repeat, after, zone, n)
}

// Run adds a run that is due now. The scheduler of the running bot finds the row.
func (s *Editor) Run(ctx context.Context, c tools.Call, name string) error {
	_, err := s.alter(ctx, c, name, func(tx *store.Tx, j *store.Job, _ planner) error { return runByHand(tx, *j) })
	return err
}

// runByHand claims a run that is due now.
func runByHand(tx *store.Tx, j store.Job) error {
	busy, err := tx.Runs().OpenRunOf(j.ID)
	if err != nil {
		return err
	}
	if busy {
		return tools.Refuse(tools.Execution, "schedule '%s' is running already", j.Name)
	}
	now := time.Now().Truncate(time.Millisecond)
	if now.Nanosecond() == 0 {
		now = now.Add(time.Millisecond) // the job's own times are whole seconds
	}
	_, err = tx.Runs().ClaimRun(store.Run{Job: j.ID, ScheduledAt: now, Cause: store.CauseHand})
	return err
}

// once reports whether a job is due a single time.
func once(j store.Job) bool { return j.Cron == "" && j.Kind != store.JobHeartbeat }

// skipNext skips the next time of a job.
func skipNext(tx *store.Tx, j *store.Job) error {
	if j.State != store.JobOn || j.NextRun.IsZero() {
		return tools.Refuse(tools.Validation, "schedule '%s' has no next run to skip", j.Name)
	}
	if once(*j) {
		return tools.Refuse(tools.Validation, "'%s' is due only once; pause or delete it", j.Name)
	}
	_, err := tx.Runs().ClaimRun(store.Run{Job: j.ID, ScheduledAt: j.NextRun, State: store.RunSkipped, Note: "skipped by hand", EndedAt: time.Now()})
	if err != nil {
		return err
	}
	next := nextTimes(*j, j.NextRun, 1)
	if len(next) == 0 {
		j.State, j.NextRun = store.JobDone, time.Time{}
		return nil
	}
	j.NextRun = next[0]
	return nil
}

// Skip skips the next time of a schedule.
func (s *Editor) Skip(ctx context.Context, c tools.Call, name string) error {
	_, err := s.alter(ctx, c, name, func(tx *store.Tx, j *store.Job, _ planner) error { return skipNext(tx, j) })
	return err
}

// Edit changes what is not empty in ch.
func (s *Editor) Edit(ctx context.Context, c tools.Call, name string, ch job.New) (job.Schedule, error) {
	who, err := s.who(c)
	if err != nil {
		return job.Schedule{}, err
	}
	var changed store.Job
	err = s.read(ctx, func(tx *store.Tx) (err error) {
		changed, err = who.named(tx.Jobs().JobNamed, name)
		return err
	})
	if err == nil {
		err = s.change(ctx, &changed, ch, c, who) // may ask a model, so outside of a transaction
	}
	if err != nil {
		return job.Schedule{}, err
	}
	j, err := s.alter(ctx, c, name, func(_ *store.Tx, j *store.Job, _ planner) error {
		if err := inFile(*j); err != nil {
			return err
		}
		if j.ID != changed.ID {
			return tools.Refuse(tools.Execution, "another schedule has the name '%s' now; list them again", name)
		}
		j.Cron, j.At, j.Zone, j.NextRun, j.Settled = changed.Cron, changed.At, changed.Zone, changed.NextRun, time.Time{}
		wrote(j, c, who)
		j.Message, j.Model, j.Misfire, j.Target = changed.Message, changed.Model, changed.Misfire, changed.Target
		return nil
	})
	return s.shown(j, store.Run{}), err
}

// Logs returns the latest runs of a schedule, also of one whose only time has
// come.
func (s *Editor) Logs(ctx context.Context, c tools.Call, name string, limit int) ([]job.Run, error) {
	who, err := s.who(c)
	if err != nil {
		return nil, err
	}
	var all []job.Run
	err = s.read(ctx, func(tx *store.Tx) error {
		j, err := who.named(tx.Jobs().JobEver, name)
		if err != nil {
			return err
		}
		runs, err := tx.Runs().Runs(j.ID, limit)
		for _, r := range runs {
			all = append(all, shownRun(tx, r))
		}
		return err
	})
	return all, err
}
