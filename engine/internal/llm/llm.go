// Package llm holds the words of a model call: what is asked, what streams
// back, what went wrong. The protocols live in sub-packages and know
// nothing of each other; normalising a history for a protocol and retrying are here
// because every protocol needs them alike. The package decides nothing about chats,
// tools or turns.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Provider speaks one protocol with one endpoint.
type Provider interface {
	// Stream asks for one answer and hands its pieces to sink while they
	// arrive; sink is not called after Stream returned. When the request
	// does not stream, sink gets the whole text at once. An answer is asked
	// for exactly once; only a request that was refused for a parameter goes
	// out again, without the parameter, and one that met a connection which
	// was closed, on a new one. The error is an *Error or ctx's; then the
	// Result holds the Usage and nothing else.
	Stream(ctx context.Context, r Request, sink func(Event)) (Result, error)
	// Check asks the endpoint whether it is there and takes the key (GET
	// /models), without a completion.
	Check(ctx context.Context) error
}

// Role is who speaks in a message.
type Role string

// The roles. The system prompt isn't a message: it is in Request.System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	// RoleTool messages hold ToolResult blocks, in the order of the calls.
	RoleTool Role = "tool"
)

// Message is one message of a conversation, the same for all providers. It is
// stored as JSON.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Text is a message of one text block.
func Text(r Role, text string) Message {
	return Message{Role: r, Blocks: []Block{{Text: text}}}
}

// Block is a piece of a message. Exactly one of its fields is set.
type Block struct {
	Text     string      `json:"text,omitempty"`
	Thinking *Thinking   `json:"thinking,omitempty"`
	Call     *ToolCall   `json:"call,omitempty"`
	Result   *ToolResult `json:"result,omitempty"`
	Extra    *Extra      `json:"extra,omitempty"`
	Image    *Image      `json:"image,omitempty"`
}

// Extra is what a provider sent beside what is known of a message, such as signatures.
// It goes back as it came, to the provider and model that it came from.
type Extra struct {
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	Fields   json.RawMessage `json:"fields"`
}

// Thinking is reasoning that a model showed. It goes back only to the provider
// and model it came from.
type Thinking struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
	// Field is the protocol's name for it ("reasoning_content").
	Field    string `json:"field,omitempty"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// ToolCall is a model's wish to call a tool.
type ToolCall struct {
	// ID is ours, unique for ever. It is empty until the engine mints it.
	ID string `json:"id"`
	// WireID is the model's own id, echoed to the provider that made it.
	WireID string `json:"wire_id,omitempty"`
	// Provider made WireID and Extra; no other one gets them back.
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name"`
	// Arguments is a JSON object, or whatever the model wrote instead; then
	// Fault says what is wrong with it and the call must not run.
	Arguments string `json:"arguments"`
	Fault     string `json:"fault,omitempty"`
	// Extra is an opaque blob of the provider, echoed verbatim.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// ToolResult answers a ToolCall by its ID.
type ToolResult struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
	// Others says that the text may hold words of people who are no owners.
	Others bool `json:"others,omitempty"`
	// Images come with the text.
	Images []Image `json:"images,omitempty"`
}

// PlainText joins the text blocks.
func (m Message) PlainText() string {
	var s string
	for _, b := range m.Blocks {
		s += b.Text
	}
	return s
}

// Calls lists the tool calls.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, b := range m.Blocks {
		if b.Call != nil {
			calls = append(calls, *b.Call)
		}
	}
	return calls
}

// Request is one model call.
type Request struct {
	// Model is the provider's name for the model.
	Model    string
	System   string
	Messages []Message
	// Tools are offered to the model; NoTools keeps them in the request,
	// because the history may name them, but forbids new calls: calls that the
	// model still makes are not in the Result.
	Tools   []Tool
	NoTools bool
	// MaxTokens bounds the answer; 0 leaves it to the provider.
	MaxTokens int
	// Window is how many tokens the request and its answer may take together,
	// for providers that have to be told; 0 leaves it to the provider.
	Window int
	// Stream asks for the answer in pieces.
	Stream bool
	// Open opens the file of a picture by its sum; nil: words stand for all pictures.
	Open func(sum string) (io.ReadCloser, error)
}

// Tool is what a model is told about a tool.
type Tool struct {
	Name        string
	Description string
	// Parameters is a JSON Schema with an object at its root.
	Parameters json.RawMessage
}

// Event is a piece of an answer while it streams.
type Event struct {
	// Text and Thinking are what was added.
	Text     string
	Thinking string
	// Unsaid says that all text so far was thinking.
	Unsaid bool
	// Reading is the share of the request that the model has read, 0 to 1, from a
	// server that tells it before it answers.
	Reading float64
}

// Stop says why an answer ended.
type Stop string

// The reasons to stop.
const (
	StopEnd       Stop = "end"
	StopCalls     Stop = "calls"
	StopMaxTokens Stop = "max_tokens"
	StopRefusal   Stop = "refusal"
)

// Result is a whole answer.
type Result struct {
	// Message has the role assistant. It may be empty.
	Message Message
	Stop    Stop
	Usage   Usage
	// InputCut says that the provider seems to have left out a part of the
	// request without a word.
	InputCut bool
	// Hidden says that the text held what was meant for a program and could not be
	// read: a call of a tool that does not exist, or half of one.
	Hidden bool
	// Unwanted says that the model called tools although the request forbade it.
	Unwanted bool
	// Model is the name that the provider gives to what answered.
	Model     string
	RequestID string
}

// Usage counts tokens; -1 means that the provider did not say. Input are all
// tokens of the request, Cached those of them that the provider knew already.
type Usage struct {
	Input, Output, Cached int
}

// NoUsage is an unknown usage.
var NoUsage = Usage{Input: -1, Output: -1, Cached: -1}

// ErrorKind classifies a failed model call.
type ErrorKind string

// The kinds of errors, by what the caller does about them.
const (
	// RateLimit, Overloaded, Network, Stall and Truncated pass: try again.
	RateLimit  ErrorKind = "rate_limit"
	Overloaded ErrorKind = "overloaded"
	Network    ErrorKind = "network"
	Stall      ErrorKind = "stall"
	Truncated  ErrorKind = "truncated"
	// Quota and Auth need a person: money or a key.
	Quota ErrorKind = "quota"
	Auth  ErrorKind = "auth"
	// ContextOverflow: the request is too long for the model.
	ContextOverflow ErrorKind = "context_overflow"
	BadRequest      ErrorKind = "bad_request"
	// NotFound: the endpoint does not know the model.
	NotFound ErrorKind = "not_found"
	// Unsupported: the model lacks what Feature names (tools, Images, ImageSize,
	// ToolSchema, a parameter).
	Unsupported ErrorKind = "unsupported"
	Refused     ErrorKind = "refused"
	// Exhausted: the model used up the tokens of its answer before it said anything.
	Exhausted ErrorKind = "exhausted"
	// Local: the model that klawbot runs on this machine does not run; Message says why,
	// in words for everyone.
	Local ErrorKind = "local"
)

// ToolSchema is the Feature of an error about the parameters of a tool that the
// server cannot read.
const ToolSchema = "the schema of a tool"

// Features of errors about pictures: the model takes none, or not this one.
const (
	Images    = "image"
	ImageSize = "the size of an image"
)

// Error is a failed model call. Its text is for the log: it carries the
// provider's words, without keys.
type Error struct {
	Kind   ErrorKind
	Status int
	// RetryAfter is how long the provider asks to wait, 0 when it does not say.
	RetryAfter time.Duration
	// Daily says that a limit for a day is used up: to ask again soon is of no use.
	Daily   bool
	Message string
	// Feature is what is not supported, for Unsupported.
	Feature string
	// Window is how many tokens the provider says that a request may have,
	// for ContextOverflow; 0 when it does not say.
	Window    int
	RequestID string
	// Started says that events were shown before it failed.
	Started bool
	// Loading says that the server is loading the model, for Overloaded.
	Loading bool
	Err     error
}

func (e *Error) Error() string {
	s := string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Overlong returns the error of a request that was too long for its model.
func Overlong(err error) (fail *Error, ok bool) {
	ok = errors.As(err, &fail) && fail.Kind == ContextOverflow
	return fail, ok
}

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Network, Stall, Truncated:
		return true
	}
	return false
}
