package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// messagesRequest is a request of Anthropic's Messages API.
type messagesRequest struct {
	Model      string            `json:"model"`
	MaxTokens  int               `json:"max_tokens"`
	System     []messagesBlock   `json:"system"`
	Messages   []messagesMessage `json:"messages"`
	Tools      []messagesTool    `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Temperature *float64 `json:"temperature"`
	Stream      bool     `json:"stream"`
}

type messagesMessage struct {
	Role    string          `json:"role"`
	Content []messagesBlock `json:"content"`
}

type messagesBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text,omitempty"`
	Thinking  *string          `json:"thinking,omitempty"`
	Signature string           `json:"signature,omitempty"`
	Data      string           `json:"data,omitempty"`
	ID        string           `json:"id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Input     json.RawMessage  `json:"input,omitempty"`
	ToolUseID string           `json:"tool_use_id,omitempty"`
	ToolName  string           `json:"tool_name,omitempty"`
	Content   *messagesContent `json:"content,omitempty"`
	Source    *messagesSource  `json:"source,omitempty"`
	Cache     json.RawMessage  `json:"cache_control,omitempty"`
}

// messagesSource is where a picture is.
type messagesSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// picture reads the picture of a block.
func (b messagesBlock) picture() (Picture, error) {
	if b.Source == nil || b.Source.Type != "base64" || b.Source.MediaType == "" {
		return Picture{}, errors.New("image.source: a base64 source with its media_type is expected")
	}
	return readPicture(b.Source.MediaType, b.Source.Data)
}

// messagesContent is the content of a result: a text, or a list of texts and pictures, or
// of tools that are defined here.
type messagesContent struct {
	text       string
	pictures   []Picture
	references []string
}

// UnmarshalJSON takes both forms.
func (c *messagesContent) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return json.Unmarshal(raw, &c.text)
	}
	var blocks []messagesBlock
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			c.text += b.Text
		case "image":
			p, err := b.picture()
			if err != nil {
				return err
			}
			c.pictures = append(c.pictures, p)
		case "tool_reference":
			c.references = append(c.references, b.ToolName)
			c.text += "## " + b.ToolName + "\n" // its definition
		default:
			return fmt.Errorf("tool_result.content: unknown block %q", b.Type)
		}
	}
	if n := len(c.references); n > 0 && n < len(blocks) {
		return errors.New("tool_result.content: tool_reference blocks stand alone")
	}
	return nil
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	Deferred    bool            `json:"defer_loading"`
	Cache       json.RawMessage `json:"cache_control"`
}

// messages answers POST /v1/messages.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	req, err := s.readMessages(r)
	s.reply(w, r, req, err)
}

func (s *Server) readMessages(r *http.Request) (Request, error) {
	body, err := readBody(r)
	req := Request{Dialect: Anthropic, Body: body}
	if err != nil {
		return req, err
	}
	var m messagesRequest
	if err := json.Unmarshal(body, &m); err != nil {
		return req, fmt.Errorf("could not parse the JSON body of your request: %w", err)
	}
	if r.Header.Get("Anthropic-Version") == "" {
		return req, errors.New("anthropic-version: header is required")
	}
	if err := m.validate(); err != nil {
		return req, err
	}
	m.into(&req)
	return req, req.validate()
}

// into writes the request in the words of the other protocol.
func (m messagesRequest) into(req *Request) {
	req.Model, req.MaxTokens, req.Stream = m.Model, &m.MaxTokens, m.Stream
	if m.ToolChoice != nil {
		req.ToolChoice = m.ToolChoice.Type
	}
	for _, t := range m.Tools {
		var tool Tool
		tool.Type = "function"
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.InputSchema
		req.Tools = append(req.Tools, tool)
	}
	for _, b := range m.System {
		req.Messages = append(req.Messages, Message{Role: "system", Content: quoted(b.Text)})
	}
	for _, msg := range m.Messages {
		req.Messages = append(req.Messages, msg.split()...)
	}
}

// split makes the messages that the other protocol has for one: the results of
// calls are messages of their own there.
func (m messagesMessage) split() []Message {
	var out []Message
	var texts []string
	said := Message{Role: m.Role}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "thinking":
			said.ReasoningContent += *b.Thinking
		case "tool_use":
			c := ToolCall{ID: b.ID, Type: "function"}
			c.Function.Name, c.Function.Arguments = b.Name, string(b.Input)
			said.ToolCalls = append(said.ToolCalls, c)
		case "tool_result":
			result := Message{Role: "tool", ToolCallID: b.ToolUseID, Content: quoted("")}
			if b.Content != nil {
				result.Content, result.Pictures = quoted(b.Content.text), b.Content.pictures
			}
			out = append(out, result)
		case "image":
			p, _ := b.picture() // validated
			said.Pictures = append(said.Pictures, p)
		}
	}
	if len(texts) > 0 || len(said.Pictures) > 0 || m.Role == "assistant" {
		said.Content = quoted(strings.Join(texts, "\n\n"))
		out = append(out, said)
	}
	return out
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always marshals
	return raw
}

var messagesID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// maxBreakpoints is how many blocks may ask to be cached.
const maxBreakpoints = 4

// validate refuses what the API refuses and the other protocol does not know.
func (m messagesRequest) validate() error {
	switch {
	case m.MaxTokens <= 0:
		return errors.New("max_tokens: field required")
	case m.Thinking != nil && m.Thinking.Budget < 1024:
		return errors.New("thinking.enabled.budget_tokens: must be at least 1024")
	case m.Thinking != nil && m.Thinking.Budget >= m.MaxTokens:
		return errors.New("max_tokens must be greater than thinking.budget_tokens")
	case m.Thinking != nil && m.Temperature != nil && *m.Temperature != 1:
		return errors.New("temperature may only be set to 1 when thinking is enabled")
	case m.breakpoints() > maxBreakpoints:
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", m.breakpoints())
	case len(m.Messages) == 0 || m.Messages[0].Role != "user":
		return errors.New("messages: first message must use the user role")
	}
	for i, msg := range m.Messages {
		if err := m.validateMessage(i, msg); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return nil
}

func (m messagesRequest) breakpoints() int {
	n := 0
	count := func(cache json.RawMessage) {
		if len(cache) > 0 {
			n++
		}
	}
	for _, t := range m.Tools {
		if count(t.Cache); t.Deferred && len(t.Cache) > 0 {
			return maxBreakpoints + 1 // no beginning ends there
		}
	}
	for _, b := range m.System {
		count(b.Cache)
	}
	for _, msg := range m.Messages {
		for _, b := range msg.Content {
			count(b.Cache)
		}
	}
	return n
}

func (m messagesRequest) validateMessage(i int, msg messagesMessage) error {
	switch {
	case msg.Role != "user" && msg.Role != "assistant":
		return fmt.Errorf("unexpected role %q", msg.Role)
	case i > 0 && m.Messages[i-1].Role == msg.Role:
		return fmt.Errorf("role %q twice in a row", msg.Role)
	case len(msg.Content) == 0:
		return errors.New("content must not be empty")
	}
	last := msg.Content[len(msg.Content)-1]
	if i == len(m.Messages)-1 && msg.Role == "assistant" && last.Text != strings.TrimRightFunc(last.Text, unicode.IsSpace) {
		return errors.New("final assistant content cannot end with trailing whitespace")
	}
	if m.Thinking != nil && i == len(m.Messages)-2 && slices.ContainsFunc(msg.Content, isUse) && !isThinking(msg.Content[0]) {
		return fmt.Errorf("expected thinking or redacted_thinking, but found %s", msg.Content[0].Type)
	}
	text := false
	for _, b := range msg.Content {
		if b.Type == "tool_result" && text {
			return errors.New("tool_result blocks must come first")
		}
		text = text || b.Type == "text" || b.Type == "image"
		if err := m.validateBlock(msg.Role, b); err != nil {
			return err
		}
	}
	return nil
}

func isUse(b messagesBlock) bool { return b.Type == "tool_use" }

func isThinking(b messagesBlock) bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

func (m messagesRequest) validateBlock(role string, b messagesBlock) error {
	if b.Type == "image" {
		if role != "user" {
			return errors.New("an image in a message of the assistant")
		}
		_, err := b.picture()
		return err
	}
	switch {
	case (b.Type == "tool_result") && role != "user" || (isUse(b) || isThinking(b)) && role != "assistant":
		return fmt.Errorf("a %s in a message of the %s", b.Type, role)
	case b.Type == "text" && strings.TrimSpace(b.Text) == "":
		return errors.New("text content blocks must be non-empty")
	case isUse(b) && !messagesID.MatchString(b.ID):
		return fmt.Errorf("tool_use.id: %q should match %s", b.ID, messagesID)
	case isUse(b) && len(m.Tools) == 0:
		return errors.New("requests which include tool_use blocks must define tools")
	case b.Type == "thinking" && (b.Thinking == nil || b.Signature != signature(*b.Thinking)):
		return errors.New("invalid signature in thinking block")
	case b.Type == "redacted_thinking" && b.Data == "":
		return errors.New("redacted_thinking.data: field required")
	case !isUse(b) && !isThinking(b) && b.Type != "text" && b.Type != "tool_result":
		return fmt.Errorf("unknown block %q", b.Type)
	}
	if b.Content == nil {
		return nil
	}
	for _, name := range b.Content.references {
		if !slices.ContainsFunc(m.Tools, func(t messagesTool) bool { return t.Name == name && t.Deferred }) {
			return fmt.Errorf("tool reference %q not found in available tools", name)
		}
	}
	return nil
}

// signature is what the fake signs thinking with; it takes back no other.
func signature(thinking string) string {
	sum := sha256.Sum256([]byte(thinking))
	return "sig-" + hex.EncodeToString(sum[:12])
}
