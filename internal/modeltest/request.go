package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Dialect is a protocol that the fake speaks.
type Dialect string

// The dialects: chat completions, Messages and /api/chat.
const (
	OpenAI    Dialect = "openai"
	Anthropic Dialect = "anthropic"
	Ollama    Dialect = "ollama"
)

// Request is a request for a completion, as far as the fake understands it. One
// in another dialect is told in the words of chat completions.
type Request struct {
	Model         string    `json:"model"`
	Messages      []Message `json:"messages"`
	Tools         []Tool    `json:"tools,omitempty"`
	ToolChoice    string    `json:"tool_choice,omitempty"`
	Stream        bool      `json:"stream,omitempty"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options,omitempty"`
	MaxTokens           *int `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int `json:"max_completion_tokens,omitempty"`
	// Window is Ollama's num_ctx.
	Window  *int    `json:"num_ctx,omitempty"`
	Dialect Dialect `json:"-"`
	// Body is the request as it came, At when all of it was there.
	Body []byte    `json:"-"`
	At   time.Time `json:"-"`
}

// Message is one message of a request.
type Message struct {
	Role string `json:"role"`
	// Content is a string or null; empty when the key is missing. A list of parts is read
	// as a string and Pictures.
	Content          json.RawMessage `json:"content,omitempty"`
	ToolCalls        []ToolCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Pictures         []Picture       `json:"pictures,omitempty"`
}

// ToolCall is a call in a message of the assistant.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Tool is a tool that a request offers.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// Text is the content of a message, empty for null.
func (m Message) Text() string {
	var text string
	if json.Unmarshal(m.Content, &text) != nil {
		return ""
	}
	return text
}

// Last is the last message. A request that the fake takes has one.
func (r Request) Last() Message { return r.Messages[len(r.Messages)-1] }

// LastUser is the text of the last message of the user, empty for none.
func (r Request) LastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Text()
		}
	}
	return ""
}

// System is the system prompt, empty for none.
func (r Request) System() string {
	if len(r.Messages) > 0 && r.Messages[0].Role == "system" {
		return r.Messages[0].Text()
	}
	return ""
}

const maxBody = 32 << 20

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the body ends early: %w", err)
	case len(body) > maxBody:
		return nil, errors.New("the body is too large")
	}
	return body, nil
}

func readRequest(r *http.Request) (Request, error) {
	body, err := readBody(r)
	req := Request{Dialect: OpenAI, Body: body, At: time.Now()}
	if err != nil {
		return req, err
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return req, fmt.Errorf("could not parse the JSON body of your request: %w", err)
	}
	for i := range req.Messages {
		req.Messages[i].Pictures = nil // only those in the content count
		if err := req.Messages[i].readParts(); err != nil {
			return req, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return req, nil
}
