package speech

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
)

// CutFault is what a model reads about a call that the token limit cut.
const CutFault = "the answer was cut at the token limit, so the call is not complete; send less at once"

// maxArguments bounds the arguments of one call, in bytes: more than a model writes
// in one answer, twice the file that file_write takes.
const maxArguments = 2 << 20

// namePrefixes are what models put before names.
var namePrefixes = []string{"functions.", "functions/", "tools/", "tools.", "default_api:", "default_api.", "default."}

// numbered is the end of Kimi's names: functions.name:0.
var numbered = regexp.MustCompile(`:\d+$`)

// DeclaredName takes a prefix and a number away when the rest is a tool's name, and
// the blanks around it.
func DeclaredName(name string, tools []llm.Tool) string {
	name = strings.TrimSpace(name)
	if declared(name, tools) {
		return name
	}
	if bare, _, cut := strings.Cut(name, "<|"); cut && bare != "" { // a token of the template got into it
		name = bare
	}
	bare := numbered.ReplaceAllString(name, "")
	if declared(bare, tools) {
		return bare
	}
	for _, prefix := range namePrefixes {
		if rest, ok := strings.CutPrefix(bare, prefix); ok && declared(rest, tools) {
			return rest
		}
	}
	return name
}

func declared(name string, tools []llm.Tool) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}

// parallel is how OpenAI's models call several tools in one.
var parallel = regexp.MustCompile(`^(?:functions\.)?multi_tool_use[._]parallel$`)

// Calls finishes a call of which all but the arguments is known. Without a name it is
// dropped; OpenAI's wrapper becomes the calls in it.
func Calls(c llm.ToolCall, arguments string, tools []llm.Tool) []llm.ToolCall {
	c.Name = DeclaredName(c.Name, tools)
	c.Arguments, c.Fault = Arguments(whole(arguments))
	switch {
	case c.Name == "":
		return nil
	case parallel.MatchString(c.Name) && !declared(c.Name, tools):
		var calls []llm.ToolCall
		for _, p := range objectCalls(json.RawMessage(c.Arguments)) {
			calls = append(calls, Calls(llm.ToolCall{Provider: c.Provider, Name: p.Name}, p.Arguments, tools)...)
		}
		if calls != nil {
			return calls
		}
	}
	return []llm.ToolCall{c}
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
