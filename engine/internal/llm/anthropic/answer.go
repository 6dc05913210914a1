package anthropic

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

const (
	// stopPause is the reason of an answer that has to be continued.
	stopPause = "pause_turn"
	// stopWindow is the one of an answer that found no room any more.
	stopWindow = "model_context_window_exceeded"
)

// answer collects the pieces of one answer.
type answer struct {
	provider string
	request  llm.Request
	reading  speech.Reading
	sink     func(llm.Event)

	blocks    []*part
	open      map[string]*part // by index
	stop      string
	ended     bool
	usage     usage     // of the request that runs
	before    llm.Usage // of those before it, when the answer paused
	model     string
	requestID string
	started   bool
	heard     int // bytes
}

func newAnswer(provider string, reading speech.Reading, r llm.Request, sink func(llm.Event)) *answer {
	return &answer{provider: provider, request: r, reading: reading, sink: sink, before: llm.NoUsage, model: r.Model}
}

// begin prepares for the answer to a request, the first or one that continues it.
func (a *answer) begin(requestID string) {
	a.before = a.used()
	a.usage = usage{}
	a.open, a.stop, a.ended, a.requestID = map[string]*part{}, "", false, requestID
}

// used is what all requests for the answer took.
func (a *answer) used() llm.Usage {
	u := a.usage.total()
	return llm.Usage{Input: sum(a.before.Input, u.Input), Output: sum(a.before.Output, u.Output), Cached: sum(a.before.Cached, u.Cached)}
}

// sum adds numbers of which -1 are unknown.
func sum(a, b int) int {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return a + b
}

// read reads an answer of either kind, by its first character. finished is
// called when the answer is complete. The error is an *llm.Error or the reader's.
func (a *answer) read(body io.Reader, finished func()) error {
	r := bufio.NewReader(body)
	first, err := protocol.FirstByte(r)
	if err != nil {
		return err
	}
	if first == '{' || first == '[' {
		return a.readWhole(r)
	}
	for e, err := range protocol.Events(r) {
		if err != nil {
			return err
		}
		if string(e.Data) == "[DONE]" { // of a proxy
			break
		}
		if err := a.event(e); err != nil {
			return err
		}
		if speech.Overlong(a.heard, a.request.MaxTokens) {
			a.stop, a.ended = "max_tokens", true
		}
		if a.ended {
			return nil
		}
		if a.stop != "" {
			finished()
		}
	}
	if a.stop == "" {
		return protocol.Truncated("the stream ended before the answer did")
	}
	return nil
}

// verdict is the error that a complete answer is when nothing was said.
func (a *answer) verdict() error {
	switch {
	case len(a.blocks) > 0:
		return nil
	case a.stop == "":
		return protocol.Truncated("the answer is empty")
	case a.stop == stopWindow:
		return &llm.Error{Kind: llm.ContextOverflow, Message: "the context window is full"}
	}
	return nil
}

// message is an answer in one piece, and what a message_start holds of one.
type message struct {
	Type    protocol.Text     `json:"type"`
	Model   protocol.Text     `json:"model"`
	Content []json.RawMessage `json:"content"`
	Stop    protocol.Text     `json:"stop_reason"`
	Usage   *usage            `json:"usage"`
	Error   json.RawMessage   `json:"error"`
}

func (a *answer) readWhole(r io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(r, protocol.MaxAnswer))
	if err != nil {
		return err
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return protocol.Truncated("the answer isn't valid JSON")
	}
	switch {
	case m.Type == "error" || len(m.Error) > 0 && string(m.Error) != "null":
		return protocol.ReadFault(0, body).Classify()
	case m.Content == nil && m.Stop == "":
		return &llm.Error{Kind: llm.BadRequest, Status: 200, Message: "the JSON that came isn't an answer; is baseURL right?"}
	}
	a.head(m)
	for _, raw := range m.Content {
		if err := a.start("", raw); err != nil {
			return err
		}
	}
	a.stop = string(m.Stop)
	return nil
}

// head takes in what a message begins with.
func (a *answer) head(m message) {
	if m.Model != "" {
		a.model = string(m.Model)
	}
	a.usage.merge(m.Usage)
}

// event is what a stream brings.
type event struct {
	Type    protocol.Text   `json:"type"`
	Message message         `json:"message"`
	Index   protocol.Text   `json:"index"`
	Block   json.RawMessage `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   *usage          `json:"usage"`
}

type delta struct {
	Type      protocol.Text `json:"type"`
	Text      protocol.Text `json:"text"`
	Thinking  protocol.Text `json:"thinking"`
	Signature protocol.Text `json:"signature"`
	Input     protocol.Text `json:"partial_json"`
	Stop      protocol.Text `json:"stop_reason"`
}

func (a *answer) event(raw protocol.Event) error {
	var e event
	err := json.Unmarshal(raw.Data, &e)
	kind := string(e.Type)
	if kind == "" {
		kind = raw.Type
	}
	switch {
	case kind == "error" || raw.Type == "error":
		return protocol.ReadFault(0, raw.Data).Classify()
	case err != nil:
		return protocol.Truncated("a piece of the stream isn't valid JSON")
	}
	switch kind {
	case "message_start":
		a.head(e.Message)
	case "content_block_start":
		return a.start(string(e.Index), e.Block)
	case "content_block_delta":
		a.grow(string(e.Index), e.Delta)
	case "message_delta":
		a.usage.merge(e.Usage)
		if e.Delta.Stop != "" {
			a.stop = string(e.Delta.Stop)
		}
	case "message_stop":
		a.ended = true
	}
	return nil
}

// start begins a block. Its text may stand there already.
func (a *answer) start(index string, raw json.RawMessage) error {
	p, err := newPart(raw)
	if err != nil {
		return protocol.Truncated("a piece of the answer isn't a block")
	}
	a.append(index, p)
	a.show(p, p.text.String())
	a.heard += len(raw)
	return nil
}

// append adds a part, which ends the text before it.
func (a *answer) append(index string, p *part) {
	a.endText()
	a.blocks = append(a.blocks, p)
	a.open[index] = p
}

// endText lets out what the last part held back, when it is text.
func (a *answer) endText() {
	if n := len(a.blocks); n > 0 && a.blocks[n-1].speech != nil {
		last := a.blocks[n-1]
		last.printed = append(last.printed, last.speech.End()...)
	}
}

// strayClose is Speech.StrayClose.
func (a *answer) strayClose() bool {
	return slices.ContainsFunc(a.blocks, func(p *part) bool { return p.speech != nil && p.speech.StrayClose() })
}

// grow adds to a block. Indexes may leave gaps; a block that never began is
// begun by what belongs to it.
func (a *answer) grow(index string, d delta) {
	p := a.open[index]
	if p == nil {
		p = &part{kind: kindOf(d)}
		a.append(index, p)
	}
	p.text.WriteString(string(d.Text) + string(d.Thinking))
	p.signature += string(d.Signature)
	p.input.WriteString(string(d.Input))
	a.show(p, string(d.Text)+string(d.Thinking))
	a.heard += len(d.Text) + len(d.Thinking) + len(d.Input)
}

func kindOf(d delta) string {
	switch d.Type {
	case "thinking_delta", "signature_delta":
		return "thinking"
	case "input_json_delta":
		return "tool_use"
	}
	return "text"
}

// show hands a piece to the sink, text without what is meant for programs.
func (a *answer) show(p *part, piece string) {
	switch {
	case piece == "":
		return
	case p.kind == "thinking":
		a.sink(llm.Event{Thinking: piece})
	default:
		if p.speech == nil {
			reading := a.reading
			reading.Thought = slices.ContainsFunc(a.blocks, func(p *part) bool { return strings.HasSuffix(p.kind, "thinking") })
			p.speech = speech.New(a.sink, reading)
		}
		p.speech.Say(piece)
	}
	a.started = true
}

// stops are the words for why an answer ended. What is not here says nothing.
var stops = map[string]llm.Stop{
	"max_tokens": llm.StopMaxTokens, stopWindow: llm.StopMaxTokens,
	"refusal": llm.StopRefusal, "sensitive": llm.StopRefusal,
}

// result is the whole answer. Whether there are calls decides about the reason
// more than the word for it does.
func (a *answer) result() llm.Result {
	stop := stops[strings.ToLower(a.stop)]
	m := llm.Message{Role: llm.RoleAssistant}
	a.endText()
	native := slices.ContainsFunc(a.blocks, func(p *part) bool { return p.kind == "tool_use" })
	hidden, unwanted := false, false
	for _, p := range a.blocks {
		hidden = hidden || p.speech != nil && p.speech.Hidden()
		for _, b := range p.blocks(a.provider, a.request) {
			if b.Call != nil && (a.request.NoTools || stop == llm.StopRefusal || native && p.kind == "text") {
				unwanted = unwanted || a.request.NoTools
				continue
			}
			if b.Call != nil && stop == llm.StopMaxTokens {
				b.Call.Fault = speech.CutFault
			}
			m.Blocks = append(m.Blocks, b)
		}
	}
	switch {
	case stop == "" && len(m.Calls()) > 0:
		stop = llm.StopCalls
	case stop == "":
		stop = llm.StopEnd
	}
	return llm.Result{Message: m, Stop: stop, Usage: a.used(), Hidden: hidden, Unwanted: unwanted, Model: a.model, RequestID: a.requestID}
}
