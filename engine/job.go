package engine

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/gateway"
	"klawbot/internal/wait"
	"klawbot/tools"
	"klawbot/tools/rule"
)

var (
	// errDeadline: a run took too long.
	errDeadline = errors.New("the run took too long")
	// errJobGone: the job was removed while it ran.
	errJobGone = errors.New("the job was removed")
	// errNoModel: there is no model that could run a turn.
	errNoModel = errors.New("no model is set up")
)

const (
	// retryAfter is the wait before the one retry of a run that failed.
	retryAfter = 5 * time.Minute
	// maxAttempts is how often a run is tried.
	maxAttempts = 2
	// runTimeout is how long a run may take when the settings do not say.
	runTimeout = 5 * time.Minute
	// resultKept is how much of what a run said is kept with it, in characters.
	resultKept = 4000
	// jobsTogether times the model calls at one time is how many runs there are
	// at one time; the others wait in the order in which they were due.
	jobsTogether = 2
	// lostAfter is the age at which a subagent is not resumed any more: what was
	// to happen at once is not wanted a day later.
	lostAfter = 24 * time.Hour
	// jobsKept is how long ended jobs and the rows of runs are kept.
	jobsKept = 90 * 24 * time.Hour
)

// runs fires the runs of jobs, and knows those that are at work in this process.
type runs struct {
	jobs  *jobs.Scheduler
	slots *model.Slots

	mu  sync.Mutex
	all map[store.RunID]liveRun // guarded by mu
	// begun are the runs that a goroutine has.
	begun map[store.RunID]bool // guarded by mu
}

// begin says that a goroutine has a run; ok is false when another one has it.
func (l *runs) begin(id store.RunID) (done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun[id] {
		return nil, false
	}
	if l.begun == nil {
		l.begun = map[store.RunID]bool{}
	}
	l.begun[id] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.begun, id)
	}, true
}

// liveRun is a run at work.
type liveRun struct {
	job    store.Job
	cancel context.CancelCauseFunc
}

// add notes a run; the function forgets it.
func (l *runs) add(id store.RunID, r liveRun) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[store.RunID]liveRun{}
	}
	l.all[id] = r
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, id)
	}
}

// stop cancels the runs that match, and returns how many.
func (l *runs) stop(cause error, match func(store.Job) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.all {
		if match(r.job) {
			r.cancel(cause)
			n++
		}
	}
	return n
}

// startRun begins a run that was claimed, or that the end of the process
// interrupted. It does not block.
func (e *Engine) startRun(r store.Run) {
	lifecycle.CrashPoint("run.claimed")
	e.life.Go(func(ctx context.Context) { e.runJob(ctx, r.ID) })
}

// runJob makes a run, with its retry. ctx ends with the engine; then what has
// begun is parked like the turns of people.
func (e *Engine) runJob(ctx context.Context, id store.RunID) {
	done, ok := e.runs.begin(id)
	if !ok {
		return
	}
	defer done()
	defer e.runs.jobs.Ended(id)
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("run panicked", "run", id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	for {
		var j store.Job
		var r store.Run
		err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
			if r, err = tx.Runs().Run(id); err != nil {
				return err
			}
			j, err = tx.Jobs().Job(r.Job)
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				e.log.Error("run not begun", "run", id, "err", err)
			}
			return
		}
		if r.State == store.RunRetry && !wait.For(ctx, min(time.Until(r.RetryAt), retryAfter)) {
			return
		}
		if again := e.attempt(ctx, j, r); !again {
			return
		}
	}
}

// attempt tries a run once, and reports whether it is to be tried again.
func (e *Engine) attempt(ctx context.Context, j store.Job, r store.Run) (again bool) {
	log := e.log.With("job", j.ID, "run", r.ID)
	switch {
	case r.State != store.RunClaimed && r.State != store.RunRunning && r.State != store.RunRetry:
		return false
	case j.State == store.JobRemoved:
		e.endRun(ctx, j, r, runEnd{state: store.RunStopped, note: goneNote(j)})
		return false
	}
	if why := e.lost(ctx, j, r); why != "" {
		log.Warn("subagent lost", "name", j.Name, "reason", why)
		e.endRun(ctx, j, r, e.troubled(j, store.RunLost, why))
		return false
	}
	if why := e.barred(j); why != "" {
		log.Warn("job paused", "name", j.Name, "reason", why)
		e.endRun(ctx, j, r, e.troubled(j, store.RunFailed, why))
		return false
	}
	rest, left, err := e.resting(ctx, j, r)
	if err != nil {
		e.life.LogUnstored(ctx, "run not begun", err, "run", r.ID)
		return wait.For(ctx, time.Second)
	}
	if rest != "" {
		e.endRun(ctx, j, r, runEnd{state: store.RunSkipped, note: rest})
		return false
	}
	if j.Kind == store.JobReminder {
		e.endRun(ctx, j, r, runEnd{state: store.RunDone, report: "⏰ " + j.Message, result: j.Message})
		return false
	}
	release, err := e.runs.slots.Take(ctx, false)
	if err != nil {
		return false
	}
	defer release()
	t, err := e.beginRun(ctx, j, r)
	if errors.Is(err, errJobGone) {
		return true // which looks at it anew
	}
	if err != nil {
		e.life.LogUnstored(ctx, "run not begun", err, "run", r.ID)
		return wait.For(ctx, time.Second)
	}
	t.job.left, t.job.most = left, cmp.Or(j.Budget, e.settings().Scheduler.RunTokens)
	running, cancel := context.WithCancelCause(e.life.Parking())
	defer cancel(nil)
	defer e.runs.add(r.ID, liveRun{t.job.job, cancel})()
	if e.removed(j) { // since beginRun looked
		cancel(errJobGone)
	}
	t.job.deadline = startDeadline(e.settings().Scheduler.RunTimeout, func() { cancel(errDeadline) })
	defer t.job.deadline.stop()
	t.run(running)
	return t.job.run.State == store.RunRetry
}

// lost says why a subagent cannot be resumed, "" when it can: nobody knows how
// far it came, or it is too old.
func (e *Engine) lost(ctx context.Context, j store.Job, r store.Run) string {
	if j.Kind != store.JobSpawn {
		return ""
	}
	if time.Since(r.ScheduledAt) > lostAfter {
		return e.say(locale.LostOld)
	}
	if r.State != store.RunRunning {
		return ""
	}
	var t store.Turn
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		t, err = tx.Turns().Turn(r.Turn)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && t.State != store.TurnRunning {
		return e.say(locale.LostTurn)
	}
	return ""
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
	var spent int
	err = e.store.Read(ctx, func(tx *store.Tx) (err error) {
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

// barred says why a job may not run, "" when it may: the chat that it belongs to
// or that it reports to is not listed any more.
func (e *Engine) barred(j store.Job) string {
	for _, a := range []gateway.Address{j.Target, j.Home} {
		if a.Chat.Channel == "" {
			continue
		}
		if err := e.gateway.Reachable(a.Chat); err != nil {
			return err.Error()
		}
	}
	return ""
}

// stopSubagents cancels the subagents that turns of a chat have started, and returns
// how many.
func (e *Engine) stopSubagents(ctx context.Context, a gateway.Address) int {
	var stopped atomic.Int64 // on a full disk the change runs again beside the return
	e.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		n, err := schedule.CancelSpawnedBy(tx, a)
		stopped.Store(int64(n))
		return err
	}, func(err error) {
		if err != nil {
			e.log.Error("subagents not stopped", "chat", a.String(), "err", err)
		}
	})
	e.runs.stop(errJobGone, func(j store.Job) bool { return j.Kind == store.JobSpawn && j.Home == a })
	return int(stopped.Load())
}

// removed reports whether a job that runs was removed meanwhile.
func (e *Engine) removed(j store.Job) bool {
	err := e.store.Read(context.Background(), func(tx *store.Tx) (err error) {
		j, err = tx.Jobs().Job(j.ID)
		return err
	})
	return err == nil && j.State == store.JobRemoved
}

// jobsChanged has the scheduler look at the jobs, and ends the runs of those that are
// removed.
func (e *Engine) jobsChanged() {
	e.runs.jobs.Changed()
	e.runs.stop(errJobGone, e.removed)
}

// jobRun is what makes a turn the run of a job.
type jobRun struct {
	job      store.Job
	run      store.Run
	deadline *deadline
	// most is how many tokens the run may take with its subagents, left what the
	// heartbeat may take today. 0 is no bound.
	most, left int
}

// begun is a run whose turn is in the store, with what the store knows of it:
// answers and calls when it was interrupted before.
type begun struct {
	run     store.Run
	turn    store.Turn
	answers []llm.Message
	calls   map[string]store.Call
}

// beginRun starts the turn of a run, or resumes the one that the end of the
// process interrupted.
func (e *Engine) beginRun(ctx context.Context, j store.Job, r store.Run) (*turn, error) {
	fresh := store.Turn{
		Address: workplace(j), Origin: string(originOf(j)), State: store.TurnRunning, Placeholder: progress.StateNone, Model: j.Model, StartedAt: time.Now(),
	}
	var b begun
	err := e.life.Persist(ctx, gateway.Address{}, func(tx *store.Tx) (err error) {
		b, err = storeBegin(tx, r, fresh)
		return err
	})
	if err != nil {
		return nil, err
	}
	lifecycle.CrashPoint("run.started")
	t := e.newTurn(ctx, b.turn, nil)
	t.job = &jobRun{job: j, run: b.run}
	t.user, t.owned = j.Creator, e.ownsJob(j)
	t.others, t.heard = j.Origin == schedule.OriginOthers, j.Origin == schedule.OriginOutside
	t.asked = []store.Message{{Body: llm.Text(llm.RoleUser, j.Message), Sender: j.Creator, At: b.turn.StartedAt}}
	t.directed, t.command = e.directJob(j), "tool"
	t.answers, t.calls = b.answers, b.calls
	t.log = t.log.With("job", j.ID, "run", r.ID)
	t.log.Info("run begins", "name", j.Name, "attempt", b.run.Attempts, "resumed", b.calls != nil)
	return t, nil
}

// storeBegin gives a run a fresh turn, or the one that it has. It changes nothing
// but the database, because a disk that is full has it run several times.
func storeBegin(tx *store.Tx, r store.Run, fresh store.Turn) (b begun, err error) {
	if err := stillWanted(tx, r.ID); err != nil {
		return b, err
	}
	b = begun{run: r, turn: fresh}
	if r.State == store.RunRunning && r.Turn != 0 {
		known, err := tx.Turns().Turn(r.Turn)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return b, err
		}
		if err == nil && known.State == store.TurnRunning {
			b.turn = known
			b.turn.Placeholder = progress.Resumed(known.Placeholder)
			if b.answers, err = tx.Turns().Answers(known.ID); err == nil {
				b.calls, err = tx.Turns().Calls(known.ID)
			}
			return b, err
		}
	}
	session, err := tx.Sessions().Session(gateway.Address{Chat: gateway.ChatID{Channel: store.JobChannel, ID: int64(r.Job)}})
	if err != nil {
		return b, err
	}
	b.turn.Session = session.ID
	if b.turn.ID, err = tx.Turns().AddTurn(b.turn); err != nil {
		return b, err
	}
	b.run.State, b.run.Turn, b.run.StartedAt = store.RunRunning, b.turn.ID, b.turn.StartedAt
	b.run.Attempts++
	return b, tx.Runs().UpdateRun(b.run)
}

// stillWanted is errJobGone when a run was stopped, or its job removed, while it
// waited for its place.
func stillWanted(tx *store.Tx, id store.RunID) error {
	r, err := tx.Runs().Run(id)
	if err != nil {
		return err
	}
	j, err := tx.Jobs().Job(r.Job)
	if err == nil && (!r.Open() || j.State == store.JobRemoved) {
		err = errJobGone
	}
	return err
}

// goneNote is what the ledger says of a run whose job is gone.
func goneNote(j store.Job) string {
	if j.Kind == store.JobSpawn {
		return schedule.NoteCancelled
	}
	return errJobGone.Error()
}

// workplace is the chat that a run works for: the one that it reports to, or
// that it belongs to. A job of the command line has none.
func workplace(j store.Job) gateway.Address {
	switch {
	case j.Target.Chat.Channel != "":
		return j.Target
	case j.Home.Chat.Channel != "":
		return j.Home
	}
	return gateway.Address{Chat: gateway.ChatID{Channel: store.JobChannel, ID: int64(j.ID)}}
}

func originOf(j store.Job) tools.Origin {
	if j.Kind == store.JobSpawn {
		return tools.OriginSubagent
	}
	return tools.OriginSchedule
}

// kindName is what a job is called in texts for models.
func kindName(j store.Job) string {
	if j.Kind == store.JobSpawn {
		return "subagent"
	}
	return string(j.Kind)
}

// ownsJob reports whether an owner made a job. A task of the heartbeat is nobody's:
// its text may be of several hands.
func (e *Engine) ownsJob(j store.Job) bool {
	if j.Kind == store.JobHeartbeat {
		return false
	}
	if j.Home.Chat.Channel == "" {
		return j.Origin == "command" || j.Origin == schedule.OriginOthers || j.Origin == schedule.OriginOutside
	}
	return e.owns(gateway.Message{Address: j.Home, Sender: gateway.Sender{ID: j.Creator}})
}

// directJob is the call of an owner's job whose message is "/tool NAME JSON": it
// needs no model. nil for others.
func (e *Engine) directJob(j store.Job) *llm.ToolCall {
	args, ok := strings.CutPrefix(j.Message, "/tool ")
	if !ok || j.Kind == store.JobSpawn || !e.ownsJob(j) {
		return nil
	}
	return schedule.ToolCall(args)
}

// within is what a run may do at most: what its creator may do in the chat that
// it belongs to, and no planning and no spawning unless the owner's policy for
// scheduled runs names it.
func (t *turn) within() *tools.Scope {
	if t.job == nil {
		return nil
	}
	p := t.settings.Policy
	j := t.job.job
	home := ""
	if j.Home.Chat.Channel != "" {
		home = j.Home.Chat.String()
	}
	target := workplace(j).Chat.String()
	closed := tools.Policy{Autonomy: tools.Full, Scheduled: tools.Limits{Deny: closedToRuns(p.Scheduled, originOf(j))}}
	if slices.Contains(closed.Scheduled.Deny, "schedule_add") {
		closed.Rules = []rule.Rule{noHeartbeat}
	}
	scope := p.For(home, tools.OriginPerson).And(p.For(home, tools.OriginSchedule)).And(p.For(target, tools.OriginSchedule)).
		And(closed.For("", tools.OriginSchedule))
	return &scope
}

// noHeartbeat keeps a run from planning by way of the file. On some systems
// names that differ in their letters' case are the same file.
var noHeartbeat = func() rule.Rule {
	r, err := rule.New("heartbeat", []string{"file_write", "file_edit"}, nil, []string{`re:(?i)(^|/)` + regexp.QuoteMeta(workspace.HeartbeatFile) + `\s*$`})
	if err != nil {
		panic(err) // the rule is ours
	}
	return r
}()

// closedToRuns are the tools that runs do not have unless the policy for them
// names them.
func closedToRuns(scheduled tools.Limits, origin tools.Origin) []string {
	closed := []string{"schedule_add", "schedule_remove", "schedule_manage", "subagent_spawn", "subagent_manage",
		"file_undo"} // which would take back what people changed, HEARTBEAT.md too
	if origin == tools.OriginSubagent {
		closed = append(closed, "send_message", "send_file", "memory_core_update", "memory_core_delete")
	}
	var kept []string
	for _, name := range closed {
		if !slices.Contains(scheduled.Allow, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

//go:embed run.md
var runText string

// runHistory is what the model of a run gets of the past: the task and the answer of
// the last completed runs of the same name.
func (t *turn) runHistory(ctx context.Context) (history []store.Message, err error) {
	var before []store.PastRun
	err = t.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		before, err = tx.Runs().RunsOf(t.job.job, t.job.run.ID, t.settings.Scheduler.History)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the runs before: %w", err)
	}
	for i := len(before) - 1; i >= 0; i-- {
		when := before[i].ScheduledAt.In(t.settings.Zone()).Format("2006-01-02 15:04")
		history = append(history,
			store.Message{Body: llm.Text(llm.RoleUser, fmt.Sprintf("(the run of %s)\n%s", when, before[i].Message))},
			store.Message{Body: llm.Text(llm.RoleAssistant, cmp.Or(before[i].Result, before[i].Note, "(nothing to report)"))})
	}
	return history, nil
}

// runNote is what the model of a run is told below its task.
func (t *turn) runNote() string {
	j, r := t.job.job, t.job.run
	delivery := "What you answer is only written to the log."
	if j.Target.Chat.Channel != "" {
		delivery = "What you answer is delivered to the chat " + j.Target.Chat.String() + "."
	}
	return strings.NewReplacer("{kind}", kindName(j), "{name}", j.Name, "{due}", r.ScheduledAt.In(t.settings.Zone()).Format("2006-01-02 15:04"), "{delivery}", delivery).Replace(strings.TrimSpace(runText))
}
