// Package engine answers messages: it keeps what comes in, runs one turn at a
// time per chat, and delivers what goes out.
//
// A message is stored before Accept returns (inbox), a lane per chat and topic
// runs turns in order, every model answer and every tool call is journaled
// before it is acted on, and the answer leaves from an outbox that is committed
// together with the turn. A kill at any point loses nothing, repeats no side
// effect and shows one final answer. The engine knows no messenger: whatever
// leaves it goes through the gateway, where the whitelist is asked again. What a chat
// shows while its turn lasts is told in the comment of package progress. The crash
// points of the kill tests name the edges of all this.
package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"klawbot/engine/health"
	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/prompt"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/run"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/turn"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/internal/wait"
	"klawbot/tools/mcp"
)

// Base is a bot without its engine. It is the configuration of data.Open, too.
type Base = toolset.Config

// Config is what New needs.
type Config struct {
	Base
	// Background are the jobs of the tool shell that run in a chat, by their ids, and
	// the command of each, for /stop; nil: there are none.
	Background func(chat string) (ids, commands []string)
	// Examine looks at the parts around the engine, for /doctor; nil looks at
	// none. It may take its time and ends with its context.
	Examine func(context.Context) []health.Finding
	// LookEvery is how often the bot looks at what nobody tells it of: what a
	// command wrote beside it, the heartbeat's file, a clock that was set. 0 means
	// a second or less.
	LookEvery time.Duration
	// Grace is how long running turns may take to finish when Run ends; then
	// they are parked. 0 means 6 s.
	Grace time.Duration
}

// Engine answers messages.
type Engine struct {
	config    Config
	gateway   *gateway.Gateway
	settings  func() settings.Settings
	life      *lifecycle.Lifecycle
	store     *store.Store
	workspace *workspace.Workspace
	set       *toolset.Set
	memory    *recall.Memory
	models    *model.Client
	prompts   *prompt.Builder
	outbox    *outbox.Outbox
	shows     progress.Shows
	backups   *backups
	meters    *meters
	questions *approval.Questions
	redact    *redact.Set
	started   time.Time
	log       *slog.Logger
	// schedules is what is planned, also by heartbeat, and runs makes it.
	schedules *schedule.Editor
	heartbeat *schedule.Heartbeat
	commands  *command.Commands
	runs      *run.Runs
	turns     *turn.Turns

	// dispatching is held while updates are handed to lanes, so that they get
	// there in order.
	dispatching sync.Mutex
	// replayed holds, for each gate whose stored updates were dispatched, the
	// last row of them. Guarded by dispatching.
	replayed map[gate]store.InboxID

	mu    sync.Mutex
	lanes map[gateway.Address]*lane // guarded by mu

	// unlogged wakes the writer of the conversation logs.
	unlogged chan struct{}
}

var _ gateway.Handler = (*Engine)(nil)

// New opens the data folder and returns an Engine that accepts messages. They
// are answered while Run runs. Close it after Run returned.
func New(ctx context.Context, c Config) (*Engine, error) {
	var e *Engine
	database := c.Store()
	database.Committed = func(changes store.Changes) { e.committed(changes) }
	st, beside, err := archive.Open(ctx, database, false)
	if err != nil {
		return nil, err
	}
	e = &Engine{
		config: c, gateway: c.Gateway, settings: c.Settings, redact: c.Redact, log: c.Log,
		started: time.Now(), meters: newMeters(),
		store: st, workspace: workspace.Open(c.Workspace, c.Log),
		replayed: map[gate]store.InboxID{}, lanes: map[gateway.Address]*lane{}, unlogged: make(chan struct{}, 1),
	}
	e.life = lifecycle.New(lifecycle.Config{Store: st, Gateway: c.Gateway, Unstored: func() string { return e.say(locale.Unstored) }, Log: c.Log})
	e.models = model.New(model.Config{
		Store: st, HTTP: c.HTTP, Settings: c.Settings, Redact: c.Redact, Dir: c.Dir, Log: c.Log,
		Measure: func(name string, p llm.Provider) llm.Provider { return measured{p, e.meters, name} },
	})
	e.outbox = outbox.New(outbox.Config{
		Store: st, Gateway: c.Gateway, Life: e.life, Files: outbox.NewSentFiles(c.Dir), Chats: chats{e}, Attempted: e.meters.delivery,
		Settled:       func(tx *store.Tx, o store.Out) (func(), error) { return e.questions.Settled(tx, o) },
		HoldAmbiguous: func() bool { return c.Settings().HoldAmbiguous }, Say: e.say, Log: c.Log,
	})
	e.shows = progress.Shows{Store: st, Gateway: c.Gateway, Alone: e.outbox.Alone, Lose: chats{e}.Lose, Redact: c.Redact}
	e.questions = approval.New(approval.Config{
		Store: st, Gateway: c.Gateway, Life: e.life, Outbox: e.outbox, Redact: c.Redact, Settings: c.Settings, Log: c.Log,
	})
	e.backups = &backups{e: e, archive: beside}
	e.backups.load(c.Dir)
	e.plan()
	set, err := toolset.New(ctx, c.Base, toolset.Hooks{
		Open: func() (*store.Store, error) { return st, nil }, Schedules: e.schedules,
		Model: e.modelIn, Stats: e.stats, Extract: e.models.Extract,
		ToolsChanged: func(server string, now []mcp.Definition) { e.toolsChanged(ctx, server, now) },
		SignInWanted: func(server string) { e.signInWanted(ctx, server) },
	})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	e.set, e.memory = set, set.Memory
	e.prompts = prompt.New(prompt.Config{
		Store: st, Life: e.life, Models: e.models, Settings: c.Settings, Workspace: e.workspace, Skills: e.set.Skills,
		Memory: e.memory, Redact: c.Redact, Gateway: c.Gateway,
		LoadsSkill: e.isLoad, Log: c.Log,
	})
	e.turns = turn.New(turn.Config{
		Store: st, Life: e.life, Gateway: c.Gateway, Settings: c.Settings, Models: e.models, Prompts: e.prompts, Shows: e.shows,
		Questions: e.questions, Outbox: e.outbox, Executor: e.set.Executor, Redact: c.Redact,
	})
	e.commands = e.newCommands()
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
	e.memory.ImportUser() // before the first turn, which shall know it
	e.mu.Lock()
	e.life.Begin(ctx, parking)
	for _, l := range e.lanes {
		e.startLane(l)
	}
	e.mu.Unlock()
	if err := e.questions.CloseForms(sending); err != nil { // a stop that comes already is none of its faults
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
	group.Go(func() error { return e.keepHouse(ctx) })
	group.Go(func() error { return e.writeLogs(ctx) })
	group.Go(func() error { return e.watchOthers(ctx) })
	group.Go(func() error { return e.backups.run(ctx) })
	group.Go(func() error { return e.watchDatabase(ctx) })
	group.Go(func() error { return e.runs.Run(ctx) })
	group.Go(func() error { return e.watchHeartbeat(ctx) })
	group.Go(func() error { e.set.Servers.Run(ctx); return nil })
	group.Go(func() error { e.memory.Run(ctx, e.store); return nil })
	e.tellRecovery(ctx)
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
	return errors.Join(err, e.backups.archive.WriteLog(context.WithoutCancel(ctx)))
}

// Close ends the MCP servers and the models of this machine, and closes the data folder.
func (e *Engine) Close() error {
	e.models.Close()
	return errors.Join(e.set.Close(), e.store.Close())
}

// keepHouse deletes what is kept long enough, now and then.
func (e *Engine) keepHouse(ctx context.Context) error {
	for {
		if err := e.store.Write(ctx, prune); err != nil && ctx.Err() == nil {
			e.log.Error("old rows not deleted", "err", err)
		}
		if err := errors.Join(e.outbox.SweepFiles(ctx), toolset.SweepScratch(e.config.Dir)); err != nil && ctx.Err() == nil {
			e.log.Error("sent files not deleted", "err", err)
		}
		if !wait.For(ctx, pruneEvery) {
			return nil
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
	} {
		if _, err := tx.Prune(old.rows, time.Now().Add(-old.kept)); err != nil {
			return err
		}
	}
	return nil
}

// committed tells those who wait for it what a transaction has changed.
func (e *Engine) committed(c store.Changes) {
	for _, a := range c.Out {
		e.outbox.Notify(a)
	}
	if c.Messages {
		e.memory.Said()
		wait.Signal(e.unlogged)
	}
	if c.Jobs {
		e.runs.Changed()
	}
}

// writeLogs appends to the conversation logs what is new.
func (e *Engine) writeLogs(ctx context.Context) error {
	for {
		if err := e.backups.archive.WriteLog(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("conversation log not written", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.unlogged:
		}
	}
}

// watchOthers notices what a command wrote beside the bot.
func (e *Engine) watchOthers(ctx context.Context) error {
	var last int64
	for wait.For(ctx, cmp.Or(e.config.LookEvery, pollOthers)) {
		version, err := e.store.DataVersion(ctx)
		if err != nil || version == last {
			continue
		}
		last = version
		e.runs.Changed()
		e.memory.Said()
		if err := e.outbox.Rescan(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("outbox not read", "err", err)
		}
		if err := e.set.Servers.Reload(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("accepted tools not read", "err", err)
		}
	}
	return nil
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
