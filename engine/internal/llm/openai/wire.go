package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
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
	Model   text            `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// Message and Detail are where some put errors, Object says so.
	Object  text            `json:"object"`
	Message text            `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index   text            `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"`
	Finish  text            `json:"finish_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	Content          content     `json:"content"`
	ReasoningContent text        `json:"reasoning_content"`
	Reasoning        text        `json:"reasoning"`
	ReasoningText    text        `json:"reasoning_text"`
	ReasoningDetails parts       `json:"reasoning_details"`
	Refusal          text        `json:"refusal"`
	ToolCalls        []deltaCall `json:"tool_calls"`
	FunctionCall     *function   `json:"function_call"`
}

type deltaCall struct {
	Index        text            `json:"index"`
	ID           text            `json:"id"`
	Function     function        `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      text `json:"name"`
	Arguments text `json:"arguments"`
}

// text is a string that may come as a number, a truth value, an object (then it
// is its JSON) or null (then it is empty).
type text string

// UnmarshalJSON accepts any JSON.
func (t *text) UnmarshalJSON(raw []byte) error {
	switch {
	case raw[0] == '"':
		return json.Unmarshal(raw, (*string)(t))
	case string(raw) == "null":
		*t = ""
	default:
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return err
		}
		*t = text(compact.String())
	}
	return nil
}

// content is a text, or a list of parts of which some are thinking.
type content struct {
	said    string
	thought string
}

// UnmarshalJSON accepts a string, null or a list of parts.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		var t text
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
	Text     text  `json:"text"`
	Summary  text  `json:"summary"`
	Thinking parts `json:"thinking"`
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
	Prompt     count   `json:"prompt_tokens"`
	Completion count   `json:"completion_tokens"`
	Details    details `json:"prompt_tokens_details"`
	CacheHit   count   `json:"prompt_cache_hit_tokens"`
	Cached     count   `json:"cached_tokens"`
}

// details of a usage may have any form; only one number in them is wanted.
type details struct{ cached count }

// UnmarshalJSON accepts any JSON.
func (d *details) UnmarshalJSON(raw []byte) error {
	var known struct {
		Cached count `json:"cached_tokens"`
	}
	if json.Unmarshal(raw, &known) == nil {
		d.cached = known.Cached
	}
	return nil
}

// count is a number of tokens that may be missing.
type count struct {
	n     int
	known bool
}

// UnmarshalJSON accepts a number, also as a string; anything else is missing.
func (c *count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && f >= 0 && f < 1e12 {
		*c = count{int(f), true}
	}
	return nil
}
