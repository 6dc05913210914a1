package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

type wireRequest struct {
	Model               string       `json:"model"`
	Messages            []any        `json:"messages"`
	Tools               []wireTool   `json:"tools,omitempty"`
	ToolChoice          string       `json:"tool_choice,omitempty"`
	Stream              bool         `json:"stream,omitempty"`
	StreamOptions       *usageOption `json:"stream_options,omitempty"`
	MaxTokens           int          `json:"max_tokens,omitempty"`
	MaxCompletionTokens int          `json:"max_completion_tokens,omitempty"`
}

type usageOption struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role string `json:"role"`
	// Content is a JSON string, a list of parts where there are pictures, or null; nil
	// leaves the key out.
	Content          json.RawMessage `json:"content,omitempty"`
	ReasoningContent *string         `json:"reasoning_content,omitempty"`
	Reasoning        *string         `json:"reasoning,omitempty"`
	ReasoningText    *string         `json:"reasoning_text,omitempty"`
	ToolCalls        []wireCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`

	// extra are fields that go back as they came.
	extra map[string]json.RawMessage
}

// plainMessage is a message without extra: what MarshalJSON brings is read again, and most
// messages need none.
type plainMessage wireMessage

// MarshalJSON adds extra.
func (m wireMessage) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(plainMessage(m))
	if err != nil {
		return nil, err
	}
	return protocol.Extend(body, m.extra)
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
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
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
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

// encode writes the body of a request.
func encode(provider string, c Compat, r llm.Request) ([]byte, error) {
	read, pictures := protocol.Pictures(r)
	msgs := llm.Normalize(read, llm.Shape{
		Provider: provider, Model: r.Model, Replay: c.ReasoningReplay, BridgeAfterTool: c.BridgeAfterTool,
		MergeUsers: c.MergeSameRole, PicturesApart: true,
	})
	w := wireRequest{Model: r.Model, Stream: r.Stream, Tools: declare(c, r)}
	if r.NoTools && c.ToolChoiceNone && len(w.Tools) > 0 {
		w.ToolChoice = "none"
	}
	if r.Stream && c.StreamUsage {
		w.StreamOptions = &usageOption{IncludeUsage: true}
	}
	if c.MaxTokensField == maxCompletionTokens {
		w.MaxCompletionTokens = r.MaxTokens
	} else {
		w.MaxTokens = r.MaxTokens
	}
	if strings.TrimSpace(r.System) != "" {
		w.Messages = append(w.Messages, wireMessage{Role: "system", Content: protocol.Quote(r.System)})
	}
	ids := protocol.NewIDs(c.ToolIDFormat, msgs)
	for _, m := range msgs {
		for _, wire := range encodeMessage(c, ids, pictures, m) {
			if len(wire.extra) > 0 {
				w.Messages = append(w.Messages, wire)
			} else {
				w.Messages = append(w.Messages, plainMessage(wire))
			}
		}
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	return protocol.Extend(body, c.ExtraBody)
}

// declare lists the tools. Where calls cannot be forbidden, tools that no
// message names are kept back instead.
func declare(c Compat, r llm.Request) []wireTool {
	named := slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return len(m.Calls()) > 0 })
	if r.NoTools && !c.ToolChoiceNone && !named {
		return nil
	}
	var out []wireTool
	for _, t := range r.Tools {
		out = append(out, wireTool{"function", wireDeclaration{t.Name, t.Description, protocol.Schema(t.Parameters, c.SchemaDialect)}})
	}
	return out
}

func encodeMessage(c Compat, ids protocol.IDs, pictures map[string]string, m llm.Message) []wireMessage {
	switch m.Role {
	case llm.RoleTool:
		var out []wireMessage
		for _, b := range m.Blocks {
			out = append(out, wireMessage{Role: "tool", ToolCallID: ids[b.Result.CallID], Content: protocol.Quote(b.Result.Text)})
		}
		return out
	case llm.RoleAssistant:
		return []wireMessage{encodeAssistant(c, ids, m)}
	}
	return []wireMessage{{Role: "user", Content: userContent(pictures, m)}}
}

type wirePart struct {
	Type  string        `json:"type"`
	Text  string        `json:"text,omitempty"`
	Image *wireImageURL `json:"image_url,omitempty"`
}

type wireImageURL struct {
	URL string `json:"url"`
}

// userContent is a string, which every server takes, or the parts of a message with
// pictures, in their order.
func userContent(pictures map[string]string, m llm.Message) json.RawMessage {
	if !llm.HasPictures([]llm.Message{m}) {
		return protocol.Quote(protocol.Join(m))
	}
	var parts []wirePart
	for _, b := range m.Blocks {
		switch n := len(parts); {
		case b.Image != nil:
			url := "data:" + b.Image.MIME + ";base64," + pictures[b.Image.Sum]
			parts = append(parts, wirePart{Type: "image_url", Image: &wireImageURL{url}})
		case n > 0 && parts[n-1].Image == nil:
			parts[n-1].Text += "\n\n" + b.Text
		default:
			parts = append(parts, wirePart{Type: "text", Text: b.Text})
		}
	}
	content, _ := json.Marshal(parts) // strings always marshal
	return content
}

func encodeAssistant(c Compat, ids protocol.IDs, m llm.Message) wireMessage {
	w := wireMessage{Role: "assistant"}
	for _, call := range m.Calls() {
		w.ToolCalls = append(w.ToolCalls, wireCall{
			ID: ids[call.ID], Type: "function", Function: wireFunction{call.Name, call.Arguments}, extra: protocol.StoredExtra(call.Extra),
		})
	}
	switch text := protocol.Join(m); {
	case text != "":
		w.Content = protocol.Quote(text)
	case c.ContentEmpty == "empty":
		w.Content = protocol.Quote("")
	case c.ContentEmpty != "omit":
		w.Content = json.RawMessage("null")
	}
	w.replay(c, m)
	w.giveBack(c, m)
	return w
}

// giveBack adds what came with the message. Thinking that it holds goes back where
// other thinking does, and with calls, whose signatures it may bear.
func (w *wireMessage) giveBack(c Compat, m llm.Message) {
	for _, b := range m.Blocks {
		if b.Extra == nil || json.Unmarshal(b.Extra.Fields, &w.extra) != nil {
			continue
		}
		if len(w.ToolCalls) == 0 && c.ReasoningReplay != llm.ReplayAll && c.ReasoningReplay != llm.ReplayNonempty {
			delete(w.extra, fieldDetails)
			delete(w.extra, "thinking_blocks")
		}
		if w.extra[fieldDetails] != nil { // they hold it already
			w.Reasoning, w.ReasoningText, w.ReasoningContent = nil, nil, nil
		}
	}
}

// replay sets the thinking under the name that it came with.
func (w *wireMessage) replay(c Compat, m llm.Message) {
	var thought, field string
	for _, b := range m.Blocks {
		if b.Thinking != nil {
			thought += b.Thinking.Text
			field = b.Thinking.Field
		}
	}
	if thought == "" {
		if c.ReasoningReplay != llm.ReplayNonempty {
			return
		}
		thought = " " // there must be some, and "" counts as none
	}
	switch field {
	case fieldReasoning, fieldDetails:
		w.Reasoning = &thought
	case fieldReasoningText:
		w.ReasoningText = &thought
	default:
		w.ReasoningContent = &thought
	}
}
