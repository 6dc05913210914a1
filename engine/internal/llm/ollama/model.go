package ollama

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"klawbot/engine/internal/llm/protocol"
)

// model is what a server says about one of its models.
type model struct {
	// known says that the server told what the model can.
	known        bool
	capabilities []string
	// window is how many tokens the model was made for, 0 for unknown.
	window int
}

func (m model) can(what string) bool { return slices.Contains(m.capabilities, what) }

// model asks once what a model can do. A server that does not say is asked
// again the next time; then nothing is known.
func (c *Client) model(ctx context.Context, name string) model {
	c.mu.Lock()
	m, ok := c.models[name]
	c.mu.Unlock()
	if ok {
		return m
	}
	m, err := c.show(ctx, name)
	if err != nil {
		c.log.Debug("nothing known of the model", "model", name, "err", err)
		return model{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.models[name] = m
	return m
}

func (c *Client) show(ctx context.Context, name string) (model, error) {
	question, err := json.Marshal(struct {
		Model string `json:"model"`
	}{name})
	if err != nil {
		return model{}, err
	}
	resp, err := c.endpoint.Post(ctx, "/api/show", question, c.endpoint.Patience(0, false))
	if err != nil {
		return model{}, err
	}
	defer resp.Close()
	var shown struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if err := resp.Decode(&shown); err != nil {
		return model{}, err
	}
	m := model{known: shown.Capabilities != nil, capabilities: shown.Capabilities}
	for key, value := range shown.Info {
		var n protocol.Count
		if strings.HasSuffix(key, ".context_length") && json.Unmarshal(value, &n) == nil {
			m.window = n.N
		}
	}
	return m, nil
}

// Sees asks the server what the model can do; see llm.Seer.
func (c *Client) Sees(ctx context.Context, name string) (yes, known bool) {
	m := c.model(ctx, name)
	return m.can("vision"), m.known
}
