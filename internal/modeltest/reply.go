package modeltest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Fault is something that goes wrong on the wire.
type Fault string

// The faults. "Before" and "after" are seen from the first byte of the answer.
const (
	// ResetBefore and ResetAfter cut the connection.
	ResetBefore Fault = "reset_before"
	ResetAfter  Fault = "reset_after"
	// StallBefore and StallAfter say nothing more until the client goes.
	StallBefore Fault = "stall_before"
	StallAfter  Fault = "stall_after"
	// Truncate ends the answer cleanly in the middle.
	Truncate Fault = "truncate"
	// Malformed writes a chunk that is no JSON.
	Malformed Fault = "malformed"
)

// Call is a tool call of a Reply.
type Call struct {
	// ID is made when empty.
	ID   string
	Name string
	// Arguments is sent as it is, JSON or not.
	Arguments string
}

// Usage is what a Reply says that it took.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// Reply is what the fake answers. The zero value is an empty answer.
type Reply struct {
	Text     string
	Thinking string
	// Redacted is thinking that only its model can read; Anthropic only.
	Redacted string
	Calls    []Call
	// Finish is the finish_reason; empty follows from Calls.
	Finish string
	// Usage is made up when nil.
	Usage *Usage
	// Pieces is how many pieces a streamed Text comes in; 0 means up to 4.
	Pieces int
	// Delay is the wait before the first byte, PieceDelay the one before each
	// further piece.
	Delay, PieceDelay time.Duration

	// Status, if not 0 or 200, makes the reply an error. Body and ContentType
	// then replace OpenAI's form of it; with status 200 they replace the
	// whole answer.
	Status      int
	Message     string
	Code        string
	RetryAfter  string
	Body        string
	ContentType string

	Fault Fault
	// Cut ends the answer after so many bytes of it, whole pieces or not: with
	// a reset when Fault is ResetAfter, else cleanly. 0 does not.
	Cut int
}

// Text is a reply of words.
func Text(text string) Reply { return Reply{Text: text} }

// CallTool is a reply that calls one tool. The arguments are anything that
// marshals to a JSON object.
func CallTool(name string, arguments any) Reply {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // a mistake in the test
	}
	return Reply{Calls: []Call{{Name: name, Arguments: string(raw)}}}
}

// Error is a reply that fails with a status.
func Error(status int, message string) Reply { return Reply{Status: status, Message: message} }

// RateLimited is a 429 that asks to wait.
func RateLimited(wait time.Duration) Reply {
	return Reply{
		Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "Rate limit reached.",
		RetryAfter: strconv.Itoa(int(wait / time.Second)),
	}
}

// HTML is an error page of a proxy.
func HTML(status int) Reply {
	return Reply{Status: status, ContentType: "text/html", Body: "<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"}
}

func (r Reply) status() int {
	if r.Status == 0 {
		return http.StatusOK
	}
	return r.Status
}

func (r Reply) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (r Reply) usage(req Request) Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	u := Usage{Prompt: len(req.Body)/4 + 1, Completion: len(r.Text)/4 + 1}
	u.Total = u.Prompt + u.Completion
	return u
}

// pieces cuts the text on rune boundaries.
func (r Reply) pieces() []string {
	runes := []rune(r.Text)
	n := r.Pieces
	if n <= 0 {
		n = 4
	}
	size := max(1, (len(runes)+n-1)/n)
	var out []string
	for len(runes) > 0 {
		k := min(size, len(runes))
		out = append(out, string(runes[:k]))
		runes = runes[k:]
	}
	return out
}
