package openai

import (
	"encoding/json"
	"strings"

	"klawbot/engine/internal/llm/protocol"
)

// The names under which models show their reasoning, in order of preference:
// some send it under two of them.
const (
	fieldReasoningContent = "reasoning_content"
	fieldReasoning        = "reasoning"
	fieldReasoningText    = "reasoning_text"
	fieldDetails          = "reasoning_details"
)

// chunk is a piece of a stream or a whole answer.
type chunk struct {
	Model   protocol.Text   `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// Message and Detail are where some put errors, Object says so.
	Object  protocol.Text   `json:"object"`
	Message protocol.Text   `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index   protocol.Text   `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"`
	Finish  protocol.Text   `json:"finish_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	Content          content       `json:"content"`
	ReasoningContent protocol.Text `json:"reasoning_content"`
	Reasoning        protocol.Text `json:"reasoning"`
	ReasoningText    protocol.Text `json:"reasoning_text"`
	ReasoningDetails parts         `json:"reasoning_details"`
	Refusal          protocol.Text `json:"refusal"`
	ToolCalls        []deltaCall   `json:"tool_calls"`
	FunctionCall     *function     `json:"function_call"`
}

type deltaCall struct {
	Index        protocol.Text   `json:"index"`
	ID           protocol.Text   `json:"id"`
	Function     function        `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      protocol.Text `json:"name"`
	Arguments protocol.Text `json:"arguments"`
}

// content is a text, or a list of parts of which some are thinking.
type content struct {
	said    string
	thought string
}

// UnmarshalJSON accepts a string, null or a list of parts.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		var t protocol.Text
		err := t.UnmarshalJSON(raw)
		c.said = string(t)
		return err
	}
	var p parts
	if err := p.UnmarshalJSON(raw); err != nil {
		return err
	}
	for _, part := range p {
		c.said += string(part.Text)
		for _, inner := range part.Thinking {
			c.thought += string(inner.Text)
		}
	}
	return nil
}

// parts is a list of typed pieces. Anything but a list is none.
type parts []part

type part struct {
	Text     protocol.Text `json:"text"`
	Summary  protocol.Text `json:"summary"`
	Thinking parts         `json:"thinking"`
}

// UnmarshalJSON accepts any JSON; a string is one part.
func (p *parts) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '[':
		return json.Unmarshal(raw, (*[]part)(p))
	case '"':
		one := part{}
		err := one.Text.UnmarshalJSON(raw)
		*p = parts{one}
		return err
	}
	return nil
}

func (p parts) text() string {
	var b strings.Builder
	for _, part := range p {
		b.WriteString(string(part.Text) + string(part.Summary))
	}
	return b.String()
}

// thinking returns what a delta thinks and the name it goes by.
func (d *delta) thinking() (string, string) {
	for _, f := range []struct{ text, name string }{
		{string(d.ReasoningContent), fieldReasoningContent},
		{string(d.Reasoning), fieldReasoning},
		{string(d.ReasoningText), fieldReasoningText},
		{d.ReasoningDetails.text(), fieldDetails},
		{d.Content.thought, fieldReasoningContent},
	} {
		if f.text != "" {
			return f.text, f.name
		}
	}
	return "", ""
}

// calls lists the pieces of calls, those of the older form too.
func (d *delta) calls() []deltaCall {
	if d.FunctionCall != nil && len(d.ToolCalls) == 0 {
		return []deltaCall{{Index: "0", Function: *d.FunctionCall}}
	}
	return d.ToolCalls
}

type usage struct {
	Prompt     protocol.Count `json:"prompt_tokens"`
	Completion protocol.Count `json:"completion_tokens"`
	Details    details        `json:"prompt_tokens_details"`
	CacheHit   protocol.Count `json:"prompt_cache_hit_tokens"`
	Cached     protocol.Count `json:"cached_tokens"`
}

// details of a usage may have any form; only one number in them is wanted.
type details struct{ cached protocol.Count }

// UnmarshalJSON accepts any JSON.
func (d *details) UnmarshalJSON(raw []byte) error {
	var known struct {
		Cached protocol.Count `json:"cached_tokens"`
	}
	if json.Unmarshal(raw, &known) == nil {
		d.cached = known.Cached
	}
	return nil
}
