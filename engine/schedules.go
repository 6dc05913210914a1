package engine

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/run"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/job"
)

// HeartbeatFile is the file of the workspace that says what the bot looks after
// by itself.
const HeartbeatFile = workspace.HeartbeatFile

// plan builds what keeps and fires the jobs.
func (e *Engine) plan() {
	e.runs = run.New(run.Config{
		Store: e.store, Life: e.life, Gateway: e.gateway, Settings: e.settings, LookEvery: e.config.LookEvery, Log: e.log,
		Turn: e.makeRun, Owners: e.ownersBeside,
		Index: func(tx *store.Tx) error { return e.memory.Index(tx) },
	})
	e.schedules = schedule.New(schedule.Config{
		Open:    func() (*store.Store, error) { return e.store, nil },
		Gateway: e.gateway, Settings: e.settings, ToCron: e.toCron,
	})
	e.heartbeat = schedule.NewHeartbeat(schedule.HeartbeatConfig{
		Editor: e.schedules, Workspace: e.workspace, Every: e.config.LookEvery, Unstored: e.life.LogUnstored, Log: e.log,
	})
}

// watchHeartbeat plans what HEARTBEAT.md asks for, and tells people what is wrong with
// it.
func (e *Engine) watchHeartbeat(ctx context.Context) error {
	e.heartbeat.Watch(ctx, func(faults string) {
		for _, to := range e.runs.Alertees(store.Job{}, true) {
			e.outbox.Post(ctx, to, "heartbeat/"+rand.Text(), e.say(locale.HeartbeatFaults, locale.CodeBlock(faults)))
		}
	})
	return nil
}

//go:embed cron.md
var cronPrompt string

// cronAnswer is how long the answer to cronPrompt may be, in tokens. Models that
// think need some.
const cronAnswer = 1000

// toCron asks the small model for the cron expression that words mean. Whoever
// gets the answer checks it.
func (e *Engine) toCron(ctx context.Context, c tools.Call, words string) (string, error) {
	m, ok := model.Small(e.settings())
	if !ok {
		return "", schedule.ErrNoModel
	}
	answer, err := e.models.AskFor(ctx, c, m, llm.Request{
		Model: m.Model.Name, System: strings.TrimSpace(cronPrompt), Messages: []llm.Message{llm.Text(llm.RoleUser, clip.Runes(words, maxCronWords))},
		MaxTokens: cronAnswer, Window: m.Model.ContextBudget, NoTools: true,
	})
	return strings.Trim(strings.TrimSpace(answer), "`"), err
}

// maxCronWords bounds the words that a model reads as a cron.
const maxCronWords = 300

// Schedules are the same of a running bot.
func (e *Engine) Schedules() job.Schedules { return e.schedules }

// Subagents are the tools' own view of the subagents.
func (e *Engine) Subagents() job.Subagents { return e.schedules }

// makeRun makes the turn of a run.
func (e *Engine) makeRun(ctx context.Context, w *run.Work) run.Made {
	j := w.Job
	t := e.newTurn(ctx, w.Turn, nil)
	t.job, t.user, t.owned = w, j.Creator, w.Owned
	t.others, t.heard = j.Origin == schedule.OriginOthers, j.Origin == schedule.OriginOutside
	t.asked = []store.Message{{Body: llm.Text(llm.RoleUser, j.Message), Sender: j.Creator, At: w.Turn.StartedAt}}
	t.directed, t.command = w.Directed, "tool"
	t.answers, t.calls = w.Answers, w.Calls
	t.log = t.log.With("job", j.ID, "run", w.Run.ID)
	made := run.Made{Parked: true}
	t.run(ctx, func(_ context.Context, how turnEnd) { made = t.madeOf(how) })
	return made
}

// madeOf is what the turn has made of its run, which the run commits.
func (t *turn) madeOf(how turnEnd) run.Made {
	made := run.Made{
		State: how.state, Text: how.text, Said: t.said, Failure: how.failure, Unlisted: errors.Is(how.failure, errUnlisted), Store: t.storeEnd,
	}
	if how.failure != nil {
		made.Why = t.sorry(how.failure)
	}
	placeholder, shown := t.show.Settle()
	t.row.State, t.row.Note, t.row.EndedAt, t.row.Placeholder, t.row.PlaceholderID = how.state, how.note, time.Now(), store.PlaceholderFinal, shown
	if placeholder == store.PlaceholderShown {
		made.After = []store.Out{outbox.Deletion(t.row.Address, t.row.ID, shown)}
	}
	return made
}
