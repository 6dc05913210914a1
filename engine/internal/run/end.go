package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// ending is how a run ends.
type ending struct {
	state store.RunState
	// report is delivered to the job's target; result is kept with the run.
	report, result string
	// note says why, in the run history.
	note string
	// pause, if not empty, pauses the job and says why.
	pause string
	// alert, if not empty, goes to the owners if owners is set, else to the chat of the
	// job.
	alert  string
	owners bool
	// after are the edits of the run's placeholder.
	after []store.Out
}

// endingOf decides how a run ends after its turn: what is delivered, and whether a
// failure is retried.
func (rs *Runs) endingOf(w *Work, m Made) ending {
	end := ending{state: store.RunStopped, note: goneNote(w.Job)}
	switch m.State {
	case store.TurnDone:
		said := reportOf(m.Text, m.Said)
		end = ending{state: store.RunDone, report: said.text, result: m.Text}
		if said.nothing {
			end.state, end.note = store.RunSilent, said.reason
			rs.Log.Info("silent", "chat", w.Turn.Address.String(), "job", w.Job.ID, "run", w.Run.ID, "turn", w.Turn.ID, "name", w.Job.Name, "reason", said.reason)
		}
		if w.Directed != nil {
			if fault := refusedCall(m.Said); fault != "" {
				end.state, end.note = store.RunFailed, fault
			}
		}
		switch {
		case sentItself(w.Job, m.Said, said.text):
			end.report, end.note = "", "it has sent this itself"
		case rs.saysNoMore(w.Job, w.Run, said.text, m.Said):
			end.report, end.note = "", "the reminder was delivered before the model answered"
		}
	case store.TurnFailed:
		end = rs.failed(w.Job, w.Run, m)
	}
	end.after = m.After
	return end
}

// refusedCall is the first line of a failed tool result in a job without a model, ""
// when it succeeded. The text is delivered anyway.
func refusedCall(said []store.Message) string {
	for _, m := range said {
		for _, b := range m.Body.Blocks {
			if b.Result != nil && b.Result.Failed {
				line, _, _ := strings.Cut(tools.Bare(b.Result.Text), "\n")
				return clip.Runes(line, resultKept)
			}
		}
	}
	return ""
}

// failed decides about a failure. A rejected key or a used-up quota fails the next time
// too and pauses the job; other failures are retried once.
func (rs *Runs) failed(j store.Job, r store.Run, m Made) ending {
	failure, why := m.Failure, m.Why
	switch {
	case errors.Is(failure, lifecycle.ErrDeadline):
		why = rs.say(locale.RunTooLong)
	case errors.Is(failure, turn.ErrNoModel):
		why = rs.say(locale.RunNoModel)
	case m.Unlisted:
		return rs.troubled(j, store.RunFailed, failure.Error())
	}
	if j.Kind == store.JobSpawn { // the chat that started it decides about a retry
		return rs.troubled(j, store.RunFailed, why)
	}
	end := ending{state: store.RunFailed, note: why}
	fail, ok := errors.AsType[*llm.Error](failure)
	access := ok && (fail.Kind == llm.Auth || fail.Kind == llm.Quota)
	_, over := errors.AsType[*model.BudgetError](failure)
	text := locale.RemindFailed
	if !access && !over && !errors.Is(failure, turn.ErrNoModel) && !(ok && fail.Daily) && r.Attempts < maxAttempts {
		end.state, text = store.RunRetry, locale.RemindRetry
	}
	told := rs.reminds(j) && rs.remind(context.Background(), j, r, rs.say(text, j.Message, why))
	task := rs.say(locale.JobTask, taskOf(j))
	switch {
	case end.state == store.RunRetry:
	case j.Cron == "" && j.Kind != store.JobHeartbeat:
		if !told {
			end.alert = rs.say(locale.JobOnceFailed, j.Name, why, task)
		}
	case access:
		end.pause = why
	case j.Failures == 0:
		next := "–"
		if zone := rs.Settings().Zone(); !j.NextRun.IsZero() {
			next = times.DescribeTime(j.NextRun, zone, rs.Settings().Language)
		}
		end.alert = rs.say(locale.JobFailed, j.Name, why, task, next)
	}
	return end
}

// taskShown is how much of a job's task a notice of a failure shows, in characters.
const taskShown = 200

func taskOf(j store.Job) string {
	return clip.Runes(strings.Join(strings.Fields(j.Message), " "), taskShown)
}

// sentItself reports whether the run already sent its report to its own chat with
// send_message.
func sentItself(j store.Job, said []store.Message, text string) bool {
	if text == "" || j.Target.Chat.Channel == "" {
		return false
	}
	for _, m := range said {
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

// end commits the end of a run in one transaction: the run, the job, the outbox rows,
// the note in the history of the target, and the turn if there is one.
func (rs *Runs) end(ctx context.Context, j store.Job, r store.Run, end ending, made *Made) store.Run {
	now := time.Now()
	r.State, r.Note, r.Result, r.RetryAt, r.EndedAt = end.state, clip.Runes(end.note, resultKept), clip.Runes(end.result, resultKept), time.Time{}, now
	if r.StartedAt.IsZero() {
		r.StartedAt = now
	}
	if made == nil && end.state == store.RunDone {
		r.Attempts++
	}
	if end.state == store.RunRetry {
		r.RetryAt, r.EndedAt = now.Add(retryAfter), time.Time{}
	}
	left := rs.leftTurn(ctx, r, made)
	if left.Placeholder == store.PlaceholderShown {
		// Telegram does not delete old messages.
		end.after = outbox.Replacement(left.Address, left.PlaceholderID, rs.Gateway.Render(left.Address.Chat.Channel, "✖ "+clip.Name(j.Name)), schedule.OutKey(r.ID)+"/left")
	}
	outs := rs.leaving(j, r, end)
	if j.Target.Chat.Channel != "" && end.report != "" && len(outs) > len(end.after) {
		r.Delivered = j.Target.Chat.String()
	}
	ended := r
	err := rs.Life.Persist(ctx, gateway.Address{}, func(tx *store.Tx) (err error) {
		if ended, err = rs.storeEnd(tx, j, r, end, left, made); err != nil {
			return err
		}
		return outbox.Add(tx, outs)
	})
	if err != nil {
		rs.Log.Error("run not stored", "run", r.ID, "err", err)
		return r
	}
	r = ended
	lifecycle.CrashPoint("run.committed")
	rs.Log.Info("run ended", "job", j.ID, "run", r.ID, "name", j.Name, "state", string(r.State), "delivered", r.Delivered, "note", r.Note)
	return r
}

// storeEnd stores the end of a run with the tokens of its turn, and returns the run. It
// changes only the database, because it is retried while the disk is full.
func (rs *Runs) storeEnd(tx *store.Tx, j store.Job, r store.Run, end ending, left store.Turn, made *Made) (store.Run, error) {
	now := time.Now()
	if made != nil {
		if err := made.Store(tx); err != nil {
			return r, err
		}
		in, out, cost, err := tx.Runs().Spent(r.Turn)
		if err != nil {
			return r, err
		}
		r.InputTokens, r.OutputTokens, r.Cost = r.InputTokens+in, r.OutputTokens+out, r.Cost+cost
	}
	if left.ID != 0 {
		left.State, left.Note, left.Placeholder, left.EndedAt = store.TurnStopped, r.Note, store.PlaceholderFinal, now
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
	if err := rs.rearm(tx, j.ID, end, now); err != nil {
		return r, err
	}
	if r.Delivered != "" {
		if err := noteDelivery(tx, j, r, j.Target, end.report); err != nil {
			return r, err
		}
	}
	if told := Workplace(j); j.Kind == store.JobSpawn && end.alert != "" && told.Chat.Channel != store.JobChannel {
		return r, noteDelivery(tx, j, r, told, end.alert)
	}
	return r, nil
}

// leftTurn is the interrupted turn of a run that ends without resuming it, zero when
// there is none.
func (rs *Runs) leftTurn(ctx context.Context, r store.Run, made *Made) (left store.Turn) {
	if made != nil || r.Turn <= 0 {
		return left
	}
	err := rs.Store.Read(ctx, func(tx *store.Tx) (err error) {
		left, err = tx.Turns().Turn(r.Turn)
		return err
	})
	if err != nil || left.State != store.TurnRunning {
		return store.Turn{}
	}
	return left
}

// noteEnd stores in a job how its run ended. It reads the job again, which may have
// changed during the run.
func noteEnd(tx *store.Tx, id store.JobID, end ending) error {
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

// leaving are the outbox rows at the end of a run: the report for the target, an alert
// for its chat or the owners.
func (rs *Runs) leaving(j store.Job, r store.Run, end ending) []store.Out {
	outs := end.after
	if j.Target.Chat.Channel != "" && end.report != "" {
		to := j.Target
		outs = append(outs, outbox.Rows(to, rs.Gateway.Render(to.Chat.Channel, end.report), schedule.OutKey(r.ID), 0)...)
	}
	if end.pause != "" {
		end.alert = rs.say(locale.JobPaused, j.Name, end.pause) + "\n" + rs.say(locale.JobTask, taskOf(j))
	}
	if end.alert == "" {
		return outs
	}
	for _, to := range rs.Alertees(j, end.owners) {
		outs = append(outs, outbox.Rows(to, rs.Gateway.Render(to.Chat.Channel, end.alert), schedule.OutKey(r.ID)+"/alert/"+to.String(), 0)...)
	}
	return outs
}

// Alertees are the chats that hear of a failure: the target or the job's own chat, and
// the owners if that chat cannot be reached.
func (rs *Runs) Alertees(j store.Job, owners bool) []gateway.Address {
	place := Workplace(j)
	if !owners && place.Chat.Channel != store.JobChannel && rs.Gateway.Reachable(place.Chat) == nil {
		return []gateway.Address{place}
	}
	var all []gateway.Address
	if owners && j.Home.Chat.Channel != "" && j.Home.Chat != j.Target.Chat && rs.Gateway.Reachable(j.Home.Chat) == nil {
		all = append(all, j.Home)
	}
	for _, h := range rs.Gateway.Health() {
		for _, owner := range rs.Owners(gateway.ChatID{Channel: h.Channel, ID: place.Chat.ID}) {
			if len(all) == 0 || all[0].Chat != owner.Chat {
				all = append(all, owner)
			}
		}
	}
	return all
}

// noteDelivery adds the delivered text to the history of its chat, so that the model
// knows what people answer to. The note says that no user wrote it.
func noteDelivery(tx *store.Tx, j store.Job, r store.Run, to gateway.Address, text string) error {
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

// rearm sets the next time of a heartbeat without a cron: heartbeat.every after the end
// of its run.
func (rs *Runs) rearm(tx *store.Tx, id store.JobID, end ending, now time.Time) error {
	every := rs.Settings().Heartbeat.Every
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

// troubled is the end of a run that cannot be made: its schedule is paused; for a
// subagent, its chat is told.
func (rs *Runs) troubled(j store.Job, state store.RunState, why string) ending {
	if j.Kind != store.JobSpawn {
		return ending{state: state, note: why, pause: why, owners: true}
	}
	text := locale.SpawnFailed
	if state == store.RunLost {
		text = locale.SpawnLost
	}
	return ending{state: state, note: why, alert: rs.say(text, clip.Name(j.Name), why)}
}
