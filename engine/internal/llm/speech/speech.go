// Package speech reads the text that a model writes while it arrives in pieces, and
// parts it into words for people, thinking, and calls of tools. What is meant for
// programs is told by its shape, since there are more models than can be listed. It
// knows no protocol and runs no call.
package speech

import (
	"strings"

	"klawbot/engine/internal/llm"
)

// Reading says how the text of a model is read.
type Reading struct {
	// Plain leaves everything in the text as it is.
	Plain bool
	// Tools are those whose calls are read out of the text; without them calls are
	// only kept back.
	Tools []llm.Tool
	// Opened says that the model is known to begin in the middle of its thinking.
	Opened bool
	// Thought says that thinking came before, apart from the text.
	Thought bool
}

// NewReading is how the answer to a request is read. Tags keeps what is meant for
// programs out of the text, and calls takes calls in it for calls.
func NewReading(r llm.Request, tags, calls, opened bool) Reading {
	reading := Reading{Plain: !tags, Opened: opened}
	if calls {
		reading.Tools = r.Tools
	}
	return reading
}

// PrintedCalls are calls in a text as calls of a provider.
func PrintedCalls(printed []Printed, tools []llm.Tool, provider string) []llm.ToolCall {
	var calls []llm.ToolCall
	for _, p := range printed {
		calls = append(calls, Calls(llm.ToolCall{Provider: provider, Name: p.Name}, p.Arguments, tools)...)
	}
	return calls
}

// Speech is what a model says and thinks while it arrives in pieces, without what is
// meant for programs.
type Speech struct {
	sink           func(llm.Event)
	scan           *scanner // nil when the text is left as it is
	half, pondered string   // the beginning of a character
	said, thought  strings.Builder
	native         bool // thinking comes apart from the text
	stray          bool
	started        bool
	// held is what one piece of the model has given so far, and goes to sink at once: a
	// listener that joins what it hears pays for each event. heldThought says that it
	// is thinking.
	held        strings.Builder
	heldThought bool
}

// New hands the pieces to sink.
func New(sink func(llm.Event), r Reading) *Speech {
	s := &Speech{sink: sink}
	if !r.Plain {
		s.scan = &scanner{tools: r.Tools, emit: s.emit, ponder: s.ponder}
		if s.scan.seen.thinker = r.Thought; r.Opened && !r.Thought {
			s.scan.mode, s.scan.guess = inThought, true
		}
	}
	return s
}

// Started reports whether anything was handed over.
func (s *Speech) Started() bool { return s.started }

// How long an answer may be, in bytes: a server that knows no limit of tokens lets a model
// that repeats itself go on for ever.
const (
	bytesPerToken = 16
	leastBound    = 64 << 10
	usualBound    = 1 << 20 // without a limit of tokens
)

// Overlong reports whether an answer has more bytes than its limit of tokens allows; 0
// tokens: no limit. Words, thinking and arguments count.
func Overlong(bytes, tokens int) bool {
	if tokens == 0 {
		return bytes > usualBound
	}
	return bytes > max(leastBound, bytesPerToken*tokens)
}

// Silent reports whether nothing was said yet.
func (s *Speech) Silent() bool { return s.said.Len() == 0 }

// StrayClose reports whether the model ended thinking that it had not begun: its
// template begins it.
func (s *Speech) StrayClose() bool { return s.stray }

// Hidden reports whether something was kept back that is neither thinking nor a call.
func (s *Speech) Hidden() bool { return s.scan != nil && s.scan.hidden }

// Say adds a piece of the text.
func (s *Speech) Say(piece string) {
	defer s.flush()
	piece = joined(&s.half, piece)
	switch {
	case piece == "":
	case s.scan == nil:
		s.emit(piece)
	default:
		s.scan.add(piece)
	}
}

// Think adds a piece of thinking that comes apart from the text.
func (s *Speech) Think(piece string) {
	if piece = joined(&s.pondered, piece); piece == "" {
		return
	}
	defer s.flush()
	if s.native = true; s.scan != nil {
		s.scan.native()
	}
	s.ponder(piece)
}

// joined is a piece with the beginning of a character that the piece before ended
// with. What the piece itself ends with so is kept.
func joined(half *string, piece string) string {
	piece = *half + piece
	n := len(piece) - unfinished(piece)
	*half = piece[n:]
	return whole(piece[:n])
}

func (s *Speech) emit(piece string) {
	if piece == strayMark || piece == unsaidMark {
		s.thought.WriteString(strings.TrimSpace(s.said.String()))
		s.said.Reset()
		s.stray = s.stray || piece == strayMark
		s.flush()
		s.sink(llm.Event{Unsaid: true})
		return
	}
	s.said.WriteString(piece)
	s.hand(piece, false)
}

func (s *Speech) ponder(piece string) {
	s.thought.WriteString(piece)
	s.hand(piece, true)
}

// hand holds a text for sink, in the order of what is said and thought.
func (s *Speech) hand(piece string, thought bool) {
	s.started = true
	if thought != s.heldThought {
		s.flush()
	}
	s.heldThought = thought
	s.held.WriteString(piece)
}

func (s *Speech) flush() {
	text := s.held.String()
	s.held.Reset()
	switch {
	case text == "":
	case s.heldThought:
		s.sink(llm.Event{Thinking: text})
	default:
		s.sink(llm.Event{Text: text})
	}
}

// End lets out what was held back, and returns the calls that the text holds.
func (s *Speech) End() []Printed {
	defer s.flush()
	if s.half != "" {
		s.half = ""
		s.Say("\uFFFD")
	}
	if s.scan == nil {
		return nil
	}
	s.scan.end()
	calls := s.scan.calls
	if len(calls) == 0 && s.scan.mode == inThought && strings.TrimSpace(s.said.String()) == "" {
		calls = callsIn(s.scan.thought.String(), s.scan.tools) // it forgot to end its thinking
	}
	s.scan.calls = nil
	return calls
}

// callsIn finds the calls in thinking.
func callsIn(thought string, tools []llm.Tool) []Printed {
	if len(tools) == 0 {
		return nil
	}
	none := func(string) {}
	scan := scanner{tools: tools, emit: none, ponder: none}
	scan.add(thought)
	scan.end()
	return scan.calls
}

// Blocks are what was thought and said, as blocks of a message. The thinking is
// marked as in t.
func (s *Speech) Blocks(t llm.Thinking) []llm.Block {
	var blocks []llm.Block
	if t.Text = s.thought.String(); !s.native {
		t.Text = strings.TrimSpace(t.Text)
	}
	if t.Text != "" {
		blocks = append(blocks, llm.Block{Thinking: &t})
	}
	if said := s.said.String(); strings.TrimSpace(said) != "" {
		blocks = append(blocks, llm.Block{Text: said})
	}
	return blocks
}
