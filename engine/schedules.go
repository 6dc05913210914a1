package engine

import (
	"context"
	"crypto/rand"
	_ "embed"
	"strings"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
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
	e.runs.slots = model.NewSlots(func() int { return jobsTogether * max(e.settings().MaxConcurrentModelCalls, 1) })
	e.runs.jobs = jobs.New(jobs.Config{
		Store: e.store, Log: e.log, Fire: e.startRun, LookEvery: e.config.LookEvery,
		Rules: func() jobs.Rules {
			s := e.settings().Scheduler
			return jobs.Rules{Threshold: s.MisfireThreshold, Grace: s.MisfireGrace}
		},
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
		for _, to := range e.alertees(store.Job{}, true) {
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
