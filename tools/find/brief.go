package find

import (
	"encoding/json"
	"slices"
	"strings"

	"klawbot/tools"
)

// What is shown of a tool that is not ours, which may be described at any length.
const (
	briefWords    = 60
	briefOptional = 8
)

// Brief is what a model is shown of a tool among many: the short form, or the
// beginning of the text of a tool that has none. What it leaves out is accepted all the
// same.
func Brief(s tools.Spec, language string) tools.Text {
	t := s.Text(language)
	if t.Short != "" {
		return tools.Text{Description: t.Short, Parameters: t.ShortParameters}
	}
	if words := strings.Fields(t.Description); len(words) > briefWords {
		t.Description = strings.Join(words[:briefWords], " ") + " …"
	}
	t.Parameters = briefSchema(t.Parameters)
	return t
}

// briefSchema is a schema without the optional parameters behind the first ones.
func briefSchema(source json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	var properties map[string]json.RawMessage
	var required []string
	if json.Unmarshal(source, &s) != nil || json.Unmarshal(s["properties"], &properties) != nil {
		return source
	}
	if s["required"] != nil && json.Unmarshal(s["required"], &required) != nil {
		return source
	}
	var optional []string
	for name := range properties {
		if !slices.Contains(required, name) {
			optional = append(optional, name)
		}
	}
	if len(optional) <= briefOptional {
		return source
	}
	slices.Sort(optional)
	for _, name := range optional[briefOptional:] {
		delete(properties, name)
	}
	// With a parameter hidden, "no others" would not be true.
	delete(s, "additionalProperties")
	short, err := json.Marshal(properties)
	if err != nil {
		return source
	}
	s["properties"] = short
	if short, err = json.Marshal(s); err != nil {
		return source
	}
	return short
}
