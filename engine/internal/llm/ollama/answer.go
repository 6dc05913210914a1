package ollama

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

// answer collects the lines of one answer.
type answer struct {
	provider string
	request  llm.Request

	speech *speech.Speech
	calls  []llm.ToolCall
	heard  int // bytes
	done   bool
	reason string
	usage  llm.Usage
	model  string
}

func newAnswer(provider string, c Compat, r llm.Request, sink func(llm.Event)) *answer {
	return &answer{
		provider: provider, request: r, model: r.Model, usage: llm.NoUsage,
		speech: speech.New(sink, speech.NewReading(r, true, c.TextCalls, c.opened)),
	}
}

// line is one line of a stream, or a whole answer.
type line struct {
	Model   protocol.Text `json:"model"`
	Message struct {
		Content  protocol.Text     `json:"content"`
		Thinking protocol.Text     `json:"thinking"`
		Calls    []json.RawMessage `json:"tool_calls"`
	} `json:"message"`
	Done   bool            `json:"done"`
	Reason protocol.Text   `json:"done_reason"`
	Input  protocol.Count  `json:"prompt_eval_count"`
	Output protocol.Count  `json:"eval_count"`
	Error  json.RawMessage `json:"error"`
}

// read reads lines until the one that says that it is the last. The error is an
// *llm.Error or the reader's.
func (a *answer) read(body io.Reader) error {
	r := bufio.NewReader(body)
	if _, err := protocol.FirstByte(r); err != nil {
		return err
	}
	for raw, err := range protocol.Lines(r) {
		if err != nil {
			return err
		}
		if err := a.add(raw); err != nil {
			return err
		}
		if speech.Overlong(a.heard, a.request.MaxTokens) {
			a.done, a.reason = true, "length"
		}
		if a.done {
			return a.end()
		}
	}
	return protocol.Truncated("the stream ended before the answer did")
}

func (a *answer) add(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return protocol.Truncated("a line of the stream isn't valid JSON")
	}
	if len(l.Error) > 0 && string(l.Error) != "null" {
		return protocol.ReadFault(0, raw).Classify()
	}
	if l.Model != "" {
		a.model = string(l.Model)
	}
	a.speech.Think(string(l.Message.Thinking))
	a.speech.Say(string(l.Message.Content))
	a.heard += len(l.Message.Thinking) + len(l.Message.Content)
	for _, c := range l.Message.Calls {
		a.heard += len(c)
		if err := a.call(c); err != nil {
			return protocol.Truncated("a call is of no known form")
		}
	}
	a.done, a.reason = l.Done, string(l.Reason)
	if l.Input.N > 0 { // no prompt takes no tokens
		a.usage.Input = l.Input.N
	}
	if l.Output.Known {
		a.usage.Output = l.Output.N
	}
	return nil
}

// call adds a call, which always comes whole.
func (a *answer) call(raw json.RawMessage) error {
	var c struct {
		ID       protocol.Text `json:"id"`
		Function struct {
			Name      protocol.Text `json:"name"`
			Arguments protocol.Text `json:"arguments"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	call := llm.ToolCall{WireID: string(c.ID), Provider: a.provider, Name: string(c.Function.Name), Extra: protocol.ReadCallExtra(raw).Raw()}
	a.calls = append(a.calls, speech.Calls(call, string(c.Function.Arguments), a.request.Tools)...)
	return nil
}

// end lets out what was held back. A server that only loaded or dropped the
// model has not answered.
func (a *answer) end() error {
	if printed := a.speech.End(); len(a.calls) == 0 {
		a.calls = speech.PrintedCalls(printed, a.request.Tools, a.provider)
	}
	if (a.reason == "load" || a.reason == "unload") && a.speech.Silent() && len(a.calls) == 0 {
		return &llm.Error{Kind: llm.Overloaded, Message: "the server is loading the model", Loading: true, RetryAfter: 2 * time.Second}
	}
	return nil
}

// result is the whole answer.
func (a *answer) result() llm.Result {
	stop, calls := llm.StopEnd, a.calls
	unwanted := a.request.NoTools && len(calls) > 0
	if unwanted {
		calls = nil
	}
	switch {
	case strings.EqualFold(a.reason, "length"):
		stop = llm.StopMaxTokens
		for i := range calls {
			calls[i].Fault = speech.CutFault
		}
	case len(calls) > 0:
		stop = llm.StopCalls
	}
	return llm.Result{Message: a.message(calls), Stop: stop, Usage: a.usage, Hidden: a.speech.Hidden(), Unwanted: unwanted, Model: a.model}
}

func (a *answer) message(calls []llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Blocks: a.speech.Blocks(llm.Thinking{Provider: a.provider, Model: a.request.Model})}
	for _, c := range calls {
		m.Blocks = append(m.Blocks, llm.Block{Call: &c})
	}
	return m
}
