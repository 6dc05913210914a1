package run

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// Work is a run as a turn gets it.
type Work struct {
	Job store.Job
	Run store.Run
	// Turn makes it. Answers and Calls are the turn's journal when it was interrupted
	// before.
	Turn    store.Turn
	Answers []llm.Message
	Calls   map[string]store.Call
	// Owned: an owner created the job. Directed is the call of a job that needs no
	// model, nil for other jobs.
	Owned    bool
	Directed *llm.ToolCall
	// Most is how many tokens the run may use with its subagents, Left how many the
	// heartbeat may use today. 0 is unlimited.
	Most, Left int
	// Asking is told when the model is asked, when it sends something, and when it has
	// answered.
	Asking func(bool)
	// Pause stops the clock of the run while it waits for people; resume restarts it.
	Pause func() (resume func())
}

// Made is the result of a run's turn.
type Made struct {
	// Parked: the turn resumes at the next start. Then the rest is empty.
	Parked bool
	State  store.TurnState
	// Text is the last answer, Said all that the turn has said.
	Text string
	Said []store.Message
	// Failure is set when the state is TurnFailed, and Why says it to people.
	// Unlisted: the allow list no longer lets the job run.
	Failure  error
	Why      string
	Unlisted bool
	// After are the edits of the turn's placeholder.
	After []store.Out
	// Store stores the turn in the transaction that ends the run.
	Store func(*store.Tx) error
}

// begin starts the turn of a run, or resumes an interrupted one.
func (rs *Runs) begin(ctx context.Context, j store.Job, r store.Run) (*Work, error) {
	fresh := store.Turn{
		Address: Workplace(j), Origin: string(originOf(j)), State: store.TurnRunning, Placeholder: store.PlaceholderNone, Model: j.Model, StartedAt: time.Now(),
	}
	var w Work
	err := rs.Life.Persist(ctx, gateway.Address{}, func(tx *store.Tx) (err error) {
		w, err = storeBegin(tx, r, fresh)
		return err
	})
	if err != nil {
		return nil, err
	}
	lifecycle.CrashPoint("run.started")
	w.Job, w.Owned, w.Directed = j, rs.owned(j), rs.direct(j)
	rs.Log.Info("run begins", "chat", w.Turn.Address.String(), "job", j.ID, "run", r.ID, "name", j.Name, "attempt", w.Run.Attempts, "resumed", w.Calls != nil)
	return &w, nil
}

// storeBegin gives a run a new turn, or the one that it has. It changes only the
// database, because it is retried while the disk is full.
func storeBegin(tx *store.Tx, r store.Run, fresh store.Turn) (w Work, err error) {
	if err := stillWanted(tx, r.ID); err != nil {
		return w, err
	}
	w = Work{Run: r, Turn: fresh}
	if r.State == store.RunRunning && r.Turn != 0 {
		known, err := tx.Turns().Turn(r.Turn)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return w, err
		}
		if err == nil && known.State == store.TurnRunning {
			w.Turn = known
			if known.Placeholder == store.PlaceholderSending {
				w.Turn.Placeholder = store.PlaceholderForgotten
			}
			if w.Answers, err = tx.Turns().Answers(known.ID); err == nil {
				w.Calls, err = tx.Turns().Calls(known.ID)
			}
			return w, err
		}
	}
	session, err := tx.Sessions().Session(gateway.Address{Chat: gateway.ChatID{Channel: store.JobChannel, ID: int64(r.Job)}})
	if err != nil {
		return w, err
	}
	w.Turn.Session = session.ID
	if w.Turn.ID, err = tx.Turns().AddTurn(w.Turn); err != nil {
		return w, err
	}
	w.Run.State, w.Run.Turn, w.Run.StartedAt = store.RunRunning, w.Turn.ID, w.Turn.StartedAt
	w.Run.Attempts++
	return w, tx.Runs().UpdateRun(w.Run)
}

// stillWanted is lifecycle.ErrJobGone when the run was stopped or its job removed while
// it waited.
func stillWanted(tx *store.Tx, id store.RunID) error {
	r, err := tx.Runs().Run(id)
	if err != nil {
		return err
	}
	j, err := tx.Jobs().Job(r.Job)
	if err == nil && (!r.Open() || j.State == store.JobRemoved) {
		err = lifecycle.ErrJobGone
	}
	return err
}

//go:embed run.md
var runNote string

// Before are the tasks and results of the last completed runs of the same name, as
// history for the model.
func (w *Work) Before(ctx context.Context, st *store.Store, s settings.Settings) (history []store.Message, err error) {
	var before []store.PastRun
	err = st.Read(ctx, func(tx *store.Tx) (err error) {
		before, err = tx.Runs().RunsOf(w.Job, w.Run.ID, s.Scheduler.History)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the runs before: %w", err)
	}
	for i := len(before) - 1; i >= 0; i-- {
		when := before[i].ScheduledAt.In(s.Zone()).Format("2006-01-02 15:04")
		history = append(history,
			store.Message{Body: llm.Text(llm.RoleUser, fmt.Sprintf("(the run of %s)\n%s", when, before[i].Message))},
			store.Message{Body: llm.Text(llm.RoleAssistant, cmp.Or(before[i].Result, before[i].Note, "(nothing to report)"))})
	}
	return history, nil
}

// Note tells the model what a run is and where its answer goes.
func (w *Work) Note(zone *time.Location) string {
	delivery := "What you answer is only written to the log."
	if w.Job.Target.Chat.Channel != "" {
		delivery = "What you answer is delivered to the chat " + w.Job.Target.Chat.String() + "."
	}
	return strings.NewReplacer("{kind}", kindName(w.Job), "{name}", w.Job.Name, "{due}", w.Run.ScheduledAt.In(zone).Format("2006-01-02 15:04"), "{delivery}", delivery).
		Replace(strings.TrimSpace(runNote))
}
