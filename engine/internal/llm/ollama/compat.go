package ollama

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// Compat says what is wanted of a server beyond the usual. The configuration
// overrides single fields by the JSON names.
type Compat struct {
	// NumCtx is the context window in tokens; 0 is the budget of the request,
	// at most what the model was made for.
	NumCtx int `json:"numCtx"`
	// Think switches thinking: true, false, or "low", "medium", "high"; empty
	// leaves it to the model.
	Think json.RawMessage `json:"think"`
	// KeepAlive is how long the server keeps the model loaded ("30m"); empty
	// leaves it to the server.
	KeepAlive string `json:"keepAlive"`
	// ReasoningReplay is which thinking goes back to the model.
	ReasoningReplay llm.Replay `json:"reasoningReplay"`
	// TextCalls takes a call that was printed as text for a call.
	TextCalls bool `json:"textCalls"`
	// Local says that models may have to be loaded first: slow to begin.
	Local bool `json:"local"`
	// FirstByteSeconds is how long the first byte may take; 0 is ten minutes
	// for local servers and the idle timeout for others.
	FirstByteSeconds int `json:"firstByteSeconds"`
	// Options are added to the options of every request (temperature, top_p).
	Options map[string]json.RawMessage `json:"options"`

	// opened says that the model begins in the middle of its thinking. It is learned.
	opened bool
}

func (c *Compat) override(fields json.RawMessage) error {
	if err := protocol.Override(c, fields); err != nil {
		return err
	}
	switch c.ReasoningReplay {
	case llm.ReplayNever, llm.ReplayToolTurns, llm.ReplayAll:
		return nil
	}
	return errors.New("compat: reasoningReplay is never, tool_turns or all")
}

// window is the context window to ask for, 0 to leave it to the server.
func (c Compat) window(r llm.Request, m model) int {
	switch {
	case c.NumCtx > 0:
		return c.NumCtx
	case m.window > 0 && r.Window > m.window:
		return m.window
	}
	return r.Window
}

const thinkField = "think"

// without reports whether requests can do without a feature.
func (c Compat) without(feature string) bool {
	_, option := c.Options[feature]
	return option || (feature == thinkField || feature == "thinking") && len(c.Think) > 0
}

// drop does without the features that a model refused.
func (c Compat) drop(refused []string) Compat {
	c.Options = maps.Clone(c.Options)
	c.opened = slices.Contains(refused, protocol.OpenedThinking)
	for _, feature := range refused {
		if feature == thinkField || feature == "thinking" {
			c.Think = nil
		}
		delete(c.Options, feature)
	}
	return c
}
