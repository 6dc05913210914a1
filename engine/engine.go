// Package engine answers messages: it stores what comes in, runs one turn at a
// time per chat, and delivers what goes out.
//
// A message is stored before Accept returns (inbox). A chat queue per chat and topic
// runs turns in order. Every model answer and every tool call is journaled
// before it is acted on, and the answer leaves from an outbox that is committed
// together with the turn. A kill at any point loses nothing, repeats no side
// effect and shows one final answer. The engine knows no messenger: everything
// leaves through the gateway, which checks the allow list again. Package progress
// describes what a chat shows while its turn lasts. The crash points of the kill
// tests name the steps.
package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"klawbot/engine/health"
	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/backup"
	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/eyes"
	"klawbot/engine/internal/learn"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/metrics"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/prompt"
	"klawbot/engine/internal/readers"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/run"
	"klawbot/engine/internal/sentfiles"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/stranger"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/turn"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/wait"
	"klawbot/tools/guide"
	"klawbot/tools/mcp"
)

// Base is a bot without its engine. It is the configuration of data.Open, too.
type Base = toolset.Config

// Config is what New needs.
type Config struct {
	Base
	// Background returns the ids and the commands of what the tool shell runs in the
	// background of a chat, for /stop. Nil: nothing runs there.
	Background func(chat string) (ids, commands []string)
	// Examine looks at the parts around the engine, for /doctor; nil looks at
	// none. It may take its time and ends with its context.
	Examine func(context.Context) []health.Finding
	// AskAbout says whether unknown senders are kept and the owners asked about them; nil
	// is no. Allow puts a chat on the allow list, at once and for good.
	AskAbout func() bool
	Allow    func(gateway.ChatID) error
	Standby  func() health.Standby // nil without a second host
	// Learn downloads the speech model; nil: owners are not offered it.
	Learn func(context.Context) error
	// Around is what the web page needs of what lies around the engine.
	Around Around
	// Grace is how long running turns may take to finish when Run ends; then
	// they are parked. 0 means 6 s.
	Grace time.Duration
}

// Engine answers messages.
type Engine struct {
	config    Config
	gateway   *gateway.Gateway
	settings  func() settings.Settings
	log       *slog.Logger
	store     *store.Store
	life      *lifecycle.Lifecycle
	queues    *chatqueue.Queues
	gates     gates
	outbox    *outbox.Outbox
	questions *approval.Questions
	chats     *chats
	buttons   *buttons
	commands  *command.Commands
	set       *toolset.Set
	memory    *recall.Memory
	turns     *turn.Turns
	media     *media.Media
	plans     plans
	backups   *backup.Backups
	report    *report
}

var (
	_ gateway.Handler    = (*Engine)(nil)
	_ gateway.Doorkeeper = (*Engine)(nil)
)

// New opens the data directory and returns an Engine that accepts messages. They
// are answered while Run runs. Close it after Run returned.
func New(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{config: c, gateway: c.Gateway, settings: c.Settings, log: c.Log, gates: gates{open: map[gate]store.InboxID{}}}
	database := c.Store()
	database.Committed = e.committed
	st, beside, err := archive.Open(ctx, database, false)
	if err != nil {
		return nil, err
	}
	meters := metrics.New()
	e.store = st
	e.life = lifecycle.New(lifecycle.Config{Store: st, Gateway: c.Gateway, Unstored: func() string { return e.say(locale.Unstored) }, Log: c.Log})
	e.queues = chatqueue.New(chatqueue.Config{Life: e.life, Settings: c.Settings, Answer: e.answer, Resume: e.resumeTurn, Log: c.Log})
	e.chats = &chats{store: st, life: e.life, gateway: c.Gateway, settings: c.Settings, queues: e.queues, log: c.Log}
	e.outbox = outbox.New(outbox.Config{
		Store: st, Gateway: c.Gateway, Life: e.life, Files: sentfiles.In(c.Dir), Chats: e.chats, Attempted: func(o store.Out) {
			meters.Delivery(o)
			if o.State == store.OutboxSent && o.Edit == 0 {
				e.chats.muted.lift(o.Address, false)
			}
		},
		Settled:       func(tx *store.Tx, o store.Out) (func(), error) { return e.questions.Settled(tx, o) },
		HoldAmbiguous: func() bool { return c.Settings().HoldAmbiguous }, Say: e.say, Owner: func(c gateway.ChatID) bool {
			return c.Local() || slices.Contains(e.config.Settings().Owners[c.Channel], c.ID)
		}, Speak: toolset.Mouth(c.Base).Say, Log: c.Log,
	})
	e.questions = approval.New(approval.Config{
		Store: st, Gateway: c.Gateway, Life: e.life, Outbox: e.outbox, Redact: c.Redact, Settings: c.Settings, Log: c.Log,
	})
	e.backups = backup.New(backup.Config{
		Dir: c.Dir, Archive: beside, Store: st, Gateway: c.Gateway, Life: e.life, Outbox: e.outbox, Settings: c.Settings,
		Owners: func() []gateway.Address { return e.chats.owners(gateway.ChatID{}) },
		AtWork: func() int { running, waiting := e.queues.Count(); return running + waiting }, Log: c.Log,
	})
	kept := media.In(c.Dir, c.Workspace, c.Log)
	e.media = media.New(media.Config{
		Store: st, Life: e.life, Gateway: c.Gateway, Settings: c.Settings, Sees: func(ctx context.Context, chat string) bool { return e.report.sees(ctx, chat) }, Files: kept, Readers: readers.New(readers.Config{Settings: c.Settings, Assets: c.Assets, HTTP: c.HTTP, Log: c.Log}), Log: c.Log,
	})
	models := model.New(model.Config{Store: st, HTTP: c.HTTP, Settings: c.Settings, Redact: c.Redact, Dir: c.Dir, Log: c.Log, Measure: meters.Measure, Open: kept.Open})
	files := workspace.Open(c.Workspace, c.Log)
	e.plan(models, files)
	e.report = &report{config: c.Base, standby: c.Standby, started: time.Now(), store: st, queues: e.queues, chats: e.chats, backups: e.backups, meters: meters, models: models, disk: health.NewDiskUse(c.Dir, c.Workspace)}
	seen := eyes.New(eyes.Config{Store: st, Files: kept, Models: models, Settings: c.Settings, Model: e.report.modelIn, Read: e.media.Readers.Text, Log: c.Log})
	set, err := toolset.New(ctx, c.Base, toolset.Hooks{
		Open: func() (*store.Store, error) { return st, nil }, Schedules: e.plans.schedules,
		Model: e.report.modelIn, Stats: e.report.entries, Extract: models.Extract, Look: seen.Look,
		ToolsChanged: func(server string, now []mcp.Definition) { e.chats.toolsChanged(ctx, server, now) },
		SignInWanted: func(server string) { e.chats.signInWanted(ctx, server) },
	})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	e.set, e.memory = set, set.Memory
	for _, name := range set.UnknownTools(c.Settings()) {
		c.Log.Warn("the policy names an unknown tool", "tool", name)
	}
	e.report.set, e.report.memory = set, set.Memory
	e.chats.outbox, e.chats.questions, e.chats.memory = e.outbox, e.questions, set.Memory
	strangers := stranger.New(stranger.Config{
		Store: st, Gateway: c.Gateway, Settings: c.Settings, Owners: func() []gateway.Address { return e.chats.owners(gateway.ChatID{}) },
		Ask: c.AskAbout, Allow: c.Allow, Log: c.Log,
	})
	ears := learn.New(learn.Config{Life: e.life, Gateway: c.Gateway, Settings: c.Settings, Download: c.Learn, Again: e.dispatch, Log: c.Log})
	e.buttons = &buttons{strangers: strangers, ears: ears, life: e.life, gateway: c.Gateway, settings: c.Settings, questions: e.questions, schedules: e.plans.schedules, log: c.Log}
	shows := progress.Shows{Store: st, Gateway: c.Gateway, Alone: e.outbox.Alone, Lose: e.chats.Lose, Mute: e.chats.Mute, Redact: c.Redact}
	prompts := prompt.New(prompt.Config{
		Store: st, Life: e.life, Models: models, Settings: c.Settings, Workspace: files, Skills: set.Skills,
		Memory: e.memory, Redact: c.Redact, Gateway: c.Gateway, Log: c.Log,
		LoadsSkill: func(name string) bool {
			t, _, ok := set.Executor.Registry().Find(name)
			return ok && t.Spec().Name == guide.LoadTool
		},
	})
	e.report.prompts = prompts
	e.turns = turn.New(turn.Config{
		Store: st, Life: e.life, Gateway: c.Gateway, Settings: c.Settings, Models: models, Prompts: prompts, Shows: shows,
		Questions: e.questions, Outbox: e.outbox, Executor: set.Executor, Redact: c.Redact, Pictures: seen,
	})
	e.commands = e.newCommands(files)
	return e, nil
}

// The end of Run: how long running turns may take to finish, and how long what
// they said may take to leave.
const (
	turnGrace  = 6 * time.Second
	sendGrace  = time.Second
	pollOthers = 500 * time.Millisecond
	pruneEvery = time.Hour
	// inboxKept must be longer than the 24 hours for which a messenger may
	// deliver an update again, and not much longer: update ids can restart.
	inboxKept  = 48 * time.Hour
	outboxKept = 7 * 24 * time.Hour
	// approvalsKept is how long it is known who allowed what.
	approvalsKept = 90 * 24 * time.Hour
	// changesKept is how long a change of a file or a memory can be undone.
	changesKept = 30 * 24 * time.Hour
	// strangersKept is how long unknown senders are remembered.
	strangersKept = 30 * 24 * time.Hour
	// webKept is how long the chat of the web page is shown.
	webKept = 366 * 24 * time.Hour
	// usageKept is how long single model calls are kept.
	usageKept = 90 * 24 * time.Hour
)

// Run answers messages and delivers replies until ctx ends. Then it lets
// running turns finish for some seconds and parks the others; they are resumed
// at the next start.
func (e *Engine) Run(ctx context.Context) error {
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	parking, park := context.WithCancelCause(context.WithoutCancel(ctx))
	defer park(nil)
	e.memory.ImportUser() // before the first turn, which is to know it
	e.queues.Begin(ctx, parking)
	if err := e.questions.CloseForms(sending); err != nil { // not ctx: an early stop is no failure
		return err
	}
	if err := e.outbox.Run(sending); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, h := range e.gateway.Health() {
		for _, g := range []gate{{h.Channel, false}, {h.Channel, true}} {
			group.Go(func() error { return e.replay(ctx, g) })
		}
	}
	for _, work := range []func(context.Context){
		e.keepHouse, e.watchOthers, e.backups.Run, e.watchHeartbeat, e.set.Servers.Run,
		func(ctx context.Context) { e.memory.Run(ctx, e.store) },
	} {
		group.Go(func() error { work(ctx); return nil })
	}
	group.Go(func() error { return e.plans.runs.Run(ctx) })
	e.set.Executor.Registry() // what is left out is logged now, not with the first turn
	err := group.Wait()

	e.life.Close()
	if !within(cmp.Or(e.config.Grace, turnGrace), e.life.Wait) {
		park(lifecycle.ErrParked)
		within(sendGrace, e.life.Wait)
	}
	e.outbox.Close()
	within(sendGrace, e.outbox.Wait)
	stopSending()
	within(sendGrace, e.outbox.Wait)
	return errors.Join(err, e.backups.WriteLog(context.WithoutCancel(ctx)))
}

// Close ends the MCP servers and the models of this machine, and closes the data directory.
func (e *Engine) Close() error {
	e.report.models.Close()
	return errors.Join(e.set.Close(), e.store.Close())
}

// keepHouse deletes what is kept long enough, now and then.
func (e *Engine) keepHouse(ctx context.Context) {
	for {
		if err := e.store.Write(ctx, prune); err != nil && ctx.Err() == nil {
			e.log.Error("old rows not deleted", "err", err)
		}
		if err := errors.Join(e.outbox.SweepFiles(ctx), toolset.SweepScratch(e.config.Dir), e.media.KeepHouse(ctx)); err != nil && ctx.Err() == nil {
			e.log.Error("old files not deleted", "err", err)
		}
		if !wait.For(ctx, pruneEvery) {
			return
		}
	}
}

// prune deletes the rows that are kept long enough.
func prune(tx *store.Tx) error {
	for _, old := range []struct {
		rows store.Aged
		kept time.Duration
	}{
		{store.AgedInbox, inboxKept},
		{store.AgedOutbox, outboxKept},
		{store.AgedUsage, usageKept},
		{store.AgedApprovals, approvalsKept},
		{store.AgedMemoryChanges, changesKept},
		{store.AgedRuns, run.Kept},
		{store.AgedJobs, run.Kept},
		{store.AgedChanges, changesKept},
		{store.AgedStrangers, strangersKept},
		{store.AgedWeb, webKept},
		{store.AgedBrowsers, webKept},
	} {
		if _, err := tx.Prune(old.rows, time.Now().Add(-old.kept)); err != nil {
			return err
		}
	}
	return nil
}

// committed tells those who wait for it what a transaction has changed.
func (e *Engine) committed(c store.Changes) {
	for _, o := range c.Out {
		e.outbox.Added(o)
	}
	if c.Messages {
		e.memory.Said()
		e.backups.Log()
	}
	if c.Jobs {
		e.plans.runs.Changed()
	}
}

// watchOthers notices what a command wrote while the bot runs.
func (e *Engine) watchOthers(ctx context.Context) {
	var last int64
	for wait.For(ctx, cmp.Or(e.config.LookEvery, pollOthers)) {
		version, err := e.store.DataVersion(ctx)
		if err != nil || version == last {
			continue
		}
		last = version
		e.plans.runs.Changed()
		e.memory.Said()
		if err := e.outbox.Rescan(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("outbox not read", "err", err)
		}
		if err := e.set.Servers.Reload(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("accepted tools not read", "err", err)
		}
	}
}

// within waits for done to return and reports whether it did in time.
func within(limit time.Duration, done func()) bool {
	ended := make(chan struct{})
	go func() {
		done()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// say returns one of the bot's own sentences in its language.
func (e *Engine) say(p locale.Phrase, args ...any) string {
	return locale.Say(e.settings().Language, p, args...)
}
