package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// chatRequest is a request of Ollama's own protocol.
type chatRequest struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []Tool        `json:"tools"`
	Stream   *bool         `json:"stream"`
	Options  struct {
		NumCtx     *int `json:"num_ctx"`
		NumPredict *int `json:"num_predict"`
	} `json:"options"`
}

type chatMessage struct {
	Role     string     `json:"role"`
	Content  string     `json:"content"`
	Images   []string   `json:"images,omitempty"`
	Thinking string     `json:"thinking,omitempty"`
	Calls    []chatCall `json:"tool_calls,omitempty"`
	ToolName string     `json:"tool_name,omitempty"`
	CallID   string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// chat answers POST /api/chat.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	req, err := s.readChat(r)
	s.reply(w, r, req, err)
}

func (s *Server) readChat(r *http.Request) (Request, error) {
	body, err := readBody(r)
	req := Request{Dialect: Ollama, Body: body}
	if err != nil {
		return req, err
	}
	var c chatRequest
	if err := json.Unmarshal(body, &c); err != nil {
		return req, fmt.Errorf("could not parse the JSON body of your request: %w", err)
	}
	req.Model, req.Tools, req.MaxTokens, req.Window = c.Model, c.Tools, c.Options.NumPredict, c.Options.NumCtx
	req.Stream = c.Stream == nil || *c.Stream
	if len(c.Tools) > 0 && !slices.Contains(s.capable(), "tools") {
		return req, fmt.Errorf("registry.ollama.ai/library/%s does not support tools", c.Model)
	}
	for _, m := range c.Messages {
		msg, err := m.into()
		if err != nil {
			return req, err
		}
		req.Messages = append(req.Messages, msg)
	}
	if len(req.Pictures()) > 0 && !slices.Contains(s.capable(), "vision") {
		return req, errors.New("failed to create new sequence: this model is missing data required for image input")
	}
	return req, req.validate()
}

// into writes the message in the words of the other protocol.
func (m chatMessage) into() (Message, error) {
	out := Message{Role: m.Role, Content: quoted(m.Content), ToolCallID: m.CallID, ReasoningContent: m.Thinking}
	if len(m.Images) > 0 && m.Role != "user" {
		return out, fmt.Errorf("images in a message of the role %s", m.Role)
	}
	for _, data := range m.Images {
		p, err := readPicture("", data)
		if err != nil {
			return out, err
		}
		out.Pictures = append(out.Pictures, p)
	}
	if m.Role == "tool" && m.ToolName == "" {
		return out, errors.New("a tool message without tool_name")
	}
	for _, c := range m.Calls {
		if len(c.Function.Arguments) == 0 || c.Function.Arguments[0] != '{' {
			return out, errors.New("tool_calls.function.arguments: an object is expected")
		}
		call := ToolCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Function.Name, string(c.Function.Arguments)
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out, nil
}

// SetCapabilities replaces what POST /api/show says that every model can, and
// the window it was made for, 0 for none. Without "tools" a request that
// offers some is refused.
func (s *Server) SetCapabilities(window int, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window, s.capabilities = window, slices.Clone(names)
}

func (s *Server) capable() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	s.record(Entry{Path: r.URL.Path, Status: http.StatusOK})
	s.mu.Lock()
	window := s.window
	s.mu.Unlock()
	info := map[string]any{"general.architecture": "fake"}
	if window > 0 {
		info["fake.context_length"] = window
	}
	writeJSON(w, http.StatusOK, struct {
		Capabilities []string       `json:"capabilities"`
		Info         map[string]any `json:"model_info"`
	}{s.capable(), info})
}

func (s *Server) tags(w http.ResponseWriter, r *http.Request) {
	type model struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	}
	list := []model{}
	s.mu.Lock()
	for _, name := range s.models {
		list = append(list, model{name, 1})
	}
	s.mu.Unlock()
	s.record(Entry{Path: r.URL.Path, Status: http.StatusOK})
	writeJSON(w, http.StatusOK, struct {
		Models []model `json:"models"`
	}{list})
}

type chatAnswer struct {
	Model   string      `json:"model"`
	Created string      `json:"created_at"`
	Message chatMessage `json:"message"`
	Done    bool        `json:"done"`
	Reason  string      `json:"done_reason,omitempty"`
	Prompt  int         `json:"prompt_eval_count,omitempty"`
	Output  int         `json:"eval_count,omitempty"`
}

func (a *answer) chatLine(m chatMessage) chatAnswer {
	m.Role = "assistant"
	return chatAnswer{Model: a.req.Model, Created: time.Now().UTC().Format(time.RFC3339Nano), Message: m}
}

// chatEnd makes a line the last one.
func (a *answer) chatEnd(l chatAnswer) chatAnswer {
	u := a.reply.usage(a.req)
	l.Done, l.Reason, l.Prompt, l.Output = true, "stop", u.Prompt, u.Completion
	if finish := a.reply.finish(); finish != "tool_calls" {
		l.Reason = finish
	}
	return l
}

func (a *answer) chatCalls() []chatCall {
	var out []chatCall
	for _, c := range a.reply.Calls {
		call := chatCall{ID: c.ID}
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", ids.Add(1))
		}
		call.Function.Name, call.Function.Arguments = c.Name, json.RawMessage(c.Arguments)
		out = append(out, call)
	}
	return out
}

func (a *answer) wholeChat() {
	a.wholeJSON(a.chatEnd(a.chatLine(chatMessage{Content: a.reply.Text, Thinking: a.reply.Thinking, Calls: a.chatCalls()})))
}

// streamChat is an answer in lines of JSON.
func (a *answer) streamChat() {
	a.w.Header().Set("Content-Type", "application/x-ndjson")
	if a.reply.Thinking != "" {
		a.line(a.chatLine(chatMessage{Thinking: a.reply.Thinking}))
	}
	pieces := a.reply.pieces()
	for i, text := range pieces {
		if i > 0 && a.reply.PieceDelay > 0 && !a.pause() {
			return
		}
		a.line(a.chatLine(chatMessage{Content: text}))
		if a.reply.Fault != "" && i == len(pieces)/2 {
			a.interrupt()
			return
		}
	}
	for _, c := range a.chatCalls() {
		a.line(a.chatLine(chatMessage{Calls: []chatCall{c}}))
	}
	if a.reply.Fault != "" {
		a.interrupt()
		return
	}
	a.line(a.chatEnd(a.chatLine(chatMessage{})))
	a.flush()
}

func (a *answer) line(l chatAnswer) {
	body, err := json.Marshal(l)
	if err != nil { // arguments that are no JSON, which this protocol cannot say
		body, _ = json.Marshal(struct { // a string always marshals
			Error string `json:"error"`
		}{"error parsing tool call: " + err.Error()})
	}
	a.buffer.Write(append(body, '\n'))
}

// failChat writes an error in Ollama's form.
func failChat(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, struct {
		Error string `json:"error"`
	}{message})
}
