package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// messagesUsage is how the Messages API states a usage. The end of a stream
// states only what was written.
type messagesUsage struct {
	Input  int `json:"input_tokens,omitempty"`
	Output int `json:"output_tokens"`
}

type messagesAnswer struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Model   string          `json:"model"`
	Content []messagesBlock `json:"content"`
	Stop    *string         `json:"stop_reason"`
	Usage   messagesUsage   `json:"usage"`
}

type messagesDelta struct {
	Type      string `json:"type,omitempty"`
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Input     string `json:"partial_json,omitempty"`
	Stop      string `json:"stop_reason,omitempty"`
}

type messagesEvent struct {
	Type    string          `json:"type"`
	Message *messagesAnswer `json:"message,omitempty"`
	Index   *int            `json:"index,omitempty"`
	Block   *messagesBlock  `json:"content_block,omitempty"`
	Delta   *messagesDelta  `json:"delta,omitempty"`
	Usage   *messagesUsage  `json:"usage,omitempty"`
}

// messagesStops are the reasons to stop in the words of this protocol.
var messagesStops = map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}

func (a *answer) messagesStop() string {
	if stop, ok := messagesStops[a.reply.finish()]; ok {
		return stop
	}
	return a.reply.finish()
}

// thoughts are the blocks of thinking of a reply.
func (a *answer) thoughts() []messagesBlock {
	var out []messagesBlock
	if a.reply.Thinking != "" {
		out = append(out, messagesBlock{Type: "thinking", Thinking: &a.reply.Thinking, Signature: signature(a.reply.Thinking)})
	}
	if a.reply.Redacted != "" {
		out = append(out, messagesBlock{Type: "redacted_thinking", Data: a.reply.Redacted})
	}
	return out
}

func (a *answer) uses() []messagesBlock {
	var out []messagesBlock
	for _, c := range a.reply.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("toolu_%d", ids.Add(1))
		}
		out = append(out, messagesBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Arguments)})
	}
	return out
}

func (a *answer) messagesHead() messagesAnswer {
	u := a.reply.usage(a.req)
	return messagesAnswer{
		ID: a.id, Type: "message", Role: "assistant", Model: a.req.Model, Content: []messagesBlock{},
		Usage: messagesUsage{u.Prompt, 1},
	}
}

// wholeMessages is an answer in one piece.
func (a *answer) wholeMessages() {
	out, stop := a.messagesHead(), a.messagesStop()
	out.Usage.Output = a.reply.usage(a.req).Completion
	out.Stop = &stop
	out.Content = append(out.Content, a.thoughts()...)
	if a.reply.Text != "" {
		out.Content = append(out.Content, messagesBlock{Type: "text", Text: a.reply.Text})
	}
	for _, use := range a.uses() {
		if !json.Valid(use.Input) {
			use.Input = json.RawMessage("{}") // what the API makes of a cut call
		}
		out.Content = append(out.Content, use)
	}
	a.wholeJSON(out)
}

// streamMessages is an answer in events.
func (a *answer) streamMessages() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	head, index := a.messagesHead(), 0
	a.messagesEvent(messagesEvent{Type: "message_start", Message: &head})
	a.messagesEvent(messagesEvent{Type: "ping"})
	for _, b := range a.thoughts() {
		start := b
		if b.Type == "thinking" {
			start.Thinking, start.Signature = new(string), ""
		}
		deltas := []messagesDelta{{Type: "thinking_delta", Thinking: a.reply.Thinking}, {Type: "signature_delta", Signature: b.Signature}}
		if b.Type != "thinking" {
			deltas = nil
		}
		a.messagesBlock(index, start, deltas...)
		index++
	}
	if !a.streamText(&index) {
		return
	}
	for _, use := range a.uses() {
		input := string(use.Input)
		use.Input = json.RawMessage("{}")
		half := len(input) / 2
		a.messagesBlock(index, use, messagesDelta{Type: "input_json_delta", Input: input[:half]}, messagesDelta{Type: "input_json_delta", Input: input[half:]})
		index++
	}
	if a.reply.Fault != "" {
		a.interrupt()
		return
	}
	usage := messagesUsage{Output: a.reply.usage(a.req).Completion}
	a.messagesEvent(messagesEvent{Type: "message_delta", Delta: &messagesDelta{Stop: a.messagesStop()}, Usage: &usage})
	a.messagesEvent(messagesEvent{Type: "message_stop"})
	a.flush()
}

// streamText writes the block of the text, and reports false when a fault ended
// the answer in it.
func (a *answer) streamText(index *int) bool {
	pieces := a.reply.pieces()
	if len(pieces) == 0 {
		return true
	}
	i := *index
	*index++
	a.messagesEvent(messagesEvent{Type: "content_block_start", Index: &i, Block: &messagesBlock{Type: "text"}})
	for n, text := range pieces {
		if n > 0 && a.reply.PieceDelay > 0 && !a.pause() {
			return false
		}
		a.messagesEvent(messagesEvent{Type: "content_block_delta", Index: &i, Delta: &messagesDelta{Type: "text_delta", Text: text}})
		if a.reply.Fault != "" && n == len(pieces)/2 {
			a.interrupt()
			return false
		}
	}
	a.messagesEvent(messagesEvent{Type: "content_block_stop", Index: &i})
	return true
}

func (a *answer) messagesBlock(i int, start messagesBlock, deltas ...messagesDelta) {
	a.messagesEvent(messagesEvent{Type: "content_block_start", Index: &i, Block: &start})
	for _, d := range deltas {
		a.messagesEvent(messagesEvent{Type: "content_block_delta", Index: &i, Delta: &d})
	}
	a.messagesEvent(messagesEvent{Type: "content_block_stop", Index: &i})
}

func (a *answer) messagesEvent(e messagesEvent) {
	body, _ := json.Marshal(e) // strings and numbers always marshal
	fmt.Fprintf(&a.buffer, "event: %s\ndata: %s\n\n", e.Type, body)
}

// messagesErrors are the types of errors by status.
var messagesErrors = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
}

// failMessages writes an error in Anthropic's form.
func failMessages(w http.ResponseWriter, status int, message string) {
	kind := messagesErrors[status]
	if kind == "" {
		kind = "api_error"
	}
	var body struct {
		Type  string `json:"type"`
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	body.Type, body.Error.Type, body.Error.Message = "error", kind, message
	writeJSON(w, status, body)
}
