package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// ids numbers answers and calls, over all servers, so that none is ever the
// same as one of another answer.
var ids atomic.Int64

// answer writes one reply.
type answer struct {
	w       http.ResponseWriter
	r       *http.Request
	req     Request
	reply   Reply
	closing <-chan struct{}
	buffer  bytes.Buffer
	id      string
}

func (a *answer) write() {
	a.id = fmt.Sprintf("chatcmpl-%d", ids.Add(1))
	a.w.Header().Set("X-Request-Id", "req-"+a.id)
	if !a.wait(a.reply.Delay) {
		return
	}
	switch a.reply.Fault {
	case ResetBefore:
		a.reset()
		return
	case StallBefore:
		a.stall()
		return
	}
	if a.reply.Cut > 0 {
		a.cut()
		return
	}
	a.speak()
}

// speak writes the answer in the dialect of the request.
func (a *answer) speak() {
	if a.reply.status() != http.StatusOK || a.reply.Body != "" {
		a.raw()
		return
	}
	switch d := a.req.Dialect; {
	case d == Anthropic && a.req.Stream:
		a.streamMessages()
	case d == Anthropic:
		a.wholeMessages()
	case d == Ollama && a.req.Stream:
		a.streamChat()
	case d == Ollama:
		a.wholeChat()
	case a.req.Stream:
		a.stream()
	default:
		a.whole()
	}
}

// cut writes the first bytes of the answer only.
func (a *answer) cut() {
	reset := a.reply.Fault == ResetAfter
	a.reply.Fault = ""
	out := a.w
	whole := httptest.NewRecorder()
	a.w = whole
	a.speak()
	a.w = out
	for name, values := range whole.Header() {
		out.Header()[name] = values
	}
	out.WriteHeader(whole.Code)
	body := whole.Body.Bytes()
	a.buffer.Write(body[:min(a.reply.Cut, len(body))])
	a.flush()
	if reset {
		a.reset()
	}
}

// raw writes an error, or a body that the test wrote itself.
func (a *answer) raw() {
	if a.reply.RetryAfter != "" {
		a.w.Header().Set("Retry-After", a.reply.RetryAfter)
	}
	if a.reply.Body == "" {
		if a.req.Dialect == OpenAI {
			fail(a.w, a.reply.status(), "error", a.reply.Code, a.reply.Message)
			return
		}
		failIn(a.req.Dialect, a.w, a.reply.status(), a.reply.Code, a.reply.Message)
		return
	}
	a.w.Header().Set("Content-Type", a.reply.ContentType)
	a.w.WriteHeader(a.reply.status())
	_, _ = a.w.Write([]byte(a.reply.Body)) // the client may be gone
}

type wireCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type wireMessage struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireChoice struct {
	Index   int          `json:"index"`
	Message *wireMessage `json:"message,omitempty"`
	Delta   *wireMessage `json:"delta,omitempty"`
	Finish  *string      `json:"finish_reason"`
}

type wireAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *Usage       `json:"usage,omitempty"`
}

func (a *answer) envelope(object string, choices ...wireChoice) wireAnswer {
	if choices == nil {
		choices = []wireChoice{}
	}
	return wireAnswer{ID: a.id, Object: object, Created: time.Now().Unix(), Model: a.req.Model, Choices: choices}
}

func (a *answer) calls() []wireCall {
	var out []wireCall
	for i, c := range a.reply.Calls {
		call := wireCall{Index: &i, ID: c.ID, Type: "function"}
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", ids.Add(1))
		}
		call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
		out = append(out, call)
	}
	return out
}

func (a *answer) whole() {
	m := &wireMessage{Role: "assistant", Content: &a.reply.Text, Reasoning: a.reply.Thinking, ToolCalls: a.calls()}
	finish := a.reply.finish()
	out := a.envelope("chat.completion", wireChoice{Message: m, Finish: &finish})
	usage := a.reply.usage(a.req)
	out.Usage = &usage
	a.wholeJSON(out)
}

// wholeJSON writes an answer in one piece, with its fault.
func (a *answer) wholeJSON(out any) {
	body, _ := json.Marshal(out) // strings, numbers and checked JSON always marshal
	a.w.Header().Set("Content-Type", "application/json")
	switch a.reply.Fault {
	case Malformed:
		body = append([]byte("{"), body...)
	case Truncate, ResetAfter, StallAfter:
		_, _ = a.w.Write(body[:len(body)/2])
		a.interrupt()
		return
	}
	_, _ = a.w.Write(body)
}

func (a *answer) stream() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.chunk(wireMessage{Role: "assistant"}, "")
	if a.reply.Thinking != "" {
		a.chunk(wireMessage{Reasoning: a.reply.Thinking}, "")
	}
	pieces := a.reply.pieces()
	for i, text := range pieces {
		if i > 0 && a.reply.PieceDelay > 0 && !a.pause() {
			return
		}
		a.chunk(wireMessage{Content: &text}, "")
		if a.reply.Fault != "" && i == len(pieces)/2 {
			a.interrupt()
			return
		}
	}
	for _, c := range a.calls() {
		arguments := c.Function.Arguments
		c.Function.Arguments = arguments[:len(arguments)/2]
		a.chunk(wireMessage{ToolCalls: []wireCall{c}}, "")
		rest := wireCall{Index: c.Index}
		rest.Function.Arguments = arguments[len(arguments)/2:]
		if a.reply.Fault == "" {
			a.chunk(wireMessage{ToolCalls: []wireCall{rest}}, "")
		}
	}
	if a.reply.Fault != "" {
		a.interrupt()
		return
	}
	a.chunk(wireMessage{}, a.reply.finish())
	if a.req.StreamOptions != nil && a.req.StreamOptions.IncludeUsage {
		out := a.envelope("chat.completion.chunk")
		usage := a.reply.usage(a.req)
		out.Usage = &usage
		a.event(out)
	}
	a.buffer.WriteString("data: [DONE]\n\n")
	a.flush()
}

func (a *answer) chunk(delta wireMessage, finish string) {
	c := wireChoice{Delta: &delta}
	if finish != "" {
		c.Finish = &finish
	}
	a.event(a.envelope("chat.completion.chunk", c))
}

func (a *answer) event(v wireAnswer) {
	body, _ := json.Marshal(v) // strings and numbers always marshal
	a.buffer.WriteString("data: ")
	a.buffer.Write(body)
	a.buffer.WriteString("\n\n")
}

func (a *answer) flush() {
	_, _ = a.w.Write(a.buffer.Bytes()) // the client may be gone
	a.buffer.Reset()
	_ = http.NewResponseController(a.w).Flush()
}

// pause shows what there is and waits for the next piece.
func (a *answer) pause() bool {
	a.flush()
	return a.wait(a.reply.PieceDelay)
}

// interrupt plays the fault of an answer that has begun.
func (a *answer) interrupt() {
	if a.reply.Fault == Malformed && a.req.Dialect == Ollama {
		a.buffer.WriteString("{\"message\":\n")
	} else if a.reply.Fault == Malformed {
		a.buffer.WriteString("data: {\"choices\":[{\"delta\":\n\n")
	}
	a.flush()
	switch a.reply.Fault {
	case ResetAfter:
		a.reset()
	case StallAfter:
		a.stall()
	}
}

func (a *answer) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.r.Context().Done():
	case <-a.closing:
	}
	return false
}

func (a *answer) stall() {
	select {
	case <-a.r.Context().Done():
	case <-a.closing:
	}
	panic(http.ErrAbortHandler)
}

func (a *answer) reset() {
	conn, _, err := http.NewResponseController(a.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // so that the close is a reset
	}
	_ = conn.Close()
}
