package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

// block is a piece of content on its way out.
type block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	// Thinking may be empty, but not missing: models may hide what they think
	// and only sign it.
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	ToolName  string          `json:"tool_name,omitempty"`
	// Content of a result is a text, or blocks where there are pictures.
	Content      any           `json:"content,omitempty"`
	Source       *source       `json:"source,omitempty"`
	IsError      bool          `json:"is_error,omitempty"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`

	// raw stands for the whole block.
	raw   json.RawMessage
	extra protocol.CallExtra
}

// MarshalJSON writes raw when it is set, and adds extra.
func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain block
	body, err := json.Marshal(plain(b))
	if err != nil {
		return nil, err
	}
	return b.extra.Into(body)
}

// source is a picture.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

func encodeImage(pictures map[string]string, i llm.Image) block {
	return block{Type: "image", Source: &source{"base64", i.MIME, pictures[i.Sum]}}
}

// part is a piece of content that arrives.
type part struct {
	kind      string
	text      strings.Builder // of a text, or of thinking
	speech    *speech.Speech  // of a text
	printed   []speech.Printed
	extra     protocol.CallExtra
	signature string
	redacted  string
	id, name  string
	input     strings.Builder // in pieces
	begun     json.RawMessage // the input, or the whole unknown block, at its start
}

// started is the block of a content_block_start, or of an answer in one piece.
type started struct {
	Type      protocol.Text   `json:"type"`
	Text      protocol.Text   `json:"text"`
	Thinking  protocol.Text   `json:"thinking"`
	Signature protocol.Text   `json:"signature"`
	Data      protocol.Text   `json:"data"`
	ID        protocol.Text   `json:"id"`
	Name      protocol.Text   `json:"name"`
	Input     json.RawMessage `json:"input"`
}

func newPart(raw json.RawMessage) (*part, error) {
	var s started
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	p := &part{
		kind: string(s.Type), signature: string(s.Signature), redacted: string(s.Data),
		id: string(s.ID), name: string(s.Name), begun: s.Input,
	}
	p.text.WriteString(string(s.Text) + string(s.Thinking))
	switch {
	case !p.known():
		p.begun = raw
	case p.kind == "tool_use":
		p.extra = protocol.ReadCallExtra(raw, "name", "input")
	}
	return p, nil
}

func (p *part) known() bool {
	switch p.kind {
	case "text", "thinking", "redacted_thinking", "tool_use":
		return true
	}
	return false
}

// arguments are the input of a call as text: the pieces, or what stood there at
// the start when there were none.
func (p *part) arguments() string {
	if p.input.Len() > 0 {
		return p.input.String()
	}
	return string(p.begun)
}

// blocks are the part as pieces of a message.
func (p *part) blocks(provider string, r llm.Request) []llm.Block {
	t := &llm.Thinking{Text: p.text.String(), Signature: p.signature, Provider: provider, Model: r.Model}
	var calls []llm.ToolCall
	var blocks []llm.Block
	switch p.kind {
	case "thinking":
		return []llm.Block{{Thinking: t}}
	case "redacted_thinking":
		t.Redacted = p.redacted
		return []llm.Block{{Thinking: t}}
	case "text":
		if p.speech != nil { // thinking in tags is not signed, so it cannot go back
			blocks = slices.DeleteFunc(p.speech.Blocks(llm.Thinking{}), func(b llm.Block) bool { return b.Thinking != nil })
		}
		calls = speech.PrintedCalls(p.printed, r.Tools, provider)
	case "tool_use":
		c := llm.ToolCall{WireID: p.id, Provider: provider, Name: p.name, Extra: p.extra.Raw()}
		calls = speech.Calls(c, p.arguments(), r.Tools)
	}
	for _, c := range calls {
		blocks = append(blocks, llm.Block{Call: &c})
	}
	return blocks
}

// raw is the part as it came, for an answer that is continued.
func (p *part) raw() json.RawMessage {
	var out any
	text := p.text.String()
	switch p.kind {
	case "text":
		out = block{Type: p.kind, Text: text}
	case "thinking":
		out = block{Type: p.kind, Thinking: &text, Signature: p.signature}
	case "redacted_thinking":
		out = block{Type: p.kind, Data: p.redacted}
	case "tool_use":
		arguments, _ := speech.Arguments(p.arguments())
		out = block{Type: p.kind, ID: p.id, Name: p.name, Input: json.RawMessage(arguments)}
	default:
		if p.input.Len() > 0 && json.Valid([]byte(p.input.String())) {
			if whole, err := protocol.Extend(p.begun, map[string]json.RawMessage{"input": json.RawMessage(p.input.String())}); err == nil {
				return whole
			}
		}
		return p.begun
	}
	raw, err := json.Marshal(out)
	if err != nil { // a call whose arguments aren't JSON cannot be continued
		return p.begun
	}
	return raw
}
