package protocol

import (
	"strings"

	"klawbot/engine/internal/llm"
)

// Speech is what a model says and thinks while it arrives in pieces.
type Speech struct {
	sink    func(llm.Event)
	split   *splitter // nil when the model writes no tags
	hold    *holder   // nil when calls are not looked for in the text
	said    strings.Builder
	thought strings.Builder
	started bool
}

// NewSpeech hands the pieces to sink. With tags, thinking in tags at the start
// of the text is told from the text; with printed, a text that may be a printed
// call is held back until that is clear.
func NewSpeech(sink func(llm.Event), tags, printed bool) *Speech {
	s := &Speech{sink: sink}
	if tags {
		s.split = &splitter{}
	}
	if printed {
		s.hold = &holder{}
	}
	return s
}

// Started reports whether anything was handed over.
func (s *Speech) Started() bool { return s.started }

// Silent reports whether nothing was said yet.
func (s *Speech) Silent() bool { return s.said.Len() == 0 }

// Say adds a piece of the text.
func (s *Speech) Say(piece string) {
	if s.split != nil && piece != "" {
		var thought string
		thought, piece = s.split.add(piece)
		s.Think(thought)
	}
	s.hear(piece)
}

func (s *Speech) hear(piece string) {
	if s.hold != nil && piece != "" {
		piece = s.hold.add(piece)
	}
	s.emit(piece)
}

func (s *Speech) emit(piece string) {
	if piece == "" {
		return
	}
	s.said.WriteString(piece)
	s.started = true
	s.sink(llm.Event{Text: piece})
}

// Think adds a piece of the thinking.
func (s *Speech) Think(piece string) {
	if piece == "" {
		return
	}
	s.thought.WriteString(piece)
	s.started = true
	s.sink(llm.Event{Thinking: piece})
}

// End lets out what was held back. When the model made no call otherwise, what
// it printed as calls of these tools is returned instead of being said.
func (s *Speech) End(tools []llm.Tool, called bool) []Printed {
	if s.split != nil {
		thought, said := s.split.rest()
		s.Think(thought)
		s.hear(said)
	}
	if s.hold == nil {
		return nil
	}
	held := s.hold.rest()
	if !called {
		if calls := printed(held, tools); len(calls) > 0 {
			return calls
		}
	}
	s.emit(held)
	return nil
}

// Parted is all that was thought and said. A closing tag that nothing opened
// parts the text, too, when the protocol has no thinking of its own (native).
func (s *Speech) Parted(native bool) (thought, said string) {
	thought, said = s.thought.String(), s.said.String()
	if s.split != nil && !native && thought == "" {
		if stray, rest, ok := strayClose(said); ok {
			return stray, rest
		}
	}
	return thought, said
}
