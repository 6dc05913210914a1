package ollama

import (
	"encoding/json"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

type wireRequest struct {
	Model     string                     `json:"model"`
	Messages  []wireMessage              `json:"messages"`
	Tools     []wireTool                 `json:"tools,omitempty"`
	Stream    bool                       `json:"stream"` // true when it is missing
	Think     json.RawMessage            `json:"think,omitempty"`
	KeepAlive string                     `json:"keep_alive,omitempty"`
	Options   map[string]json.RawMessage `json:"options,omitempty"`
}

type wireMessage struct {
	Role     string     `json:"role"`
	Content  string     `json:"content"`
	Images   []string   `json:"images,omitempty"`
	Thinking string     `json:"thinking,omitempty"`
	Calls    []wireCall `json:"tool_calls,omitempty"`
	ToolName string     `json:"tool_name,omitempty"`
	CallID   string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id,omitempty"`
	Function wireFunction `json:"function"`
	extra    protocol.CallExtra
}

// MarshalJSON adds extra.
func (c wireCall) MarshalJSON() ([]byte, error) {
	type plain wireCall
	body, err := json.Marshal(plain(c))
	if err != nil {
		return nil, err
	}
	return c.extra.Into(body)
}

type wireFunction struct {
	Name string `json:"name"`
	// Arguments is an object here, not a string.
	Arguments json.RawMessage `json:"arguments"`
}

type wireTool struct {
	Type     string          `json:"type"`
	Function wireDeclaration `json:"function"`
}

type wireDeclaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode writes the body of a request. Calls cannot be forbidden here, so tools
// that must not be called are not named.
func encode(provider string, c Compat, window int, r llm.Request) ([]byte, error) {
	read, pictures := protocol.Pictures(r)
	msgs := llm.Normalize(read, llm.Shape{
		Provider: provider, Model: r.Model, Replay: c.ReasoningReplay, MergeUsers: true, PicturesApart: true,
	})
	w := wireRequest{Model: r.Model, Stream: r.Stream, Think: c.Think, KeepAlive: c.KeepAlive, Options: map[string]json.RawMessage{}}
	setOption(w.Options, "num_ctx", window)
	setOption(w.Options, "num_predict", r.MaxTokens)
	for name, value := range c.Options {
		w.Options[name] = value
	}
	if !r.NoTools {
		for _, t := range r.Tools {
			w.Tools = append(w.Tools, wireTool{"function", wireDeclaration{t.Name, t.Description, protocol.Schema(t.Parameters, protocol.Grammar)}})
		}
	}
	if strings.TrimSpace(r.System) != "" {
		w.Messages = append(w.Messages, wireMessage{Role: "system", Content: r.System})
	}
	ids := protocol.NewIDs("", msgs)
	for _, m := range msgs {
		w.Messages = append(w.Messages, encodeMessage(ids, pictures, m)...)
	}
	return json.Marshal(w)
}

func setOption(options map[string]json.RawMessage, name string, n int) {
	if n > 0 {
		options[name], _ = json.Marshal(n) // a number always marshals
	}
}

func encodeMessage(ids protocol.IDs, pictures map[string]string, m llm.Message) []wireMessage {
	switch m.Role {
	case llm.RoleTool:
		var out []wireMessage
		for _, b := range m.Blocks {
			out = append(out, wireMessage{Role: "tool", Content: b.Result.Text, ToolName: b.Result.Name, CallID: ids[b.Result.CallID]})
		}
		return out
	case llm.RoleAssistant:
		return []wireMessage{encodeAssistant(ids, m)}
	}
	user := wireMessage{Role: "user", Content: protocol.Join(m)}
	for i := range llm.Pictures([]llm.Message{m}) {
		user.Images = append(user.Images, pictures[i.Sum])
	}
	return []wireMessage{user}
}

func encodeAssistant(ids protocol.IDs, m llm.Message) wireMessage {
	w := wireMessage{Role: "assistant", Content: protocol.Join(m)}
	for _, b := range m.Blocks {
		if b.Thinking != nil {
			w.Thinking += b.Thinking.Text
		}
	}
	for _, c := range m.Calls() {
		w.Calls = append(w.Calls, wireCall{ids[c.ID], wireFunction{c.Name, json.RawMessage(c.Arguments)}, protocol.StoredExtra(c.Extra)})
	}
	return w
}
