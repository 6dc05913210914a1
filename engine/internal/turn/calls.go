package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/find"
)

// maxTogether is how many calls of a turn run at one time.
const maxTogether = 4

// callTools runs the calls of an answer and returns their results as one
// message, in the order of the calls. Calls that follow each other and change
// nothing run together, the others alone.
func (t *turn) callTools(ctx context.Context, m llm.Message) (llm.Message, error) {
	calls := m.Calls()
	results := make([]tools.Result, len(calls))
	message := llm.Message{Role: llm.RoleTool}
	for from := 0; from < len(calls); {
		to := from + t.together(calls[from:])
		var group errgroup.Group
		group.SetLimit(maxTogether)
		for i := from; i < to; i++ {
			group.Go(func() (err error) {
				defer func() {
					if p := recover(); p != nil { // nothing else would catch it in this goroutine
						t.Log.Error("tool call panicked", "call", calls[i].ID, "panic", p, "stack", string(debug.Stack()))
						err = fmt.Errorf("panic: %v", p)
					}
				}()
				results[i], err = t.callTool(ctx, calls[i])
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return message, err
		}
		t.Heard = t.Heard || slices.ContainsFunc(results[from:to], func(r tools.Result) bool { return r.Outside != nil })
		t.Others = t.Others || slices.ContainsFunc(results[from:to], func(r tools.Result) bool { return r.Others })
		from = to
	}
	for i, c := range calls {
		t.keepArtifacts(results[i])
		r := &llm.ToolResult{
			CallID: c.ID, Name: c.Name, Text: results[i].Text() + t.noteCall(c, results[i]), Failed: !results[i].Success, Others: results[i].Others,
		}
		pictures(ctx, t, c, results[i], r)
		message.Blocks = append(message.Blocks, llm.Block{Result: r})
	}
	return message, nil
}

// together counts the calls at the head of the list that may run at one time,
// at least one.
func (t *turn) together(calls []llm.ToolCall) int {
	for i, c := range calls {
		if !t.executor.Concurrent(t.toolCall(c)) {
			return max(i, 1)
		}
	}
	return len(calls)
}

// noteCall takes note of a call with its result, and returns what the model is
// told beside it.
func (t *turn) noteCall(c llm.ToolCall, r tools.Result) string {
	t.reveal(c, r)
	t.window.Called(c.Name)
	if r.ErrorKind == tools.Validation && t.window.Brief() && t.Directed == nil {
		if known, _, ok := t.executor.Registry().Find(c.Name); ok {
			// What the model was shown leaves out what it has to know now.
			return "\n\n" + find.Manual(known, t.settings.Language) + t.repeated(c, r)
		}
	}
	return t.repeated(c, r)
}

// repeated is what the model is told when it makes the same call again and again.
func (t *turn) repeated(c llm.ToolCall, r tools.Result) string {
	switch n := t.loop.Note(c.Name, json.RawMessage(c.Arguments), r); {
	case n >= tools.LoopEnd:
		t.looping = true
	case n >= tools.LoopHint:
		return "\n\n" + locale.Say(t.settings.Language, locale.LoopHint, n)
	}
	return ""
}

// reveal shows the model the tools that a search has found, from now on.
func (t *turn) reveal(c llm.ToolCall, r tools.Result) {
	if c.Name != find.SearchName || r.Data == nil {
		return
	}
	var names []string
	if err := json.Unmarshal(r.Data, &names); err != nil {
		t.Log.Error("search for tools not read", "err", err)
		return
	}
	t.window.Reveal(names)
}

// callTool runs one call, unless the journal knows its result, or knows only
// that it had begun: a call that changes something is not run a second time.
func (t *turn) callTool(ctx context.Context, c llm.ToolCall) (tools.Result, error) {
	if known, ok := t.Calls[c.ID]; ok && known.Result != nil {
		var r tools.Result
		if err := json.Unmarshal(known.Result, &r); err != nil {
			return r, fmt.Errorf("read the journal of call %s: %w", c.ID, err)
		}
		return r, nil
	} else if ok {
		r := tools.Fail(tools.Execution, locale.Say(t.settings.Language, locale.Interrupted))
		r.CallID = c.ID
		return r, nil
	}
	if c.Fault != "" {
		r := tools.Fail(tools.Validation, c.Fault)
		r.CallID = c.ID
		return r, nil
	}
	defer t.show.Busy(c.Name, json.RawMessage(c.Arguments))()
	return t.executor.Execute(ctx, t.toolCall(c), journal{t})
}

// toolCall is a model's call with everything that a tool may know. What a person
// wrote as a command comes from that person only.
func (t *turn) toolCall(c llm.ToolCall) tools.Call {
	home, model := t.home(), t.Directed == nil
	var planned string // in what conversation the job was, also when its message is a call
	var within *tools.Scope
	if t.Job != nil {
		planned, within = t.Job.Origin, t.Job.Within(t.settings.Policy)
	}
	return tools.Call{
		ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments),
		Chat: home.Chat.String(), Thread: home.Thread, User: t.User,
		Origin: tools.Origin(t.Row.Origin), Session: int64(t.Row.Session), Turn: int64(t.Row.ID),
		Changelog: toolset.Changelog{Store: t.Store}, Approver: t.approver, Progress: t.show.Step,
		Heard: t.Heard && model || planned == schedule.OriginOutside, Others: t.Others && model || planned == schedule.OriginOthers,
		Within: within, Owner: t.Owned, Shown: t.window.ShownNames(),
	}
}

// newApprover returns who asks people in the chat of the turn. A run that has no chat
// has no approver.
func (t *turn) newApprover() tools.Approver {
	if t.Row.Address.Chat.Channel == store.JobChannel {
		return nil
	}
	asks := approval.Turn{
		ID: t.Row.ID, Address: t.Row.Address, User: t.User, Owned: t.Owned, Directed: t.Directed != nil,
		Timeout: t.settings.ApprovalTimeout, Waiting: t.show.Wait, Log: t.Log,
	}
	for _, m := range t.Asked {
		if m.Sender == t.User {
			asks.Name = m.SenderName
		}
	}
	if t.Job != nil {
		asks.Job = &t.Job.Job
		asks.Waiting = func(tool string) func() {
			resume := t.show.Wait(tool)
			resumeClock := t.Job.Pause() // the time of people does not count
			return func() {
				resumeClock()
				resume()
			}
		}
	}
	return t.Questions.Approver(asks)
}

// home is the chat for which the turn acts, whose memory and whose limits are its
// own: that of the person, or the one that a job belongs to, wherever its result
// goes.
func (t *turn) home() gateway.Address {
	if t.Job != nil && t.Job.Home.Chat.Channel != "" {
		return t.Outbox.Now(t.Job.Home)
	}
	return t.address()
}

// corePlaces are those that the turn sees: what its chat sees, unless its answer
// goes to another one.
func (t *turn) corePlaces() []corememory.Place {
	home := t.home()
	if t.Job != nil && home.Chat != t.Outbox.Now(t.Job.Workplace).Chat {
		return corememory.PlacesOf("")
	}
	return corememory.PlacesOf(home.Chat.String())
}

// address is where the turn answers today: its chat may have moved since it began.
func (t *turn) address() gateway.Address { return t.Outbox.Now(t.Row.Address) }
