package openai

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

// answer collects the pieces of one answer.
type answer struct {
	provider string
	compat   Compat
	request  llm.Request
	sink     func(llm.Event)

	speech    *speech.Speech
	field     string // the protocol's name of the thinking, once it is known
	refused   strings.Builder
	calls     []*partial
	heard     int // bytes
	printed   []speech.Printed
	extra     extra
	finish    string
	usage     llm.Usage
	model     string
	requestID string
}

func newAnswer(provider string, c Compat, r llm.Request, sink func(llm.Event)) *answer {
	return &answer{
		provider: provider, compat: c, request: r, sink: sink, model: r.Model, usage: llm.NoUsage,
		speech: speech.New(sink, speech.NewReading(r, c.ThinkTags, c.TextCalls, c.opened)),
	}
}

// read reads an answer of either kind, by its first character: some send a
// whole answer or an error where a stream was asked for, and the other way
// round. finished is called when only the usage may still come. The error is an
// *llm.Error or the reader's.
func (a *answer) read(body io.Reader, finished func()) error {
	r := bufio.NewReader(body)
	first, err := protocol.FirstByte(r)
	if err != nil {
		return err
	}
	if first == '{' || first == '[' {
		err = a.readWhole(r)
	} else {
		err = a.readStream(r, finished)
	}
	if err == nil || a.finish != "" {
		a.printed = a.speech.End()
	}
	return err
}

func (a *answer) readWhole(r io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(r, protocol.MaxAnswer))
	if err != nil {
		return err
	}
	var c chunk
	if err := json.Unmarshal(body, &c); err != nil {
		if fault := protocol.ReadFault(0, body); body[0] == '[' && fault.Message != "" {
			return fault.Classify()
		}
		return protocol.Truncated("the answer isn't valid JSON")
	}
	if len(c.Choices) == 0 {
		return noChoices(c, body)
	}
	return a.add(c)
}

// noChoices is the error that an object without choices is.
func noChoices(c chunk, body []byte) error {
	if err := c.fault(); err != nil {
		return err
	}
	f := protocol.ReadFault(0, body)
	switch {
	case f.Message != "":
		return f.Classify()
	case c.Choices != nil || c.Usage != nil:
		return protocol.Truncated("the answer is empty")
	}
	return &llm.Error{Kind: llm.BadRequest, Status: 200, Message: "the JSON that came isn't an answer; does baseURL end in /v1?"}
}

// readStream reads events until [DONE] or the end.
func (a *answer) readStream(r io.Reader, finished func()) error {
	for event, err := range protocol.Events(r) {
		if err != nil {
			return err
		}
		if string(event.Data) == "[DONE]" {
			return nil
		}
		if err := a.event(event.Type, event.Data); err != nil {
			return err
		}
		if speech.Overlong(a.heard, a.request.MaxTokens) {
			a.finish = "length"
			return nil
		}
		if a.finish != "" {
			finished()
		}
	}
	if a.finish == "" {
		return protocol.Truncated("the stream ended before the answer did")
	}
	return nil
}

func (a *answer) event(kind string, data []byte) error {
	if kind == "error" {
		return protocol.ReadFault(0, data).Classify()
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return protocol.Truncated("a piece of the stream isn't valid JSON")
	}
	return a.add(c)
}

// add takes one chunk in.
func (a *answer) add(c chunk) error {
	if err := c.fault(); err != nil {
		return err
	}
	if c.Model != "" {
		a.model = string(c.Model)
	}
	a.count(c.Usage)
	if c.Progress.Total > 0 {
		a.sink(llm.Event{Reading: float64(c.Progress.Processed) / float64(c.Progress.Total)})
	}
	for _, ch := range c.Choices {
		if ch.Index != "" && ch.Index != "0" {
			continue
		}
		a.count(ch.Usage)
		for _, d := range []*delta{ch.Message, ch.Delta} {
			if d != nil {
				a.delta(d)
			}
		}
		if ch.Finish != "" {
			a.finish = string(ch.Finish)
		}
	}
	return finishError(a.finish, a.speech.Silent() && len(a.calls) == 0)
}

// fault is the error that a chunk carries, in any of the places for it.
func (c chunk) fault() error {
	for _, raw := range append([]json.RawMessage{c.Error}, choiceErrors(c.Choices)...) {
		if len(raw) > 0 && string(raw) != "null" && string(raw) != "{}" && string(raw) != `""` {
			return protocol.ReadFault(0, []byte(`{"error":`+string(raw)+`}`)).Classify()
		}
	}
	if c.Object == "error" {
		return protocol.ReadFault(0, []byte(`{"message":`+string(protocol.Quote(string(c.Message)))+`}`)).Classify()
	}
	return nil
}

func choiceErrors(choices []choice) []json.RawMessage {
	var out []json.RawMessage
	for _, c := range choices {
		out = append(out, c.Error)
	}
	return out
}

// count takes the last word about the usage: it is cumulative.
func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	if u.Prompt.N > 0 { // no prompt takes no tokens: 0 is not known
		a.usage.Input = u.Prompt.N
	}
	if u.Completion.N > 0 || u.Completion.Known && u.Prompt.N > 0 {
		a.usage.Output = u.Completion.N
	}
	for _, c := range []protocol.Count{u.Details.cached, u.CacheHit, u.Cached} {
		if c.Known {
			a.usage.Cached = c.N
			break
		}
	}
}

func (a *answer) delta(d *delta) {
	if thought, field := d.thinking(); thought != "" && (a.field == "" || a.field == field) {
		a.field = field
		a.speech.Think(thought)
		a.heard += len(thought)
	}
	a.speech.Say(d.Content.said)
	a.heard += len(d.Content.said)
	a.refused.WriteString(string(d.Refusal))
	a.extra.add(d.extra)
	for _, c := range d.calls() {
		a.calls = merge(a.calls, c)
		a.heard += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments)
	}
}
