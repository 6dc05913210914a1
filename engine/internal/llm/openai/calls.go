package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

// partial is a call that is still coming.
type partial struct {
	index, id, name string
	arguments       strings.Builder
	extra           protocol.CallExtra
}

// whole reports whether the arguments are a complete JSON value.
func (p *partial) whole() bool {
	s := p.arguments.String()
	return s != "" && json.Valid([]byte(s))
}

// merge adds a piece to the call that it belongs to, or begins a new one.
func merge(calls []*partial, d deltaCall) []*partial {
	p := owner(calls, d)
	if p == nil {
		p = &partial{index: string(d.Index)}
		calls = append(calls, p)
	}
	if p.id == "" {
		p.id = string(d.ID)
	}
	switch name := string(d.Function.Name); {
	case p.name == "":
		p.name = name
	case name != p.name && p.arguments.Len() == 0:
		p.name += name // a name in pieces
	}
	p.extra.Add(d.extra)
	p.arguments.WriteString(string(d.Function.Arguments))
	return calls
}

// owner finds the call that a piece continues. Indexes are missing, shared and
// start anywhere; ids are missing, repeated in every piece and shared; names
// are repeated. What never happens is that a piece follows arguments that are
// complete, or brings another id.
func owner(calls []*partial, d deltaCall) *partial {
	id, name, arguments := string(d.ID), string(d.Function.Name), string(d.Function.Arguments)
	var p *partial
	for _, c := range slices.Backward(calls) {
		if d.Index != "" && c.index == string(d.Index) || d.Index == "" && id != "" && c.id == id {
			p = c
			break
		}
	}
	if p == nil && d.Index == "" && id == "" && len(calls) > 0 {
		p = calls[len(calls)-1]
		if name != "" && p.name != "" && name != p.name && p.arguments.Len() > 0 {
			return nil
		}
	}
	switch {
	case p == nil:
		return nil
	case id != "" && p.id != "" && id != p.id:
		return nil
	case name != "" && p.name != "" && p.whole() && (arguments != "" || name != p.name):
		return nil
	}
	return p
}

// finishCalls turns the pieces into calls, without those that have no name.
func finishCalls(partials []*partial, tools []llm.Tool, provider string) []llm.ToolCall {
	var calls []llm.ToolCall
	for _, p := range partials {
		c := llm.ToolCall{WireID: p.id, Provider: provider, Name: p.name, Extra: p.extra.Raw()}
		calls = append(calls, speech.Calls(c, p.arguments.String(), tools)...)
	}
	return calls
}

// wasCut reports whether the last call stops in the middle.
func wasCut(calls []llm.ToolCall) bool {
	return len(calls) > 0 && calls[len(calls)-1].Fault != ""
}
