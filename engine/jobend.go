package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// runEnd is how a run ends.
type runEnd struct {
	state store.RunState
	// report is delivered to the job's target; result is kept with the run.
	report, result string
	// note says why, for the ledger.
	note string
	// pause, if not empty, is why the job is paused.
	pause string
	// alert, if not empty, is what people are told; owners says that it is
	// the owners, else the chat of the job.
	alert  string
	owners bool
	// after is what becomes of the run's message of progress.
	after []store.Out
}

// endJob ends the turn of a run: it decides what is delivered, and whether a
// failure is tried again.
func (t *turn) endJob(ctx context.Context, how turnEnd) {
	j, r := t.job.job, t.job.run
	placeholder, shown := t.show.Settle()
	end := runEnd{state: store.RunStopped, note: goneNote(j)}
	switch how.state {
	case store.TurnDone:
		said := reportOf(how.text, t.said)
		end = runEnd{state: store.RunDone, report: said.text, result: how.text}
		if said.silent {
			end.state, end.note = store.RunSilent, said.reason
			t.log.Info("silent", "name", j.Name, "reason", said.reason)
		}
		if fault := t.refusedCall(); fault != "" {
			end.state, end.note = store.RunFailed, fault
		}
		if t.sentItself(said.text) {
			end.report, end.note = "", "it has sent this itself"
		}
	case store.TurnFailed:
		end = t.failed(how.failure)
	}
	t.row.State, t.row.Note, t.row.EndedAt, t.row.Placeholder, t.row.PlaceholderID = how.state, how.note, time.Now(), progress.StateFinal, shown
	if placeholder == progress.StateShown {
		end.after = []store.Out{outbox.Deletion(t.row.Address, t.row.ID, shown)}
	}
	t.job.run = t.e.endRun(context.WithoutCancel(ctx), j, r, end, t)
}

// refusedCall is the first line of what the tool of a job without a model said
// when it failed, "" when it did not. Its text is delivered all the same.
func (t *turn) refusedCall() string {
	if t.directed == nil {
		return ""
	}
	for _, m := range t.said {
		for _, b := range m.Body.Blocks {
			if b.Result != nil && b.Result.Failed {
				line, _, _ := strings.Cut(tools.Bare(b.Result.Text), "\n")
				return clip.Runes(line, resultKept)
			}
		}
	}
	return ""
}

// failed decides about a failure: what is wrong with the key or the quota is
// wrong the next time too and pauses the job; other failures are tried once more.
func (t *turn) failed(failure error) runEnd {
	j := t.job.job
	why := t.sorry(failure)
	switch {
	case errors.Is(failure, errDeadline):
		why = locale.Say(t.settings.Language, locale.RunTooLong)
	case errors.Is(failure, errNoModel):
		why = locale.Say(t.settings.Language, locale.RunNoModel)
	case errors.Is(failure, errUnlisted):
		return t.e.troubled(j, store.RunFailed, failure.Error())
	}
	if j.Kind == store.JobSpawn { // whoever started it decides whether to try again
		return t.e.troubled(j, store.RunFailed, why)
	}
	end := runEnd{state: store.RunFailed, note: why}
	if fail, ok := errors.AsType[*llm.Error](failure); ok && (fail.Kind == llm.Auth || fail.Kind == llm.Quota) {
		end.pause = why
		return end
	}
	if _, over := errors.AsType[*model.BudgetError](failure); !over && !errors.Is(failure, errNoModel) && t.job.run.Attempts < maxAttempts {
		end.state = store.RunRetry
		return end
	}
	if j.Failures == 0 {
		end.alert = locale.Say(t.settings.Language, locale.JobFailed, j.Name, why)
	}
	return end
}

// sentItself reports whether the run has sent its report to its own chat already,
// with send_message.
func (t *turn) sentItself(text string) bool {
	j := t.job.job
	if text == "" || j.Target.Chat.Channel == "" {
		return false
	}
	for _, m := range t.said {
		for _, c := range m.Body.Calls() {
			var sent struct{ ChatID, Text string }
			if c.Name != "send_message" || json.Unmarshal([]byte(c.Arguments), &sent) != nil || sent.Text != text {
				continue
			}
			if to := j.Target.Chat; sent.ChatID == to.String() || sent.ChatID == strconv.FormatInt(to.ID, 10) {
				return true
			}
		}
	}
	return false
}

// endRun commits the end of a run in one transaction: the run, the job, what
// leaves, and the note of it in the history of the chat that gets it. With a turn
// also that turn and its messages.
func (e *Engine) endRun(ctx context.Context, j store.Job, r store.Run, end runEnd, turns ...*turn) store.Run {
	now := time.Now()
	r.State, r.Note, r.Result, r.RetryAt, r.EndedAt = end.state, clip.Runes(end.note, resultKept), clip.Runes(end.result, resultKept), time.Time{}, now
	if r.StartedAt.IsZero() {
		r.StartedAt = now
	}
	if len(turns) == 0 && end.state == store.RunDone {
		r.Attempts++
	}
	if end.state == store.RunRetry {
		r.RetryAt, r.EndedAt = now.Add(retryAfter), time.Time{}
	}
	left := e.leftTurn(ctx, r, turns)
	if left.Placeholder == progress.StateShown {
		// It may be too old to be deleted.
		end.after = outbox.Replacement(left.Address, left.PlaceholderID, e.gateway.Render(left.Address.Chat.Channel, "✖ "+clip.Name(j.Name)), r.ID.OutKey()+"/left")
	}
	outs := e.reportOuts(j, r, end)
	if j.Target.Chat.Channel != "" && end.report != "" && len(outs) > len(end.after) {
		r.Delivered = j.Target.Chat.String()
	}
	ended := r
	err := e.life.Persist(ctx, gateway.Address{}, func(tx *store.Tx) (err error) {
		if ended, err = e.storeRunEnd(tx, j, r, end, left, turns); err != nil {
			return err
		}
		if err := outbox.Add(tx, outs); err != nil {
			return err
		}
		return e.memory.Index(tx)
	})
	if err != nil {
		e.log.Error("run not stored", "run", r.ID, "err", err)
		return r
	}
	r = ended
	lifecycle.CrashPoint("run.committed")
	e.log.Info("run ended", "job", j.ID, "run", r.ID, "name", j.Name, "state", string(r.State), "delivered", r.Delivered, "note", r.Note)
	return r
}

// storeRunEnd writes down that a run has ended, with what its turns have taken,
// and returns it so. It changes nothing but the database, because a disk that is
// full has it run several times.
func (e *Engine) storeRunEnd(tx *store.Tx, j store.Job, r store.Run, end runEnd, left store.Turn, turns []*turn) (store.Run, error) {
	now := time.Now()
	for _, t := range turns {
		if err := t.storeEnd(tx); err != nil {
			return r, err
		}
		in, out, cost, err := tx.Runs().Spent(t.row.ID)
		if err != nil {
			return r, err
		}
		r.InputTokens, r.OutputTokens, r.Cost = r.InputTokens+in, r.OutputTokens+out, r.Cost+cost
	}
	if left.ID != 0 {
		left.State, left.Note, left.Placeholder, left.EndedAt = store.TurnStopped, r.Note, progress.StateFinal, now
		if err := tx.Turns().EndTurn(left); err != nil {
			return r, err
		}
	}
	if err := tx.Runs().UpdateRun(r); err != nil {
		return r, err
	}
	if err := noteEnd(tx, j.ID, end); err != nil {
		return r, err
	}
	if err := e.rearm(tx, j.ID, end, now); err != nil {
		return r, err
	}
	if r.Delivered != "" {
		if err := e.noteDelivery(tx, j, r, j.Target, end.report); err != nil {
			return r, err
		}
	}
	if told := workplace(j); j.Kind == store.JobSpawn && end.alert != "" && told.Chat.Channel != store.JobChannel {
		return r, e.noteDelivery(tx, j, r, told, end.alert)
	}
	return r, nil
}

// leftTurn is the turn of a run that ends without having gone on with it, zero
// when there is none.
func (e *Engine) leftTurn(ctx context.Context, r store.Run, turns []*turn) (left store.Turn) {
	if len(turns) > 0 || r.Turn <= 0 {
		return left
	}
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		left, err = tx.Turns().Turn(r.Turn)
		return err
	})
	if err != nil || left.State != store.TurnRunning {
		return store.Turn{}
	}
	return left
}

// noteEnd notes in a job how its run ended. The job may have changed meanwhile.
func noteEnd(tx *store.Tx, id store.JobID, end runEnd) error {
	j, err := tx.Jobs().Job(id)
	if err != nil {
		return err
	}
	before := j
	switch end.state {
	case store.RunDone, store.RunSilent:
		j.Failures = 0
	case store.RunFailed:
		j.Failures++
	}
	if end.pause != "" && j.State == store.JobOn {
		j.State, j.Note = store.JobPaused, clip.Runes(end.pause, resultKept)
	}
	if j == before {
		return nil
	}
	return tx.Jobs().UpdateJob(j)
}

// reportOuts are the rows of what leaves at the end of a run: the report for the
// target, an alert for its chat or the owners.
func (e *Engine) reportOuts(j store.Job, r store.Run, end runEnd) []store.Out {
	outs := end.after
	if j.Target.Chat.Channel != "" && end.report != "" {
		to := j.Target
		outs = append(outs, outbox.Rows(to, e.gateway.Render(to.Chat.Channel, end.report), r.ID.OutKey(), 0)...)
	}
	if end.pause != "" {
		end.alert = e.say(locale.JobPaused, j.Name, end.pause)
	}
	if end.alert == "" {
		return outs
	}
	for _, to := range e.alertees(j, end.owners) {
		outs = append(outs, outbox.Rows(to, e.gateway.Render(to.Chat.Channel, end.alert), r.ID.OutKey()+"/alert/"+to.String(), 0)...)
	}
	return outs
}

// alertees are the chats that hear of trouble with a job: the one that it reports
// to, or that it belongs to, and the owners when that is out of reach.
func (e *Engine) alertees(j store.Job, owners bool) []gateway.Address {
	place := workplace(j)
	if !owners && place.Chat.Channel != store.JobChannel && e.gateway.Reachable(place.Chat) == nil {
		return []gateway.Address{place}
	}
	var all []gateway.Address
	if owners && j.Home.Chat.Channel != "" && !sameChat(j.Home, j.Target) && e.gateway.Reachable(j.Home.Chat) == nil {
		all = append(all, j.Home)
	}
	for _, h := range e.gateway.Health() {
		for _, owner := range e.ownersBeside(gateway.ChatID{Channel: h.Channel, ID: place.Chat.ID}) {
			if len(all) == 0 || all[0].Chat != owner.Chat {
				all = append(all, owner)
			}
		}
	}
	return all
}

// noteDelivery puts a note of what a run delivers into the history of the chat
// that gets it, so that the model knows what people there answer to. It is marked
// as what it is: nobody said it.
func (e *Engine) noteDelivery(tx *store.Tx, j store.Job, r store.Run, to gateway.Address, text string) error {
	home, err := tx.Chats().Home(to)
	if err != nil {
		return err
	}
	session, err := tx.Sessions().Session(home)
	if err != nil {
		return err
	}
	_, err = tx.Sessions().AddMessage(store.Message{
		Session: session.ID, Turn: r.Turn, SenderName: kindName(j) + " " + j.Name, At: r.EndedAt,
		Body: llm.Text(llm.RoleUser, fmt.Sprintf("[note, not written by anybody: the %s %q delivered this here]\n%s", kindName(j), j.Name, text)),
	})
	return err
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

// troubled is how a run ends that cannot be made: its schedule is paused, and a
// subagent is told of.
func (e *Engine) troubled(j store.Job, state store.RunState, why string) runEnd {
	if j.Kind != store.JobSpawn {
		return runEnd{state: state, note: why, pause: why, owners: true}
	}
	text := locale.SpawnFailed
	if state == store.RunLost {
		text = locale.SpawnLost
	}
	return runEnd{state: state, note: why, alert: e.say(text, clip.Name(j.Name), why)}
}

// deadline ends a run that takes too long. The time of people does not count.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer   // guarded by mu
	left  time.Duration // guarded by mu
	since time.Time     // guarded by mu
	ended func()
}

func startDeadline(limit time.Duration, ended func()) *deadline {
	if limit <= 0 {
		limit = runTimeout
	}
	d := &deadline{left: limit, ended: ended}
	d.goOn()
	return d
}

// stop stops the clock.
func (d *deadline) stop() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && d.timer.Stop() {
		d.left -= time.Since(d.since)
		d.timer = nil
	}
}

// goOn lets the clock go on.
func (d *deadline) goOn() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = time.Now()
	d.timer = time.AfterFunc(max(d.left, time.Second), d.ended)
}
