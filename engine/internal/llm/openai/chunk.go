package openai

import (
	"encoding/json"
	"slices"
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
	// Progress is how far llama.cpp has read the request (return_progress).
	Progress struct {
		Total     int `json:"total"`
		Processed int `json:"processed"`
	} `json:"prompt_progress"`
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
	extra            extra
}

// UnmarshalJSON keeps what goes back as it came.
func (d *delta) UnmarshalJSON(raw []byte) error {
	type plain delta
	if err := json.Unmarshal(raw, (*plain)(d)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &d.extra)
}

// extra are the fields of a message that mean something to its provider only: they
// hold signatures.
type extra struct {
	Details  []map[string]json.RawMessage `json:"reasoning_details,omitempty"`
	Thoughts []map[string]json.RawMessage `json:"thinking_blocks,omitempty"`
	Content  map[string]json.RawMessage   `json:"extra_content,omitempty"`
	Specific map[string]json.RawMessage   `json:"provider_specific_fields,omitempty"`
}

// UnmarshalJSON accepts any JSON: a field of another form is left out.
func (e *extra) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for name, into := range map[string]any{
		"reasoning_details": &e.Details, "thinking_blocks": &e.Thoughts, "extra_content": &e.Content, "provider_specific_fields": &e.Specific,
	} {
		if value, ok := fields[name]; ok {
			_ = json.Unmarshal(value, into) // of another form, it is left out
		}
	}
	return nil
}

// add takes in what a piece of a stream brings.
func (e *extra) add(more extra) {
	e.Details, e.Thoughts = addPieces(e.Details, more.Details), addPieces(e.Thoughts, more.Thoughts)
	e.Content, e.Specific = setFields(e.Content, more.Content), setFields(e.Specific, more.Specific)
}

// addPieces continues the last of a list when it has the same type and index.
func addPieces(list, more []map[string]json.RawMessage) []map[string]json.RawMessage {
	for _, piece := range more {
		if n := len(list); n > 0 && string(list[n-1]["type"]) == string(piece["type"]) && string(list[n-1]["index"]) == string(piece["index"]) && piece["data"] == nil {
			list[n-1] = setFields(list[n-1], piece)
			continue
		}
		list = append(list, piece)
	}
	return list
}

// setFields sets what is known now; the texts grow.
func setFields(into, from map[string]json.RawMessage) map[string]json.RawMessage {
	if into == nil {
		return from
	}
	for name, value := range from {
		var before, after protocol.Text
		switch {
		case string(value) == "null" || string(value) == `""` && into[name] != nil:
		case slices.Contains([]string{"text", "summary", "thinking"}, name) && json.Unmarshal(value, &after) == nil && json.Unmarshal(into[name], &before) == nil:
			into[name] = protocol.Quote(string(before + after))
		default:
			into[name] = value
		}
	}
	return into
}

type deltaCall struct {
	Index    protocol.Text `json:"index"`
	ID       protocol.Text `json:"id"`
	Function function      `json:"function"`
	extra    protocol.CallExtra
}

// UnmarshalJSON keeps the fields that are not known.
func (d *deltaCall) UnmarshalJSON(raw []byte) error {
	type plain deltaCall
	if err := json.Unmarshal(raw, (*plain)(d)); err != nil {
		return err
	}
	d.extra = protocol.ReadCallExtra(raw)
	return nil
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

// parts is a list of typed pieces. Anything but a list is empty.
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
