package engine

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

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/prompt"
	"klawbot/engine/internal/quote"
	"klawbot/engine/internal/run"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/job"
)

// turn is one run of the model loop over the messages that waited together.
// What it did before the last end of the process stands in the journal, and it
// goes through the same steps again, taking from there what is there.
type turn struct {
	e        *Engine
	row      store.Turn
	settings settings.Settings
	// executor has the tools as they were when the turn began.
	executor *tools.Executor
	log      *slog.Logger
	// job is the run of a job that the turn makes, nil for a person's turn.
	job *run.Work
	// ids are the inbox rows it answers; asked are their messages as the
	// model and the history get them.
	ids   []store.InboxID
	asked []store.Message
	user  int64
	// owned says that owners alone cause the turn. Else user is none of them.
	owned bool
	// from is the last of its updates, for the whitelist.
	from gateway.Update
	// directed is set when a command says which tool to call; then no model
	// is asked.
	directed *llm.ToolCall
	// command is the command of a directed turn.
	command string
	// answers and calls are the journal as it was when the turn began.
	answers []llm.Message
	calls   map[string]store.Call
	// loop notices that the model goes round in circles; looping is set when it
	// has done so for too long.
	loop    tools.Loop
	looping bool
	// window is what the model is shown, nil before it is built.
	window *prompt.Window
	// said is what the turn adds to the history after asked.
	said []store.Message
	// heard says that the model has read text that a tool brought from outside.
	heard bool
	// others says that it has read what people said who are no owners.
	others bool
	// show is what the chat is shown of it; it begins with run.
	show *progress.Progress
	// approver asks the person about calls; nil asks nobody.
	approver tools.Approver
	// partial is the text of the answer that was streaming when the turn ended.
	partial string
	// chosen is the model that the turn began with, sticky the one that
	// answered in it last; both are empty before the first model call.
	chosen, sticky string
	// artifacts are the files that its calls hand over, in order.
	artifacts []tools.Artifact
	// notes are what the person is told below the answer.
	notes []string
	// spent is what its model calls took, as far as it is not stored yet.
	spent []store.Usage
}

// startTurn begins a turn for messages that waited.
func (e *Engine) startTurn(ctx context.Context, items []item) {
	last := items[len(items)-1]
	t := e.newTurn(ctx, store.Turn{
		Address: last.row.Address, Origin: string(tools.OriginPerson), State: store.TurnRunning,
		Placeholder: store.PlaceholderNone, StartedAt: time.Now(),
	}, items)
	t.row.ReplyTo = last.msg.ID
	err := e.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		if t.row.Address, err = tx.Chats().Home(last.row.Address); err != nil {
			return err
		}
		session, err := tx.Sessions().Session(t.row.Address)
		if err != nil {
			return err
		}
		t.row.Session = session.ID
		t.row.Model = session.Model
		if t.row.ID, err = tx.Turns().AddTurn(t.row); err != nil {
			return err
		}
		if last.row.From != 0 {
			if err := tx.Chats().SeeChat(t.row.Address.Chat.Channel, t.row.Address.Chat.ID, last.msg.ChatName(), last.row.ReceivedAt); err != nil {
				return err
			}
		}
		return tx.Inbox().StartUpdates(t.row.ID, t.ids...)
	})
	if err != nil {
		e.life.LogUnstored(ctx, "turn not started", err, "chat", t.row.Address.String())
		if !errors.Is(err, store.ErrNotFound) {
			if store.Unwritable(err) {
				e.life.TellUnstored(ctx, t.row.Address, 0)
			}
			e.putBack(ctx, items)
		}
		return
	}
	lifecycle.CrashPoint("turn.started")
	t.run(ctx, t.end)
}

// resumeTurn goes on with a turn that the end of the process interrupted.
func (e *Engine) resumeTurn(ctx context.Context, row store.Turn) {
	var updates []store.Update
	var answers []llm.Message
	var calls map[string]store.Call
	err := e.store.Read(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) { // what is stopped has to end
		if updates, err = tx.Inbox().TurnUpdates(row.ID); err != nil {
			return err
		}
		if answers, err = tx.Turns().Answers(row.ID); err != nil {
			return err
		}
		calls, err = tx.Turns().Calls(row.ID)
		return err
	})
	if err != nil {
		e.log.Error("turn not resumed", "turn", row.ID, "err", err)
		return
	}
	var items []item
	for _, u := range updates {
		if e.gateway.Allowed(u.Update) != nil {
			continue
		}
		if m, err := e.gateway.Decode(u.Update); err == nil {
			items = append(items, item{u, m})
		}
	}
	if row.Placeholder == store.PlaceholderSending {
		row.Placeholder = store.PlaceholderForgotten
	}
	t := e.newTurn(ctx, row, items)
	t.user, t.owned = e.questions.CausedBy(updates) // what somebody wrote who may not any more counts, too
	t.ids = t.ids[:0]
	for _, u := range updates {
		t.ids = append(t.ids, u.ID)
	}
	t.answers, t.calls = answers, calls
	e.log.Info("turn resumed", "turn", row.ID, "chat", row.Address.String(), "answers", len(answers))
	if len(items) == 0 {
		t.end(ctx, turnEnd{state: store.TurnStopped, note: "nobody may be answered any more"})
		return
	}
	t.run(ctx, t.end)
}

func (e *Engine) newTurn(ctx context.Context, row store.Turn, items []item) *turn {
	t := &turn{e: e, row: row, settings: e.settings(), executor: e.executor.Snapshot(), show: new(progress.Progress), log: e.log.With("chat", row.Address.String())}
	var rows []store.Update
	for _, it := range items {
		t.ids, rows = append(t.ids, it.row.ID), append(rows, it.row)
	}
	t.asked = askedMessages(withAuthors(ctx, e, items))
	t.user, t.owned = e.questions.CausedBy(rows)
	if len(items) > 0 {
		last := items[len(items)-1]
		t.from = last.row.Update
		t.directed, t.command = e.commands.Direct(ctx, last.command()), last.msg.Command
	}
	return t
}

// askedMessages are the messages of a turn as the model and the history get
// them: one user message for each that a person wrote, where the pieces of a
// text that a client has cut are one.
func askedMessages(items []item) []store.Message {
	var asked []store.Message
	for i, it := range items {
		if i > 0 && continues(items[i-1], it) {
			last := &asked[len(asked)-1].Body
			last.Blocks[0].Text += it.msg.Text
			continue
		}
		asked = append(asked, store.Message{
			Body:   llm.Text(llm.RoleUser, quote.Message(it.msg)),
			Sender: it.msg.Sender.ID, SenderName: it.msg.Sender.Name, At: it.msg.Time,
		})
	}
	return asked
}

// withAuthors are messages of which those of owners say when they answer words of the
// bot that are no answer to owners: another chat may have had the bot send them.
func withAuthors(ctx context.Context, e *Engine, items []item) []item {
	items = slices.Clone(items)
	for i, it := range items {
		if q := it.msg.Reply; q != nil && q.Own && q.ID != 0 && e.owns(it.msg) && !answeredOwners(ctx, e, it.row.Address, q.ID) {
			items[i].msg.Reply = &gateway.Quote{Author: quote.ForOthers, Text: q.Text}
		}
	}
	return items
}

// answeredOwners reports whether a message of the bot is known to answer owners alone.
func answeredOwners(ctx context.Context, e *Engine, at gateway.Address, message int64) bool {
	var asked []store.Update
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		outs, err := tx.Outbox().OutsOf(at, message)
		for _, o := range outs {
			var turn store.TurnID
			if _, other := fmt.Sscanf(o.Key, "turn/%d/", &turn); other == nil && err == nil {
				asked, err = tx.Inbox().TurnUpdates(turn)
			}
		}
		return err
	})
	return err == nil && len(asked) > 0 && !slices.ContainsFunc(asked, func(u store.Update) bool { return !e.settings().Owns(at.Chat.Channel, u.From) })
}

func (t *turn) streaming() string {
	if t.directed != nil || t.settings.Models.Default == "" || t.job != nil {
		return settings.StreamOff
	}
	return t.settings.Streaming[t.row.Address.Chat.Channel]
}

// run does the turn, and has its end committed, whatever happens; only a turn that is
// parked stays as it is in the store.
func (t *turn) run(ctx context.Context, commit func(context.Context, turnEnd)) {
	t.log = t.log.With("turn", t.row.ID)
	started := time.Now()
	t.e.memory.Idle.Begin()
	defer t.e.memory.Idle.End()
	shown := progress.Shown{
		Turn: t.row.ID, Address: t.row.Address, ReplyTo: t.row.ReplyTo, State: t.row.Placeholder, MessageID: t.row.PlaceholderID,
		Streaming: t.streaming(), Log: t.log,
	}
	switch {
	case t.job == nil:
		t.show = t.e.shows.Start(ctx, shown)
	case t.job.Job.Kind == store.JobSpawn && t.job.Job.Target.Chat.Channel != "":
		shown.Subagent = t.job.Job.Name
		t.show = t.e.shows.Start(ctx, shown)
	}
	t.approver = t.newApprover()
	text, err := t.safely(ctx)
	if err != nil && (errors.Is(context.Cause(ctx), lifecycle.ErrParked) || errors.Is(err, lifecycle.ErrParked)) {
		t.show.Settle()
		t.keepSpent(ctx)
		t.log.Info("turn parked")
		return
	}
	end := t.endOf(ctx, text, err)
	commit(ctx, end)
	t.e.meters.turn(t.row.Origin, end.state, time.Since(started))
	t.log.Info("turn ended", "state", string(end.state), "ms", time.Since(started).Milliseconds(), "model", t.row.Model)
}

// turnEnd is how a turn ends.
type turnEnd struct {
	state store.TurnState
	// text is what the person reads, "" for nothing; note says why it ended, for
	// the journal, "" when it was answered.
	text, note string
	// failure is set when the state is TurnFailed.
	failure error
}

// endOf is the end of the turn that brought a text or an error. Why its context
// ended counts for more than what that led to.
func (t *turn) endOf(ctx context.Context, text string, err error) turnEnd {
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return turnEnd{state: store.TurnDone, text: text}
	case errors.Is(cause, errGone), errors.Is(cause, run.ErrGone):
		return turnEnd{state: store.TurnStopped, note: cause.Error()}
	case errors.Is(cause, run.ErrDeadline):
		return turnEnd{state: store.TurnFailed, note: run.ErrDeadline.Error(), failure: run.ErrDeadline}
	case errors.Is(err, errUnlisted) && t.job != nil:
		return turnEnd{state: store.TurnFailed, note: err.Error(), failure: err}
	case errors.Is(err, errUnlisted):
		t.log.Info("turn ended for a chat that is not listed any more", "reason", err.Error())
		return turnEnd{state: store.TurnStopped, note: err.Error()}
	case errors.Is(cause, errStopped):
		end := turnEnd{state: store.TurnStopped, note: "stopped by the user"}
		if t.partial != "" {
			t.partial = t.e.redact.Text(t.partial)
			end.text = t.partial + "\n\n" + locale.Say(t.settings.Language, locale.Cut)
		}
		return end
	}
	t.log.Error("turn failed", "err", err)
	return turnEnd{state: store.TurnFailed, text: t.sorry(err), note: err.Error(), failure: err}
}

// safely is answer, with a panic as an error: the turn must end visibly.
func (t *turn) safely(ctx context.Context) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("turn panicked", "panic", p, "stack", string(debug.Stack()))
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
		return locale.ModelError(t.settings.Language, fail.Kind, t.row.Model)
	}
	return locale.Say(t.settings.Language, locale.Internal)
}

// answer runs the model loop: ask, journal, call tools, ask again, until the
// model says something without calling. It returns the final text.
func (t *turn) answer(ctx context.Context) (string, error) {
	if t.directed == nil && t.settings.Models.Default == "" {
		if t.job != nil {
			return "", run.ErrNoModel
		}
		p := locale.NoModelHere
		if t.owned {
			p = locale.NoModel
		}
		return t.label(locale.Say(t.settings.Language, p)), nil
	}
	if err := t.build(ctx); err != nil {
		return "", err
	}
	conv := t.window.Asked
	for round := 0; ; round++ {
		if err := t.allowed(); err != nil {
			return "", fmt.Errorf("%w: %w", errUnlisted, err)
		}
		message, final, err := t.next(ctx, conv, round)
		if err != nil {
			return "", err
		}
		if final {
			text := strings.TrimSpace(message.PlainText())
			if text == "" {
				text = locale.Say(t.settings.Language, locale.NoAnswer)
			}
			t.say(message)
			return t.label(t.noted(text)), nil
		}
		t.say(message)
		results, err := t.callTools(ctx, message)
		if err != nil {
			return "", err
		}
		t.say(results)
		conv = append(conv, message, results)
	}
}

// build chooses what the model is shown.
func (t *turn) build(ctx context.Context) (err error) {
	in := prompt.Input{
		Turn: t.row.ID, Settings: t.settings, Address: t.row.Address, Home: t.home().Chat, Places: t.corePlaces(), Model: t.row.Model,
		Session: t.row.Session, Asked: t.asked, Tools: t.offered(), Directed: t.directed != nil, Log: t.log,
	}
	if t.job != nil {
		in.Session = 0
		if in.History, err = t.job.Before(ctx, t.e.store, t.settings); err != nil {
			return err
		}
		in.Note = t.job.Note(t.settings.Zone())
	}
	if t.window, err = t.e.prompts.Build(ctx, in); err != nil {
		return err
	}
	t.mark()
	return nil
}

// mark notes from whom the text is that the model reads.
func (t *turn) mark() {
	t.heard, t.others = t.heard || t.window.Outside, t.others || t.window.Others
}

// offered are the tools that the turn may call, by name. What the policy denies is not
// among them.
func (t *turn) offered() []tools.Tool {
	all := t.executor.Offered(t.toolCall(llm.ToolCall{}))
	if t.job == nil {
		all = slices.DeleteFunc(all, func(o tools.Tool) bool { return o.Spec().Name == job.DeliverName })
	}
	return all
}

// allowed asks the whitelist again, whether the turn may go on.
func (t *turn) allowed() error {
	if t.job == nil {
		return t.e.gateway.Allowed(t.from)
	}
	if why := t.e.runs.Barred(t.job.Job); why != "" {
		return errors.New(why)
	}
	return nil
}

// next returns the model's answer of a round, from the journal or by asking,
// and whether it is the final one. An answer with calls is journaled before
// anybody acts on it.
func (t *turn) next(ctx context.Context, conv []llm.Message, round int) (m llm.Message, final bool, err error) {
	if round < len(t.answers) {
		return t.answers[round], false, nil
	}
	m, usage, err := t.ask(ctx, conv, round)
	if err != nil {
		return m, false, err
	}
	for i := range m.Blocks {
		m.Blocks[i].Text = t.e.redact.Text(m.Blocks[i].Text)
	}
	t.row.InputTokens += max(usage.Input, 0)
	t.row.OutputTokens += max(usage.Output, 0)
	if _, last := t.lastWord(round); last || len(m.Calls()) == 0 {
		return withoutCalls(m), true, nil
	}
	for i := range m.Blocks {
		if c := m.Blocks[i].Call; c != nil {
			c.ID = rand.Text()
			// No call has a use for the bot's own keys; what only has the shape of one may
			// be meant for a server of the person's.
			c.Arguments = string(t.e.redact.KnownJSON([]byte(c.Arguments)))
		}
	}
	err = t.e.life.Persist(ctx, t.row.Address, func(tx *store.Tx) error {
		if err := tx.Turns().AddAnswer(t.row.ID, round, m, usage); err != nil {
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
	m = withoutThoughts(t.e.redact, m)
	if len(m.Blocks) == 0 {
		return
	}
	by := t.row.Model
	if t.directed != nil {
		by = store.ByCommand
	}
	t.said = append(t.said, store.Message{Body: m, Model: by, At: time.Now()})
}

// label marks every reply of a bot without a model. What a job without one brings
// is no reply.
func (t *turn) label(text string) string {
	if t.job != nil {
		return text
	}
	return label(t.settings, text)
}

// blockStart are the beginnings of Markdown that count only at the start of a
// line: code, headings, lists, quotes and tables.
var blockStart = regexp.MustCompile("^(```|~~~|#{1,6} |[-*+] |\\d+[.)] |>|\\|)")

func label(s settings.Settings, text string) string {
	if s.Models.Default != "" {
		return text
	}
	between := " "
	if blockStart.MatchString(text) {
		between = "\n"
	}
	return locale.Say(s.Language, locale.NoModelLabel) + between + text
}

// end commits everything that the turn leaves behind in one transaction: its
// messages, the end of its inbox rows and journal, and the parts that leave.
func (t *turn) end(ctx context.Context, end turnEnd) {
	ctx = context.WithoutCancel(ctx)
	placeholder, shown := t.show.Settle()
	t.row.State, t.row.Note, t.row.EndedAt = end.state, end.note, time.Now()
	t.row.Placeholder, t.row.PlaceholderID = store.PlaceholderFinal, shown
	outs := t.leaving(end)
	for i := range outs {
		outs[i].Turn = t.row.ID
	}
	switch end.state {
	case store.TurnFailed:
		// For people only: the model shall answer the question when it is asked again.
		t.said = append(t.said, store.Message{Body: llm.Text(llm.RoleAssistant, end.text), Type: "error", At: time.Now()})
	case store.TurnStopped:
		// For the model too: what was stopped shall not be answered later.
		t.say(llm.Text(llm.RoleAssistant, strings.TrimSpace(t.partial+"\n\n("+end.note+")")))
	}
	err := t.e.life.Persist(ctx, t.row.Address, func(tx *store.Tx) error {
		if err := t.storeEnd(tx); err != nil {
			return err
		}
		if err := tx.Inbox().EndUpdates(store.InboxDone, end.note, t.ids...); err != nil {
			return err
		}
		leaving := outs
		if placeholder == store.PlaceholderShown {
			var err error
			if leaving, err = t.replacing(tx, shown, outs); err != nil {
				return err
			}
		}
		if err := outbox.Add(tx, leaving); err != nil {
			return err
		}
		return t.e.memory.Index(tx)
	})
	if err != nil {
		t.log.Error("turn not stored", "err", err)
		return
	}
	lifecycle.CrashPoint("turn.committed")
	if t.window != nil {
		t.window.CompactLater(t.row.Model)
	}
}

// leaving are the parts of what the person gets at the end of the turn.
func (t *turn) leaving(end turnEnd) []store.Out {
	to := t.row.Address
	parts := t.e.gateway.Render(to.Chat.Channel, end.text)
	if len(parts) == 0 && end.state != store.TurnStopped {
		// What is not blank for us may show nothing there.
		parts = t.e.gateway.Render(to.Chat.Channel, locale.Say(t.settings.Language, locale.NoAnswer))
	}
	if end.state == store.TurnDone {
		parts = append(parts, t.files()...)
	}
	if n := len(parts); n > 0 && end.state == store.TurnFailed {
		parts[n-1].Failed = true
	}
	return outbox.Rows(to, parts, fmt.Sprintf("turn/%d", t.row.ID), t.row.ReplyTo)
}

// replacing are the parts of an answer that takes the place of a placeholder. The
// parts stand together: when there are several, and something has left behind the
// placeholder since, they leave as messages of their own and it is taken away.
func (t *turn) replacing(tx *store.Tx, placeholder int64, outs []store.Out) ([]store.Out, error) {
	apart := false
	if len(outs) > 1 {
		var err error
		if apart, err = tx.Outbox().OutsSince(t.row.Address, placeholder, t.row.StartedAt); err != nil {
			return nil, err
		}
	}
	all := slices.Clone(outs)
	if apart || len(all) == 0 {
		all = slices.Insert(all, 0, outbox.Deletion(t.row.Address, t.row.ID, placeholder))
	}
	all[0].Edit = placeholder
	return all, nil
}

// storeEnd stores the messages of a turn, what it took and that it has ended.
func (t *turn) storeEnd(tx *store.Tx) error {
	for _, m := range slices.Concat(t.asked, t.said) {
		m.Session, m.Turn = t.row.Session, t.row.ID
		if _, err := tx.Sessions().AddMessage(m); err != nil {
			return err
		}
	}
	if err := model.AddUsage(tx, t.spent); err != nil {
		return err
	}
	return tx.Turns().EndTurn(t.row)
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
