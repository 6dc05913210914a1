package protocol

import (
	"encoding/json"
	"regexp"
	"strings"

	"klawbot/engine/internal/llm"
)

// Printed is a call that a model wrote as text.
type Printed struct{ Name, Arguments string }

// openers begin a text that may be a call which a small model printed.
var openers = []string{"<tool_call", "<function=", "{", "[{", "```"}

// holder keeps a message back that may be a printed call, so that nobody sees
// half of one. A message that begins with anything else passes at once.
type holder struct {
	held    string
	decided bool
}

// longestHeld is where a message becomes too long to be a call.
const longestHeld = 64 << 10

func (h *holder) add(piece string) string {
	if h.decided {
		return piece
	}
	h.held += piece
	start := strings.TrimLeft(h.held, " \t\r\n")
	for _, o := range openers {
		if (strings.HasPrefix(start, o) || strings.HasPrefix(o, start)) && len(h.held) < longestHeld {
			return ""
		}
	}
	h.decided = true
	return h.rest()
}

func (h *holder) rest() string {
	held := h.held
	h.held = ""
	return held
}

var (
	callTag      = regexp.MustCompile(`(?s)<tool_call>\s*(.*?)\s*(?:</tool_call>|$)`)
	fence        = regexp.MustCompile("(?s)^```(?:json|tool_call|tool_code)?\\s*\n(.*?)\n?\\s*```$")
	functionTag  = regexp.MustCompile(`(?s)<function=([A-Za-z0-9_.:/-]+)>(.*?)</function>`)
	parameterTag = regexp.MustCompile(`(?s)<parameter=([A-Za-z0-9_-]+)>\n?(.*?)\n?</parameter>`)
)

// printed finds the calls that a text consists of. Unless it consists of calls
// of declared tools and nothing else, there are none.
func printed(said string, tools []llm.Tool) []Printed {
	said = strings.TrimSpace(said)
	if m := fence.FindStringSubmatch(said); m != nil {
		said = strings.TrimSpace(m[1])
	}
	bodies := []string{said}
	if found := callTag.FindAllStringSubmatch(said, -1); found != nil {
		if strings.TrimSpace(callTag.ReplaceAllString(said, "")) != "" {
			return nil
		}
		bodies = nil
		for _, m := range found {
			bodies = append(bodies, m[1])
		}
	}
	var calls []Printed
	for _, body := range bodies {
		found := printedJSON(body)
		if found == nil {
			found = printedTags(body, tools)
		}
		if found == nil {
			return nil
		}
		calls = append(calls, found...)
	}
	for _, p := range calls {
		if !declared(DeclaredName(p.Name, tools), tools) {
			return nil
		}
	}
	return calls
}

// printedJSON reads {"name": …, "arguments": {…}}, or a list of them.
func printedJSON(body string) []Printed {
	type call struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var list []call
	if strings.HasPrefix(body, "{") {
		body = "[" + body + "]"
	}
	if json.Unmarshal([]byte(body), &list) != nil {
		return nil
	}
	var calls []Printed
	for _, c := range list {
		if c.Name == "" || c.Arguments == nil && c.Parameters == nil {
			return nil
		}
		p := Printed{Name: c.Name}
		if c.Arguments == nil {
			c.Arguments = c.Parameters
		}
		p.Arguments = string(c.Arguments)
		calls = append(calls, p)
	}
	return calls
}

// printedTags reads <function=name><parameter=key>value</parameter></function>.
func printedTags(body string, tools []llm.Tool) []Printed {
	if strings.TrimSpace(functionTag.ReplaceAllString(body, "")) != "" {
		return nil
	}
	var calls []Printed
	for _, f := range functionTag.FindAllStringSubmatch(body, -1) {
		if strings.TrimSpace(parameterTag.ReplaceAllString(f[2], "")) != "" {
			return nil
		}
		p := Printed{Name: f[1]}
		arguments := map[string]json.RawMessage{}
		for _, v := range parameterTag.FindAllStringSubmatch(f[2], -1) {
			arguments[v[1]] = printedValue(v[2], kindOfParameter(tools, DeclaredName(f[1], tools), v[1]))
		}
		raw, err := json.Marshal(arguments)
		if err != nil {
			return nil
		}
		p.Arguments = string(raw)
		calls = append(calls, p)
	}
	return calls
}

// printedValue is a value in tags as JSON: text, unless the tool wants another
// kind and the text is one.
func printedValue(value, kind string) json.RawMessage {
	if kind != "" && kind != "string" && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return Quote(value)
}

func kindOfParameter(tools []llm.Tool, tool, parameter string) string {
	for _, t := range tools {
		var schema struct {
			Properties map[string]struct {
				Type Text `json:"type"`
			} `json:"properties"`
		}
		if t.Name == tool && json.Unmarshal(t.Parameters, &schema) == nil {
			return string(schema.Properties[parameter].Type)
		}
	}
	return ""
}
