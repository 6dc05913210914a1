package anthropic

import (
	"encoding/json"
	"errors"
	"maps"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// Compat says how an endpoint and what is wanted of it differ from the rest. The
// configuration overrides single fields by the JSON names.
type Compat struct {
	// ThinkingTokens lets the model think with up to so many tokens of its
	// answer; 0 leaves thinking to the model. It is at least 1024.
	ThinkingTokens int `json:"thinkingTokens"`
	// ReasoningReplay is which thinking goes back to the model.
	ReasoningReplay llm.Replay `json:"reasoningReplay"`
	// Cache marks what is worth keeping for the next request.
	Cache bool `json:"cache"`
	// DeferTools says that the endpoint takes tools whose definitions stand where they
	// were found (defer_loading).
	DeferTools bool `json:"deferTools"`
	// ToolChoiceNone says that the endpoint knows tool_choice "none".
	ToolChoiceNone bool `json:"toolChoiceNone"`
	// TextCalls takes a call that was printed as text for a call.
	TextCalls bool `json:"textCalls"`
	// Local says that the endpoint is on the own machine or network: slow to begin.
	Local bool `json:"local"`
	// FirstByteSeconds is how long the first byte may take; 0 is ten minutes
	// for local endpoints and the idle timeout for others.
	FirstByteSeconds int `json:"firstByteSeconds"`
	// ExtraBody is added to every request (temperature, thinking, metadata).
	ExtraBody map[string]json.RawMessage `json:"extraBody"`

	// opened says that the model begins in the middle of its thinking. It is learned.
	opened bool
}

// The names of what a model may refuse.
const (
	thinkingField = "thinking"
	temperature   = "temperature"
	toolChoice    = "tool_choice"
	// leastThinking is the smallest budget that the API takes, and what is
	// left for the words.
	leastThinking = 1024
)

// detect says what is known of an endpoint.
func detect(host string) Compat {
	return Compat{ReasoningReplay: llm.ReplayAll, Cache: true, DeferTools: host == "api.anthropic.com", ToolChoiceNone: true, TextCalls: true, Local: protocol.Local(host)}
}

func (c *Compat) override(fields json.RawMessage) error {
	if err := protocol.Override(c, fields); err != nil {
		return err
	}
	switch c.ReasoningReplay {
	case llm.ReplayNever, llm.ReplayToolTurns, llm.ReplayAll:
	default:
		return errors.New("compat: reasoningReplay is never, tool_turns or all")
	}
	if c.ThinkingTokens != 0 && c.ThinkingTokens < leastThinking {
		return errors.New("compat: thinkingTokens is 0 or at least 1024")
	}
	return nil
}

// without reports whether requests can do without a feature.
func (c Compat) without(feature string) bool {
	_, extra := c.ExtraBody[feature]
	return extra || feature == thinkingField && c.ThinkingTokens > 0 || feature == toolChoice && c.ToolChoiceNone ||
		feature == protocol.Deferral && c.DeferTools || feature == protocol.Signature && c.ReasoningReplay != llm.ReplayNever
}

// drop does without the features that a model refused.
func (c Compat) drop(refused []string) Compat {
	c.ExtraBody = maps.Clone(c.ExtraBody)
	for _, feature := range refused {
		switch feature {
		case thinkingField:
			c.ThinkingTokens = 0
		case toolChoice:
			c.ToolChoiceNone = false
		case protocol.Deferral:
			c.DeferTools = false
		case protocol.OpenedThinking:
			c.opened = true
		case protocol.Signature:
			c.ReasoningReplay = llm.ReplayNever
		}
		delete(c.ExtraBody, feature)
	}
	return c
}
