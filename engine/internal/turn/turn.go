// Package turn runs the model loop of one turn: it asks the model, journals what that
// answers, calls tools and asks again, until the model says something without calling.
// Its journal holds what it did before the last end of the process; it goes through
// the same steps again. The package knows neither the inbox nor who
// delivers: its caller stores and sends what comes out.
package turn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/prompt"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/job"
)

// Config is what New needs. All of it is required, but for Pictures.
type Config struct {
	Store     *store.Store
	Life      *lifecycle.Lifecycle
	Gateway   *gateway.Gateway
	Settings  func() settings.Settings
	Models    *model.Client
	Prompts   *prompt.Builder
	Shows     progress.Shows
	Questions *approval.Questions
	Outbox    *outbox.Outbox
	// Executor has the tools as they are now.
	Executor *tools.Executor
	Redact   *redact.Set
	// Pictures keeps what tools show; nil: models see no pictures of tools.
	Pictures Pictures
}

// Turns runs turns. It may be used by several goroutines at once.
type Turns struct{ Config }

// New returns Turns.
func New(c Config) *Turns { return &Turns{c} }

// Request is a turn to run.
type Request struct {
	// Row is stored already. Answers and Calls are its journal, when it was interrupted.
	Row     store.Turn
	Answers []llm.Message
	Calls   map[string]store.Call
	// Asked are the messages that it answers, as the model and the history get them.
	Asked []store.Message
	Topic string // the name of the topic that it answers in, "" when it is unknown
	// User is who caused it. Owned says that only owners did; else User isn't an owner.
	User  int64
	Owned bool
	// Directed is the call that a command asks for, by the name Command; then no model
	// is asked. Nil for others.
	Directed *llm.ToolCall
	Command  string
	// Heard says that the model has read text that a tool brought from outside, Others
	// that it has read what people said who are no owners.
	Heard, Others bool
	// Allowed is asked before each model call whether the turn may continue.
	Allowed func() error
	// Prepare finishes Asked, such as by reading files: it is called once, before the
	// first model call, and tells which file of how many is next. Nil: Asked is complete.
	Prepare func(ctx context.Context, tell func(n, all int)) (Prepared, error)
	// Alone is asked when the model has brought something: no message can join from then
	// on. When it returns false the turn is parked, because a message has joined it. Nil: nothing joins.
	Alone func() bool
	// Job is what the turn runs, nil for a person's turn.
	Job *Job
	// Log is the turn's own.
	Log *slog.Logger
}

// Prepared is what Request.Prepare brings.
type Prepared struct {
	Asked []store.Message
	// Notes are lines for the person, below the answer. With Alone they are the answer,
	// and no model is asked.
	Notes []string
	Alone bool
	// Buttons are below the answer.
	Buttons [][]gateway.Button
	// Kept are the files of the workspace that came with it.
	Kept []string
	// Aloud says that the person spoke.
	Aloud bool
}

// Job is a job that a turn runs.
type Job struct {
	store.Job
	// Workplace is the chat that the run works for.
	Workplace gateway.Address
	// Within narrows the policy to what the job may do.
	Within func(tools.Policy) *tools.Scope
	// History is what the model knows of the runs before, Note what it is told of this
	// one.
	History func(context.Context) ([]store.Message, error)
	Note    string
	// Most is how many tokens the run may take with its subagents, Left what the
	// heartbeat may take today. 0 means unlimited.
	Most, Left int
	// Pause stops the clock of the run while a person is asked; resume starts it again.
	Pause func() (resume func())
	// Asking is told when the model is asked, when it sends something, and when it has
	// answered.
	Asking func(bool)
}

// Result is what has come of a turn. Its caller stores it with Store, in the
// transaction that ends the turn, and then calls Stored.
type Result struct {
	// Parked says that the turn resumes at the next start. Then the rest is empty.
	Parked bool
	// Row is the turn as it has ended. Its placeholder is final; Placeholder is the
	// state in which it was left.
	Row         store.Turn
	Placeholder string
	// Text is what the person reads, "" for nothing, with Buttons below it, and Files what
	// comes with it.
	Text    string
	Buttons [][]gateway.Button
	Files   []gateway.Part
	// Aloud says that it answers what a person spoke.
	Aloud bool
	// Said is what the turn has said, for the history.
	Said []store.Message
	// Failure is set when the turn has failed, and Why are words for it. Unlisted says
	// that the allow list stopped it.
	Failure  error
	Why      string
	Unlisted bool

	turn *turn
}

// Store stores the messages of the turn, what it took and that it has ended. It may
// run several times.
func (r Result) Store(tx *store.Tx) error {
	for _, m := range slices.Concat(r.turn.Asked, r.Said) {
		m.Session, m.Turn = r.Row.Session, r.Row.ID
		if _, err := tx.Sessions().AddMessage(m); err != nil {
			return err
		}
	}
	if r.turn.window != nil {
		if err := r.turn.window.Store(tx); err != nil {
			return err
		}
	}
	if err := model.AddUsage(tx, r.turn.spent); err != nil {
		return err
	}
	return tx.Turns().EndTurn(r.Row)
}

// Stored is called when the result is committed: the conversation may have become so
// long that it has to be summarized.
func (r Result) Stored() {
	if r.turn.window != nil {
		r.turn.window.CompactLater(r.Row.Model, r.Said)
	}
}

var (
	// ErrNoModel: there is no model that could run a job.
	ErrNoModel = errors.New("no model is set up")
	// errUnlisted: the allow list stopped the turn.
	errUnlisted = errors.New("not allowed any more")
)

// turn is a turn at work.
type turn struct {
	*Turns
	Request
	settings settings.Settings
	// executor has the tools as they were when the turn began.
	executor *tools.Executor
	// loop notices that the model goes round in circles; looping is set when it
	// has done so for too long.
	loop    tools.Loop
	looping bool
	// wantedMore says that the model did not end the turn when it had to.
	wantedMore bool
	// window is what the model is shown, nil before it is built.
	window *prompt.Window
	// said is what the turn adds to the history after Asked.
	said []store.Message
	// show is what the chat is shown of it.
	show *progress.Progress
	// approver asks the person about calls; may be nil.
	approver tools.Approver
	// spoken is what it said beside its calls.
	spoken spoken
	// partial is the text of the answer that was streaming when the turn ended, begun
	// the text of one whose rest is asked for.
	partial, begun string
	// chosen is the model that the turn began with, sticky the one that
	// answered in it last; both are empty before the first model call.
	chosen, sticky string
	// artifacts are the files that its calls hand over, in order.
	artifacts []tools.Artifact
	// notes are what the person is told below the answer.
	notes []string
	// came is what came with what was asked.
	came Prepared
	// spent is what its model calls took, as far as it is not stored yet.
	spent []store.Usage
}

// Run does a turn, and always comes to an end that people can see; only a turn that is
// parked stays as it is in the store.
func (ts *Turns) Run(ctx context.Context, r Request) Result {
	t := &turn{
		Turns: ts, Request: r, settings: ts.Settings(), executor: ts.Executor.Snapshot(), show: new(progress.Progress),
		spoken: spoken{run: r.Job != nil},
	}
	t.begin(ctx)
	text, err := t.safely(ctx)
	if err != nil && (errors.Is(context.Cause(ctx), lifecycle.ErrParked) || errors.Is(err, lifecycle.ErrParked)) {
		t.show.Settle()
		t.keepSpent(ctx)
		t.Log.Info("turn parked")
		return Result{Parked: true}
	}
	return t.result(t.endOf(ctx, text, err))
}

// begin shows the chat that the turn is at work, and makes who asks people in it.
func (t *turn) begin(ctx context.Context) {
	shown := progress.Shown{
		Turn: t.Row.ID, Address: t.Row.Address, ReplyTo: t.Row.ReplyTo, State: t.Row.Placeholder, MessageID: t.Row.PlaceholderID,
		Streaming: t.streaming(), Log: t.Log,
	}
	switch {
	case t.Job == nil:
		t.show = t.Shows.Start(ctx, shown)
	case t.Job.Kind == store.JobSpawn && t.Job.Target.Chat.Channel != "":
		shown.Subagent = t.Job.Name
		t.show = t.Shows.Start(ctx, shown)
	}
	t.approver = t.newApprover()
}

// Stop is the result of a turn that is not run any more, for the reason in note.
func (ts *Turns) Stop(r Request, note string) Result {
	t := &turn{Turns: ts, Request: r, settings: ts.Settings(), show: new(progress.Progress)}
	return t.result(ending{state: store.TurnStopped, note: note})
}

// result is what has come of a turn that ends so.
func (t *turn) result(end ending) Result {
	r := Result{Text: end.text, Failure: end.failure, Unlisted: errors.Is(end.failure, errUnlisted), turn: t}
	if end.failure != nil {
		r.Why = t.sorry(end.failure)
	}
	if end.state == store.TurnDone {
		r.Files, r.Aloud, r.Buttons = t.files(), t.came.Aloud, t.came.Buttons
	}
	if t.Job == nil {
		t.remember(end)
	}
	r.Placeholder, t.Row.PlaceholderID = t.show.Settle()
	t.Row.State, t.Row.Note, t.Row.EndedAt, t.Row.Placeholder = end.state, end.note, time.Now(), store.PlaceholderFinal
	r.Row, r.Said = t.Row, t.said
	return r
}

// remember notes for the history why a person's turn has no answer.
func (t *turn) remember(end ending) {
	switch end.state {
	case store.TurnFailed:
		// For people only, so that the model answers when the question is asked again.
		t.said = append(t.said, store.Message{Body: llm.Text(llm.RoleAssistant, t.sorry(end.failure)), Type: "error", At: time.Now()})
	case store.TurnStopped:
		// For the model too, so that it doesn't answer later what was stopped.
		t.say(llm.Text(llm.RoleAssistant, strings.TrimSpace(t.partial+"\n\n("+end.note+")")))
	}
}

// ending is how a turn ends.
type ending struct {
	state store.TurnState
	// text is what the person reads, "" for nothing; note says why it ended, for
	// the journal, "" when it was answered.
	text, note string
	// failure is set when the state is TurnFailed.
	failure error
}

// endOf is the end of the turn that brought a text or an error. Why its context
// ended counts for more than what that led to.
func (t *turn) endOf(ctx context.Context, text string, err error) ending {
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return ending{state: store.TurnDone, text: text}
	case errors.Is(cause, lifecycle.ErrChatGone), errors.Is(cause, lifecycle.ErrJobGone):
		return ending{state: store.TurnStopped, note: cause.Error()}
	case errors.Is(cause, lifecycle.ErrDeadline):
		return ending{state: store.TurnFailed, note: lifecycle.ErrDeadline.Error(), failure: lifecycle.ErrDeadline}
	case errors.Is(err, errUnlisted) && t.Job != nil:
		return ending{state: store.TurnFailed, note: err.Error(), failure: err}
	case errors.Is(err, errUnlisted):
		t.Log.Info("turn ended for a chat that is not listed any more", "reason", err.Error())
		return ending{state: store.TurnStopped, note: err.Error()}
	case errors.Is(cause, lifecycle.ErrStopped):
		end := ending{state: store.TurnStopped, note: "stopped by the user"}
		t.partial = t.Redact.Text(t.partial)
		if shown := t.spoken.with(t.partial); shown != "" {
			end.text = shown + "\n\n" + locale.Say(t.settings.Language, locale.Cut)
		}
		return end
	}
	t.Log.Error("turn failed", "err", err)
	return ending{state: store.TurnFailed, text: t.spoken.with(t.sorry(err)), note: err.Error(), failure: err}
}

func (t *turn) streaming() string {
	if t.Directed != nil || t.settings.Models.Default == "" || t.Job != nil {
		return settings.StreamOff
	}
	return t.settings.Streaming[t.Row.Address.Chat.Channel]
}

// safely is answer, with a panic as an error: the turn must end visibly.
func (t *turn) safely(ctx context.Context) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.Log.Error("turn panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return t.answer(ctx)
}

// sorry is the one sentence that the person reads instead of an answer.
func (t *turn) sorry(err error) string {
	if over, ok := errors.AsType[*model.BudgetError](err); ok {
		return over.Text
	}
	if fail, ok := errors.AsType[*llm.Error](err); ok {
		return locale.ModelError(t.settings.Language, fail, t.Row.Model, t.settings.Zone(), t.Owned)
	}
	return locale.Say(t.settings.Language, locale.Internal)
}

// answer runs the model loop: ask, journal, call tools, ask again, until the
// model says something without calling. It returns the final text.
func (t *turn) answer(ctx context.Context) (string, error) {
	if t.Directed == nil && t.settings.Models.Default == "" {
		if t.Job != nil {
			return "", ErrNoModel
		}
		return withoutModel(ctx, t)
	}
	if alone, err := prepare(ctx, t); alone != "" || err != nil {
		return alone, err
	}
	if err := t.build(ctx); err != nil {
		return "", err
	}
	conv := t.window.Asked
	for round := 0; ; round++ {
		if err := listed(t); err != nil {
			return "", err
		}
		message, final, err := t.next(ctx, conv, round)
		if err != nil {
			return "", err
		}
		if final {
			t.say(message)
			return t.label(t.finalText(message)), nil
		}
		t.spoken.add(message.PlainText())
		t.partial = "" // it is said
		t.say(message)
		results, err := t.callTools(ctx, message)
		if err != nil {
			return "", err
		}
		t.say(results)
		conv = append(conv, message, results)
	}
}

// listed returns an error if the turn's chat was removed from the allow list.
func listed(t *turn) error {
	if err := t.Allowed(); err != nil {
		return fmt.Errorf("%w: %w", errUnlisted, err)
	}
	return nil
}

// withoutModel is the answer of a bot that has no model. It keeps the files that came.
func withoutModel(ctx context.Context, t *turn) (string, error) {
	text := locale.Say(t.settings.Language, locale.NoModelHere.For(t.Owned))
	if t.Prepare == nil {
		return t.label(text), nil
	}
	came, err := t.Prepare(ctx, atFile(t))
	if err != nil {
		return "", err
	}
	t.Asked = came.Asked
	if len(came.Kept) > 0 {
		text += "\n" + locale.Say(t.settings.Language, locale.FilesKept, strings.Join(came.Kept, ", "))
	}
	return t.label(text), nil
}

// atFile shows which of several files is read.
func atFile(t *turn) func(n, all int) {
	return func(n, all int) {
		if all > 1 {
			t.show.Status(locale.Say(t.settings.Language, locale.ReadingFiles, n, all))
		}
	}
}

// prepare finishes what was asked. alone is the answer when there is nothing that a model
// could answer.
func prepare(ctx context.Context, t *turn) (alone string, err error) {
	if t.Prepare == nil {
		return "", nil
	}
	p, err := t.Prepare(ctx, atFile(t))
	if err != nil {
		return "", err
	}
	t.Asked, t.came = p.Asked, p
	if !p.Alone {
		t.notes = append(t.notes, p.Notes...)
		return "", nil
	}
	alone = strings.Join(p.Notes, "\n")
	if !t.alone() {
		return "", lifecycle.ErrParked
	}
	t.said = append(t.said, store.Message{Body: llm.Text(llm.RoleAssistant, alone), Type: "error", At: time.Now()})
	return t.label(alone), nil
}

// build chooses what the model is shown.
func (t *turn) build(ctx context.Context) (err error) {
	in := prompt.Input{
		Turn: t.Row.ID, Settings: t.settings, Address: t.Row.Address, Topic: t.Topic, Home: t.home().Chat, Places: t.corePlaces(), Model: t.Row.Model,
		Session: t.Row.Session, Asked: t.Asked, Tools: t.offered(), Directed: t.Directed != nil, Log: t.Log,
	}
	if t.Job != nil {
		in.Session, in.Note = 0, t.Job.Note
		if in.History, err = t.Job.History(ctx); err != nil {
			return err
		}
	}
	if t.window, err = t.Prompts.Build(ctx, in); err != nil {
		return err
	}
	t.mark()
	return nil
}

// mark notes from whom the text is that the model reads.
func (t *turn) mark() {
	t.Heard, t.Others = t.Heard || t.window.Outside, t.Others || t.window.Others
}

// offered are the tools that the turn may call, by name. What the policy denies is not
// among them.
func (t *turn) offered() []tools.Tool {
	all := t.executor.Offered(t.toolCall(llm.ToolCall{}))
	if t.Job == nil {
		all = slices.DeleteFunc(all, func(o tools.Tool) bool { return o.Spec().Name == job.DeliverName })
	}
	return all
}

// next returns the model's answer of a round, from the journal or by asking,
// and whether it is the final one. An answer with calls is journaled before
// anybody acts on it.
func (t *turn) next(ctx context.Context, conv []llm.Message, round int) (m llm.Message, final bool, err error) {
	if round < len(t.Answers) {
		return t.Answers[round], false, nil
	}
	m, usage, err := t.ask(ctx, conv, round)
	if !t.alone() {
		return m, false, lifecycle.ErrParked
	}
	if err != nil {
		return m, false, err
	}
	for i := range m.Blocks {
		m.Blocks[i].Text = t.Redact.Text(m.Blocks[i].Text)
	}
	t.Row.InputTokens += max(usage.Input, 0)
	t.Row.OutputTokens += max(usage.Output, 0)
	if _, last := t.lastWord(round); last || len(m.Calls()) == 0 {
		return withoutCalls(m), true, nil
	}
	for i := range m.Blocks {
		if c := m.Blocks[i].Call; c != nil {
			c.ID = rand.Text()
			// No call has a use for the bot's own keys; what only has the shape of one may
			// be meant for a server of the person's.
			c.Arguments = string(t.Redact.KnownJSON([]byte(c.Arguments)))
		}
	}
	err = t.Life.Persist(ctx, t.Row.Address, func(tx *store.Tx) error {
		if err := tx.Turns().AddAnswer(t.Row.ID, round, m, usage); err != nil {
			return err
		}
		return model.AddUsage(tx, t.spent)
	})
	if err != nil {
		return m, false, fmt.Errorf("journal the answer: %w", err)
	}
	t.spent = nil
	lifecycle.CrashPoint("answer.journaled")
	return m, false, nil
}

// alone notes that the model has brought something, and reports whether that counts: it
// does not when a message has joined the turn.
func (t *turn) alone() bool { return t.Alone == nil || t.Alone() }

// lastWord reports whether the turn has to end with the answer of a round, and
// what the model is told then.
func (t *turn) lastWord(round int) (note locale.Phrase, last bool) {
	switch {
	case t.looping:
		return locale.LoopNote, true
	case round >= t.settings.MaxToolCallRounds:
		return locale.LimitNote, true
	}
	return 0, false
}

// say adds a message to what the history gets of this turn.
func (t *turn) say(m llm.Message) {
	m = withoutThoughts(t.Redact, m)
	if len(m.Blocks) == 0 {
		return
	}
	by := t.Row.Model
	if t.Directed != nil {
		by = store.ByCommand
	}
	t.said = append(t.said, store.Message{Body: m, Model: by, At: time.Now()})
}

// label marks every reply of a bot without a model. The result of a job
// isn't a reply.
func (t *turn) label(text string) string {
	if t.Job != nil {
		return text
	}
	return Label(t.settings, text)
}

// withoutCalls drops the tool calls of a message that is the last word.
func withoutCalls(m llm.Message) llm.Message {
	kept := llm.Message{Role: m.Role}
	for _, b := range m.Blocks {
		if b.Call == nil {
			kept.Blocks = append(kept.Blocks, b)
		}
	}
	return kept
}

// blockStart are the beginnings of Markdown that count only at the start of a
// line: code, headings, lists, quotes and tables.
var blockStart = regexp.MustCompile("^(```|~~~|#{1,6} |[-*+] |\\d+[.)] |>|\\|)")

// Label marks a reply of a bot without a model.
func Label(s settings.Settings, text string) string {
	if s.Models.Default != "" {
		return text
	}
	between := " "
	if blockStart.MatchString(text) {
		between = "\n"
	}
	return locale.Say(s.Language, locale.NoModelLabel) + between + text
}

// withoutThoughts drops what a model thought with a secret in it: stored without the
// secret, it would not bear its signature any more.
func withoutThoughts(secrets *redact.Set, m llm.Message) llm.Message {
	m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b llm.Block) bool {
		return b.Thinking != nil && len(secrets.Find(b.Thinking.Text)) > 0 || b.Extra != nil && len(secrets.Find(string(b.Extra.Fields))) > 0
	})
	return m
}
