package openai

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/tmaxmax/go-sse"

	"klawbot/engine/internal/llm"
)

// maxAnswer bounds an answer that does not stream and one event of a stream.
const maxAnswer = 16 << 20

// answer collects the pieces of one answer.
type answer struct {
	provider string
	compat   Compat
	request  llm.Request
	sink     func(llm.Event)

	said      strings.Builder
	thought   strings.Builder
	field     string // the wire's name of the thinking, once it is known
	refused   strings.Builder
	calls     []*partial
	split     *splitter // nil when the model writes no tags
	hold      *holder   // nil when calls are not looked for in the text
	finish    string
	usage     llm.Usage
	model     string
	requestID string
	started   bool
}

func newAnswer(provider string, c Compat, r llm.Request, sink func(llm.Event)) *answer {
	a := &answer{
		provider: provider, compat: c, request: r, sink: sink, model: r.Model,
		usage: llm.Usage{Input: -1, Output: -1, Cached: -1},
	}
	if c.ThinkTags {
		a.split = &splitter{}
	}
	if c.TextCalls && len(r.Tools) > 0 && !r.NoTools {
		a.hold = &holder{}
	}
	return a
}

// read reads an answer of either kind, by its first character: some send a
// whole answer or an error where a stream was asked for, and the other way
// round. The error is an *llm.Error or the reader's.
func (a *answer) read(body io.Reader, dog *watchdog) error {
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	if errors.Is(err, io.EOF) {
		return truncated("the answer is empty")
	}
	if err != nil {
		return err
	}
	switch first {
	case '{', '[':
		err = a.readWhole(r)
	case '<':
		return &llm.Error{Kind: llm.BadRequest, Status: 200, Message: "a web page came instead of an answer; does baseURL end in /v1?"}
	default:
		err = a.readStream(r, dog)
	}
	if err == nil || a.finish != "" {
		a.flush()
	}
	return err
}

// firstByte skips white space and returns what follows, without taking it.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

func truncated(why string) error { return &llm.Error{Kind: llm.Truncated, Message: why} }

func (a *answer) readWhole(r io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return err
	}
	var c chunk
	if err := json.Unmarshal(body, &c); err != nil {
		if fault := errorOf(0, body); body[0] == '[' && fault.message != "" {
			return fault.error()
		}
		return truncated("the answer is no valid JSON")
	}
	if len(c.Choices) == 0 {
		return noChoices(c, body)
	}
	return a.add(c)
}

// noChoices says what an object is that is no answer.
func noChoices(c chunk, body []byte) error {
	if err := c.fault(); err != nil {
		return err
	}
	f := errorOf(0, body)
	switch {
	case f.message != "":
		return f.error()
	case c.Choices != nil || c.Usage != nil:
		return truncated("the answer is empty")
	}
	return &llm.Error{Kind: llm.BadRequest, Status: 200, Message: "the JSON that came is no answer; does baseURL end in /v1?"}
}

// readStream reads server-sent events until [DONE] or the end. The blank lines
// at the end let a last event count that has none of its own; one that was cut
// is no JSON.
func (a *answer) readStream(r io.Reader, dog *watchdog) error {
	events := sse.Read(io.MultiReader(r, strings.NewReader("\n\n")), &sse.ReadConfig{MaxEventSize: maxAnswer})
	for event, err := range events {
		if errors.Is(err, bufio.ErrTooLong) {
			return truncated("an event of the stream is too long")
		}
		if err != nil {
			return err
		}
		data := strings.TrimSpace(event.Data)
		if data == "" || data[0] == ':' { // a comment that some proxy wrapped
			continue
		}
		if data == "[DONE]" {
			return nil
		}
		if err := a.event(event.Type, []byte(data)); err != nil {
			return err
		}
		if a.finish != "" {
			dog.finished()
		}
	}
	if a.finish == "" {
		return truncated("the stream ended before the answer did")
	}
	return nil
}

func (a *answer) event(kind string, data []byte) error {
	if kind == "error" {
		return errorOf(0, data).error()
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return truncated("a piece of the stream is no valid JSON")
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
	return finishError(a.finish, a.said.Len() == 0 && len(a.calls) == 0)
}

// fault is the error that a chunk carries, in any of the places for it.
func (c chunk) fault() error {
	for _, raw := range append([]json.RawMessage{c.Error}, choiceErrors(c.Choices)...) {
		if len(raw) > 0 && string(raw) != "null" && string(raw) != "{}" && string(raw) != `""` {
			return errorOf(0, []byte(`{"error":`+string(raw)+`}`)).error()
		}
	}
	if c.Object == "error" {
		return errorOf(0, []byte(`{"message":`+string(quote(string(c.Message)))+`}`)).error()
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
	if u.Prompt.n > 0 { // no prompt takes no tokens: 0 is not known
		a.usage.Input = u.Prompt.n
	}
	if u.Completion.n > 0 || u.Completion.known && u.Prompt.n > 0 {
		a.usage.Output = u.Completion.n
	}
	for _, c := range []count{u.Details.cached, u.CacheHit, u.Cached} {
		if c.known {
			a.usage.Cached = c.n
			break
		}
	}
}

func (a *answer) delta(d *delta) {
	if thought, field := d.thinking(); thought != "" && (a.field == "" || a.field == field) {
		a.field = field
		a.think(thought)
	}
	a.say(d.Content.said)
	a.refused.WriteString(string(d.Refusal))
	for _, c := range d.calls() {
		a.calls = merge(a.calls, c)
	}
}

// say passes text through the splitter and the holder to the sink.
func (a *answer) say(s string) {
	if a.split != nil && s != "" {
		var thought string
		thought, s = a.split.add(s)
		a.think(thought)
	}
	a.hear(s)
}

func (a *answer) hear(s string) {
	if a.hold != nil && s != "" {
		s = a.hold.add(s)
	}
	a.emit(s)
}

func (a *answer) emit(s string) {
	if s == "" {
		return
	}
	a.said.WriteString(s)
	a.started = true
	a.sink(llm.Event{Text: s})
}

func (a *answer) think(s string) {
	if s == "" {
		return
	}
	a.thought.WriteString(s)
	a.started = true
	a.sink(llm.Event{Thinking: s})
}

// flush lets out what was held back. A printed call stays with the holder.
func (a *answer) flush() {
	if a.split != nil {
		thought, said := a.split.rest()
		a.think(thought)
		a.hear(said)
	}
	if a.hold == nil {
		return
	}
	held := a.hold.rest()
	if len(a.calls) == 0 {
		if a.calls = printed(held, a.request.Tools); len(a.calls) > 0 {
			return
		}
	}
	a.emit(held)
}
