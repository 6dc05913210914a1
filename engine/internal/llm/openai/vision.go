package openai

import (
	"context"
	"encoding/json"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

var _ llm.Seer = (*Client)(nil)

// listed is what lists of models say of what one takes: OpenRouter in architecture,
// Mistral as a capability, llama.cpp as another kind of capability.
type listed struct {
	ID           protocol.Text `json:"id"`
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
	Capabilities json.RawMessage `json:"capabilities"`
}

// Sees looks into the list of models and, at a server of the own network, into the
// properties that llama.cpp tells; see llm.Seer.
func (c *Client) Sees(ctx context.Context, model string) (yes, known bool) {
	var list struct {
		Data []listed `json:"data"`
	}
	if err := c.endpoint.Get(ctx, "/models", &list); err != nil {
		c.log.Debug("nothing known of what models see", "err", err)
	}
	for _, m := range list.Data {
		if string(m.ID) != model {
			continue
		}
		var can struct {
			Vision *bool `json:"vision"`
		}
		switch {
		case len(m.Architecture.Input) > 0:
			return slices.Contains(m.Architecture.Input, "image"), true
		case json.Unmarshal(m.Capabilities, &can) == nil && can.Vision != nil:
			return *can.Vision, true
		}
	}
	var props struct {
		Modalities *struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	if !protocol.Local(c.endpoint.Host()) || c.endpoint.Get(ctx, "/../props", &props) != nil || props.Modalities == nil {
		return false, false
	}
	return props.Modalities.Vision, true
}
