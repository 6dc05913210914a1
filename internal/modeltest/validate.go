package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	toolName      = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	surrogatePair = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`)
	surrogate     = regexp.MustCompile(`(?i)\\ud[89a-f][0-9a-f]{2}`)
)

// validate refuses what at least one provider refuses.
func (r Request) validate() error {
	switch {
	case !utf8.Valid(r.Body):
		return errors.New("the body is not valid UTF-8")
	case halfSurrogate(r.Body):
		return errors.New("the body has half a surrogate pair")
	case r.Model == "":
		return errors.New("you must provide a model parameter")
	case len(r.Messages) == 0:
		return errors.New("'messages' is empty")
	case r.MaxTokens != nil && r.MaxCompletionTokens != nil:
		return errors.New("'max_tokens' and 'max_completion_tokens' exclude each other")
	case r.StreamOptions != nil && !r.Stream:
		return errors.New("'stream_options' is only allowed when 'stream' is set")
	case r.ToolChoice != "" && len(r.Tools) == 0:
		return errors.New("'tool_choice' is only allowed when 'tools' are given")
	}
	if err := r.validateTools(); err != nil {
		return err
	}
	return r.validateMessages()
}

// halfSurrogate looks in JSON for an escape that does not make a character.
func halfSurrogate(text []byte) bool {
	if !surrogate.Match(text) {
		return false
	}
	escapes := bytes.ReplaceAll(text, []byte(`\\`), nil)
	return surrogate.Match(surrogatePair.ReplaceAll(escapes, nil))
}

func (r Request) validateTools() error {
	if r.Tools != nil && len(r.Tools) == 0 || bytes.Contains(r.Body, []byte(`"tools":[]`)) {
		return errors.New("'tools' is too short: expected at least one")
	}
	seen := map[string]bool{}
	for i, t := range r.Tools {
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		name := t.Function.Name
		switch {
		case t.Type != "function":
			return fmt.Errorf("tools[%d].type is %q", i, t.Type)
		case !toolName.MatchString(name):
			return fmt.Errorf("tools[%d].function.name %q does not match %s", i, name, toolName)
		case seen[name]:
			return fmt.Errorf("tool names must be unique: %q", name)
		case json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object" || schema.Properties == nil:
			return fmt.Errorf("invalid schema for function %q: an object with properties is expected", name)
		}
		seen[name] = true
	}
	return nil
}

// validateMessages walks over the conversation: what may stand where.
func (r Request) validateMessages() error {
	w := walk{ids: map[string]bool{}}
	for i, m := range r.Messages {
		if err := w.step(i, m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(w.open) > 0 {
		return fmt.Errorf("tool calls without tool messages: %s", strings.Join(w.open, ", "))
	}
	if !w.user {
		return errors.New("there is no user message")
	}
	return nil
}

type walk struct {
	previous string
	user     bool
	open     []string        // ids of calls that wait for their results, in order
	ids      map[string]bool // every id so far
}

func (w *walk) step(i int, m Message) error {
	if len(w.open) > 0 && m.Role != "tool" {
		return fmt.Errorf("role %q where the results of %s are expected", m.Role, strings.Join(w.open, ", "))
	}
	if m.Role == w.previous && m.Role != "tool" && m.Role != "user" {
		return fmt.Errorf("role %q twice in a row", m.Role)
	}
	w.previous = m.Role
	switch m.Role {
	case "system":
		if i != 0 {
			return errors.New("a system message is only allowed at the start")
		}
		return text(m)
	case "user":
		w.user = true
		return text(m)
	case "assistant":
		return w.assistant(m)
	case "tool":
		return w.tool(m)
	}
	return fmt.Errorf("unknown role %q", m.Role)
}

func text(m Message) error {
	var s *string
	if json.Unmarshal(m.Content, &s) != nil || s == nil {
		return fmt.Errorf("content of role %q is no string", m.Role)
	}
	if strings.TrimSpace(*s) == "" && len(m.Pictures) == 0 {
		return fmt.Errorf("content of role %q is blank", m.Role)
	}
	return nil
}

func (w *walk) assistant(m Message) error {
	if !w.user {
		return errors.New("an assistant message before any user message")
	}
	if len(m.ToolCalls) == 0 {
		return text(m)
	}
	var content *string
	if len(m.Content) > 0 && json.Unmarshal(m.Content, &content) != nil {
		return errors.New("content is neither a string nor null")
	}
	for _, c := range m.ToolCalls {
		var arguments map[string]json.RawMessage
		switch {
		case c.ID == "" || len(c.ID) > 40:
			return fmt.Errorf("tool call id %q must have 1 to 40 characters", c.ID)
		case w.ids[c.ID]:
			return fmt.Errorf("tool call id %q is used twice", c.ID)
		case c.Type != "function":
			return fmt.Errorf("tool call type %q", c.Type)
		case !toolName.MatchString(c.Function.Name):
			return fmt.Errorf("tool call name %q does not match %s", c.Function.Name, toolName)
		case json.Unmarshal([]byte(c.Function.Arguments), &arguments) != nil || arguments == nil:
			return fmt.Errorf("arguments of %s are no JSON object", c.ID)
		case halfSurrogate([]byte(c.Function.Arguments)):
			return fmt.Errorf("arguments of %s have half a surrogate pair", c.ID)
		}
		w.ids[c.ID] = true
		w.open = append(w.open, c.ID)
	}
	return nil
}

func (w *walk) tool(m Message) error {
	if len(w.open) == 0 || w.open[0] != m.ToolCallID {
		return fmt.Errorf("a tool message for %q; expected: %q", m.ToolCallID, strings.Join(w.open, ", "))
	}
	w.open = w.open[1:]
	return text(m)
}

// repeatsUser reports whether two user messages follow each other, which most
// servers take and the chat templates of some models do not.
func (r Request) repeatsUser() bool {
	for i := 1; i < len(r.Messages); i++ {
		if r.Messages[i].Role == "user" && r.Messages[i-1].Role == "user" {
			return true
		}
	}
	return false
}
