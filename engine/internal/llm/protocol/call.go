package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
)

// CutFault is what a model reads about a call that the token limit cut.
const CutFault = "the answer was cut at the token limit, so the call is not complete; send less at once"

// maxArguments bounds the arguments of one call, in bytes: more than a model writes
// in one answer, twice the file that file_write takes.
const maxArguments = 2 << 20

// NoParameters is the schema of a tool that takes nothing.
var NoParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// namePrefixes are what models put before names.
var namePrefixes = []string{"functions.", "functions/", "tools/", "tools.", "default_api:", "default_api.", "default."}

// DeclaredName takes a prefix away when the rest is a tool's name, and the
// blanks around it.
func DeclaredName(name string, tools []llm.Tool) string {
	name = strings.TrimSpace(name)
	for _, prefix := range namePrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && declared(rest, tools) {
			return rest
		}
	}
	return name
}

func declared(name string, tools []llm.Tool) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}

// Arguments makes an object of arguments that are blank or an object in a
// string, and says what is wrong with others. It keeps none that are too long.
func Arguments(raw string) (arguments, fault string) {
	if len(raw) > maxArguments {
		return "{}", fmt.Sprintf("the arguments have %d bytes, a call takes %d at most; do it in several calls", len(raw), maxArguments)
	}
	trimmed := strings.TrimSpace(raw)
	if trimmed == "" || trimmed == "null" || trimmed == `""` {
		return "{}", ""
	}
	var inner string
	if json.Unmarshal([]byte(trimmed), &inner) == nil && llm.CheckArguments(inner) == nil {
		return inner, ""
	}
	if err := llm.CheckArguments(trimmed); err != nil {
		return raw, err.Error()
	}
	return trimmed, ""
}

// Join is the text of a message, its blocks as paragraphs.
func Join(m llm.Message) string {
	var parts []string
	for _, b := range m.Blocks {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}
