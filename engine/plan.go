package engine

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/run"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/job"
)

// HeartbeatFile is the file of the workspace that says what the bot looks after
// by itself.
const HeartbeatFile = workspace.HeartbeatFile

// plans is what is planned, also by the heartbeat, and what runs it.
type plans struct {
	schedules *schedule.Editor
	heartbeat *schedule.Heartbeat
	runs      *run.Runs
}

// plan builds what keeps and fires the jobs.
func (e *Engine) plan(models *model.Client, files *workspace.Workspace) {
	e.plans.runs = run.New(run.Config{
		Store: e.store, Life: e.life, Gateway: e.gateway, Settings: e.settings, LookEvery: e.config.LookEvery, Log: e.log,
		Turn: e.makeRun, Owners: e.chats.owners,
	})
	e.plans.schedules = schedule.New(schedule.Config{
		Open:    func() (*store.Store, error) { return e.store, nil },
		Gateway: e.gateway, Settings: e.settings,
		ToCron: func(ctx context.Context, c tools.Call, words string) (string, error) {
			return toCron(ctx, models, e.settings(), c, words)
		},
	})
	e.plans.heartbeat = schedule.NewHeartbeat(schedule.HeartbeatConfig{
		Editor: e.plans.schedules, Workspace: files, Every: e.config.LookEvery, Unstored: e.life.LogUnstored, Log: e.log,
	})
}

// watchHeartbeat plans what HEARTBEAT.md asks for, and tells people what is wrong with
// it.
func (e *Engine) watchHeartbeat(ctx context.Context) {
	e.plans.heartbeat.Watch(ctx, func(faults string) {
		for _, to := range e.plans.runs.Alertees(store.Job{}, true) {
			e.outbox.Post(ctx, to, "heartbeat/"+rand.Text(), e.say(locale.HeartbeatFaults, locale.CodeBlock(faults)))
		}
	})
}

//go:embed cron.md
var cronPrompt string

// cronAnswer is how long the answer to cronPrompt may be, in tokens. Models that
// think need some.
const cronAnswer = 1000

// toCron asks the small model for the cron expression that words mean. The caller
// checks the answer.
func toCron(ctx context.Context, models *model.Client, s settings.Settings, c tools.Call, words string) (string, error) {
	m, ok := model.Small(s)
	if !ok {
		return "", schedule.ErrNoModel
	}
	answer, err := models.AskFor(ctx, c, m, llm.Request{
		Model: m.Model.Name, System: strings.TrimSpace(cronPrompt), Messages: []llm.Message{llm.Text(llm.RoleUser, clip.Runes(words, maxCronWords))},
		MaxTokens: cronAnswer, Window: m.Model.ContextBudget, NoTools: true,
	})
	return strings.Trim(strings.TrimSpace(answer), "`"), err
}

// maxCronWords bounds the words that a model reads as a cron.
const maxCronWords = 300

// Schedules are the schedules of a running bot, for commands.
func (e *Engine) Schedules() job.Schedules { return e.plans.schedules }

// Subagents are the subagents of a running bot, for commands.
func (e *Engine) Subagents() job.Subagents { return e.plans.schedules }

// makeRun makes the turn of a run.
func (e *Engine) makeRun(ctx context.Context, w *run.Work) run.Made {
	j, s := w.Job, e.settings()
	made := run.Made{Parked: true}
	e.runTurn(ctx, turn.Request{
		Row: w.Turn, Answers: w.Answers, Calls: w.Calls, Directed: w.Directed, Command: "tool",
		Asked: []store.Message{{Body: llm.Text(llm.RoleUser, j.Message), Sender: j.Creator, At: w.Turn.StartedAt}},
		User:  j.Creator, Owned: w.Owned, Heard: j.Origin == schedule.OriginOutside, Others: j.Origin == schedule.OriginOthers,
		Allowed: func() error {
			if why := e.plans.runs.Barred(j); why != "" {
				return errors.New(why)
			}
			if e.chats.Muted(w.Turn.Address) {
				return errors.New("the bot may not write in " + w.Turn.Address.String())
			}
			return nil
		},
		Log: e.log.With("chat", w.Turn.Address.String(), "job", j.ID, "run", w.Run.ID, "turn", w.Turn.ID),
		Job: &turn.Job{
			Job: j, Workplace: run.Workplace(j), Within: w.Within, Note: w.Note(s.Zone()), Most: w.Most, Left: w.Left, Pause: w.Pause, Asking: w.Asking,
			History: func(ctx context.Context) ([]store.Message, error) { return w.Before(ctx, e.store, s) },
		},
	}, func(r turn.Result) { made = madeOf(r) })
	return made
}

// madeOf is what a turn has made of its run, which the run commits.
func madeOf(r turn.Result) run.Made {
	made := run.Made{State: r.Row.State, Text: r.Text, Said: r.Said, Failure: r.Failure, Why: r.Why, Unlisted: r.Unlisted, Store: r.Store}
	if r.Placeholder == store.PlaceholderShown {
		made.After = []store.Out{outbox.Deletion(r.Row.Address, r.Row.ID, r.Row.PlaceholderID)}
	}
	return made
}
