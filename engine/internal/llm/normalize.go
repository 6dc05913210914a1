package llm

import (
	"slices"
	"strings"
)

// Replay says which thinking goes back to the provider that it came from.
type Replay string

// The ways to replay thinking.
const (
	// ReplayNever strips all thinking.
	ReplayNever Replay = "never"
	// ReplayToolTurns keeps it in the messages that call tools.
	ReplayToolTurns Replay = "tool_turns"
	// ReplayAll keeps it wherever it is.
	ReplayAll Replay = "all"
	// ReplayNonempty keeps it wherever it is; the protocol fills in what is missing.
	ReplayNonempty Replay = "nonempty"
)

// Shape is what a protocol asks of a history.
type Shape struct {
	// Provider and Model get their own thinking back and no other's.
	Provider, Model string
	// Replay is how much of it; empty means ReplayNever.
	Replay Replay
	// MergeUsers makes one message of user messages that follow each other,
	// for templates that want the roles to alternate.
	MergeUsers bool
	// PicturesApart moves the pictures of results into a message of the user behind
	// them, for protocols whose results are texts.
	PicturesApart bool
	// BridgeAfterTool puts a line of the assistant between tool results and a
	// user message, for templates that do not take one after the other.
	BridgeAfterTool bool
}

// The lines that Normalize writes where a protocol wants something to stand.
const (
	noOutput    = "(no output)"
	noResult    = "Error: the call was interrupted; no result is known"
	noUser      = "(the conversation continues)"
	bridge      = "(results read)"
	apart       = "[pictures of the calls above]"
	replacement = "\uFFFD"
)

// Normalize returns the history as a protocol can take it, whatever cuts, crashes
// and other models made of it. It is pure, idempotent, and its output always
// holds: a user message comes first; no two neighbours have the same role, but
// for user messages without Shape.MergeUsers; no message and no text is blank; each call has a name and an ID of its own, and
// arguments that are a JSON object; the message after calls holds exactly their
// results, in the order of the calls; everything is valid UTF-8. Neighbouring
// messages that become one keep their own blocks.
func Normalize(msgs []Message, s Shape) []Message {
	results := indexResults(msgs)
	seen := map[string]bool{}
	var out []Message
	for i, m := range msgs {
		switch m.Role {
		case RoleUser:
			out = appendUser(out, Message{RoleUser, userBlocks(m.Blocks)}, s.MergeUsers)
		case RoleAssistant:
			a := assistant(m, s, seen)
			out = appendMerged(out, a)
			found := answers(a.Calls(), results, i)
			var pictures Message
			if s.PicturesApart {
				pictures = takePictures(found)
			}
			out = appendMerged(out, found)
			out = appendUser(out, pictures, s.MergeUsers)
		}
	}
	if len(out) == 0 || out[0].Role != RoleUser {
		out = slices.Insert(out, 0, Text(RoleUser, noUser))
	}
	if s.BridgeAfterTool {
		out = bridged(out)
	}
	return out
}

// place is the position of a result in the history.
type place struct {
	message int
	result  ToolResult
}

func indexResults(msgs []Message) map[string][]place {
	index := map[string][]place{}
	for i, m := range msgs {
		if m.Role != RoleTool {
			continue
		}
		for _, b := range m.Blocks {
			if b.Result != nil {
				index[b.Result.CallID] = append(index[b.Result.CallID], place{i, *b.Result})
			}
		}
	}
	return index
}

// userBlocks are what a person wrote and showed. A picture alone needs no words.
func userBlocks(blocks []Block) []Block {
	var out []Block
	for _, b := range blocks {
		if b.Image != nil {
			out = append(out, Block{Image: b.Image})
			continue
		}
		out = append(out, textBlocks([]Block{b})...)
	}
	return out
}

// takePictures moves the pictures of results into a message of their own, without
// blocks where there are none. The results are copies already.
func takePictures(results Message) Message {
	m := Message{Role: RoleUser}
	for _, b := range results.Blocks {
		for _, i := range b.Result.Images {
			m.Blocks = append(m.Blocks, Block{Image: &i})
		}
		b.Result.Images = nil
	}
	if len(m.Blocks) > 0 {
		m.Blocks = slices.Insert(m.Blocks, 0, Block{Text: apart})
	}
	return m
}

func textBlocks(blocks []Block) []Block {
	var out []Block
	for _, b := range blocks {
		if text := clean(b.Text); strings.TrimSpace(text) != "" {
			out = append(out, Block{Text: text})
		}
	}
	return out
}

// assistant cleans one message of the model. A message without words and
// without calls is dropped, also when it holds thinking.
func assistant(m Message, s Shape, seen map[string]bool) Message {
	var blocks []Block
	spoke, calls := false, false
	for _, b := range m.Blocks {
		switch {
		case b.Call != nil:
			if c, ok := cleanCall(*b.Call, s, seen); ok {
				blocks = append(blocks, Block{Call: &c})
				spoke, calls = true, true
			}
		case b.Extra != nil:
			if b.Extra.Provider == s.Provider && b.Extra.Model == s.Model {
				blocks = append(blocks, b)
			}
		case b.Thinking != nil:
			if b.Thinking.Provider == s.Provider && b.Thinking.Model == s.Model {
				blocks = append(blocks, Block{Thinking: cleanThinking(*b.Thinking)})
			}
		default:
			text := textBlocks([]Block{b})
			spoke = spoke || len(text) > 0
			blocks = append(blocks, text...)
		}
	}
	if !spoke {
		return Message{Role: RoleAssistant}
	}
	if !s.Replay.keeps(calls) {
		blocks = slices.DeleteFunc(blocks, func(b Block) bool { return b.Thinking != nil })
	}
	return Message{RoleAssistant, blocks}
}

// keeps reports whether thinking stays in a message with or without calls.
func (r Replay) keeps(calls bool) bool {
	return r == ReplayAll || r == ReplayNonempty || r == ReplayToolTurns && calls
}

func cleanThinking(t Thinking) *Thinking {
	t.Text = clean(t.Text)
	return &t
}

func cleanCall(c ToolCall, s Shape, seen map[string]bool) (ToolCall, bool) {
	c.Name = clean(c.Name)
	if c.ID == "" || seen[c.ID] || strings.TrimSpace(c.Name) == "" {
		return c, false
	}
	seen[c.ID] = true
	c.Arguments = cleanArguments(c.Arguments)
	if c.Provider != s.Provider {
		c.WireID, c.Provider, c.Extra = "", "", nil
	}
	return c, true
}

// answers is the message that follows calls: the first later result of each, or one
// that says that its result is unknown.
func answers(calls []ToolCall, results map[string][]place, after int) Message {
	m := Message{Role: RoleTool}
	for _, c := range calls {
		r := ToolResult{CallID: c.ID, Text: noResult, Failed: true}
		for _, p := range results[c.ID] {
			if p.message > after {
				r = p.result
				break
			}
		}
		r.Name = c.Name
		if r.Text = clean(r.Text); strings.TrimSpace(r.Text) == "" {
			r.Text = noOutput
		}
		m.Blocks = append(m.Blocks, Block{Result: &r})
	}
	return m
}

// appendMerged adds a message, or its blocks to the last one when both have the
// same role. Nothing is added to calls before their results are there, because
// a tool message follows them at once.
func appendMerged(out []Message, m Message) []Message {
	if len(m.Blocks) == 0 {
		return out
	}
	if n := len(out); n > 0 && out[n-1].Role == m.Role {
		out[n-1].Blocks = append(out[n-1].Blocks, m.Blocks...)
		return out
	}
	return append(out, m)
}

// appendUser adds what a person wrote: each message is one of its own unless the
// protocol cannot take two.
func appendUser(out []Message, m Message, merge bool) []Message {
	if merge {
		return appendMerged(out, m)
	}
	if len(m.Blocks) == 0 {
		return out
	}
	return append(out, m)
}

func bridged(msgs []Message) []Message {
	var out []Message
	for i, m := range msgs {
		if i > 0 && m.Role == RoleUser && msgs[i-1].Role == RoleTool {
			out = append(out, Text(RoleAssistant, bridge))
		}
		out = append(out, m)
	}
	return out
}
