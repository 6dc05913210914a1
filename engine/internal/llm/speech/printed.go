package speech

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/internal/llm"
)

var (
	callWord     = regexp.MustCompile(`^[A-Za-z_][\w.:/-]*`)
	anyWord      = regexp.MustCompile(`[A-Za-z_][\w.:/-]*`)
	invokeTag    = regexp.MustCompile(`(?s)<(?:[\w:|｜]*?)(?:invoke|(?:tool|function)_call) name="?([^">\s]+)"?[^>]*>(.*?)(?:</[\w:|｜]*(?:invoke|(?:tool|function)_call)>|$)`)
	functionTag  = regexp.MustCompile(`(?s)<function=([\w.:/-]+)>(.*?)(?:</function>|$)`)
	parameterTag = regexp.MustCompile(`(?s)<(?:[\w:|｜]*?)parameter(?:=| name=)"?([\w.-]+)"?[^>]*>\n?(.*?)\n?</[\w:|｜]*parameter>`)
	pairTag      = regexp.MustCompile(`(?s)<(?:longcat_)?arg_key>\s*(.*?)\s*</(?:longcat_)?arg_key>\s*<(?:longcat_)?arg_value>\n?(.*?)\n?</(?:longcat_)?arg_value>`)
	pairedCall   = regexp.MustCompile(`(?s)<(?:longcat_)?tool_call>\s*([\w.:/-]+)\s*((?:<(?:longcat_)?arg_key>.*?</(?:longcat_)?arg_value>\s*)*)(?:</(?:longcat_)?tool_call>|$)`)
	printLine    = regexp.MustCompile(`(?m)^[ \t]*print\(([A-Za-z_][\w.]*\(.*\))\)[ \t]*$`)
	anyMarker    = regexp.MustCompile("<[^<>\n]{1,100}>|\\[(?:TOOL_CALLS|ARGS|CALL_ID|TOOL_REQUEST|END_TOOL_REQUEST)\\]|```\\w*")
)

// readCalls finds the calls in what a model wrote as calls. It returns none
// unless all of them are of declared tools.
func readCalls(text string, tools []llm.Tool) []Printed {
	calls := taggedCalls(text, tools)
	if calls == nil {
		calls = valueCalls(text, tools)
	}
	if calls == nil {
		calls = valueCalls(withBraces(text), tools)
	}
	for i, c := range calls {
		calls[i].Name = DeclaredName(c.Name, tools)
		if !declared(calls[i].Name, tools) {
			return nil
		}
	}
	return calls
}

// withBraces is one object with as many braces as it needs: small models write one too
// few at its end, or all of them twice.
func withBraces(text string) string {
	text = strings.TrimSpace(withoutMarkers(text))
	if strings.HasPrefix(text, "{{") {
		return strings.TrimSuffix(text[1:], "}")
	}
	var end valueEnd
	if strings.HasPrefix(text, "{") && !end.find(text) && end.quote == 0 {
		text += strings.Repeat("}", min(end.depth, 3))
	}
	return text
}

// taggedCalls reads calls whose arguments stand in tags of their own.
func taggedCalls(text string, tools []llm.Tool) []Printed {
	var calls []Printed
	for _, shape := range []struct{ call, argument *regexp.Regexp }{
		{invokeTag, parameterTag}, {functionTag, parameterTag}, {pairedCall, pairTag},
	} {
		for _, m := range shape.call.FindAllStringSubmatch(text, -1) {
			arguments := parameters{}
			for _, a := range shape.argument.FindAllStringSubmatch(m[2], -1) {
				arguments[a[1]] = printedValue(a[2], kindOfParameter(tools, DeclaredName(m[1], tools), a[1]))
			}
			rest := strings.TrimSpace(shape.argument.ReplaceAllString(m[2], ""))
			raw, ok := arguments.json()
			switch {
			case !ok:
				return nil
			case rest != "" && len(arguments) == 0: // Llama: <function=name>{…}</function>
				value, ok := readValue(rest)
				if !ok {
					return nil
				}
				raw = string(value)
			case rest != "":
				return nil
			}
			calls = append(calls, Printed{m[1], raw})
		}
		if calls != nil {
			return calls
		}
	}
	return nil
}

// parameters are arguments by name.
type parameters map[string]json.RawMessage

func (p parameters) json() (text string, ok bool) {
	raw, err := json.Marshal(p)
	return string(raw), err == nil
}

// maxPrinted bounds the calls of one answer.
const maxPrinted = 100

// valueCalls reads calls whose arguments are JSON, or nearly: objects with the name
// in them, or behind a name.
func valueCalls(text string, tools []llm.Tool) []Printed {
	if !strings.Contains(text, `<|"|>`) && !strings.Contains(text, "<escape>") {
		text = withoutMarkers(text)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "print(") { // Gemma's and Gemini's Python
		text = printLine.ReplaceAllString(text, "$1")
	}
	var calls []Printed
	for range maxPrinted {
		at := strings.IndexAny(text, "{[(")
		if at < 0 {
			break
		}
		name := lastDeclared(text[:at], tools)
		var end valueEnd
		if !end.find(text[at:]) {
			return nil
		}
		value, ok := readValue(text[at : at+end.at])
		if ok && strings.HasPrefix(text[at:], "[") && name == "" && callList.MatchString(text[at:]) {
			ok = false
		}
		if !ok && name != "" && text[at] == '(' {
			value, ok = unnamed(text[at+1:at+end.at-1], name, tools)
		}
		found := objectCalls(value)
		switch {
		case ok && name != "" && value[0] == '{' && (found == nil || text[at] == '('):
			calls = append(calls, Printed{name, string(value)})
		case ok && found != nil:
			calls = append(calls, found...)
		case text[at] == '[': // [name(…), name(…)]
			text = text[at+1:]
			continue
		default:
			return nil
		}
		text = text[at+end.at:]
	}
	if calls == nil {
		if name := lastDeclared(text, tools); name != "" && DeclaredName(strings.TrimSpace(text), tools) == name {
			return []Printed{{name, noArguments}}
		}
	}
	return calls
}

// unnamed reads the argument of name(value): that of a tool's only required parameter, or
// of its only one.
func unnamed(text, tool string, tools []llm.Tool) (json.RawMessage, bool) {
	value, ok := readValue(text)
	wants := parametersOf(tools, tool)
	names := wants.Required
	if len(names) == 0 {
		names = slices.Collect(maps.Keys(wants.Properties))
	}
	if !ok || len(names) != 1 {
		return nil, false
	}
	named, ok := parameters{names[0]: value}.json()
	return json.RawMessage(named), ok
}

// withoutMarkers has blanks in the place of markers outside of strings.
func withoutMarkers(text string) string {
	var b strings.Builder
	var quotes jsonQuotes
	at := 0
	for _, m := range anyMarker.FindAllStringIndex(text, -1) {
		quotes.read(text[at:m[0]])
		b.WriteString(text[at:m[0]])
		if at = m[1]; quotes.inside {
			b.WriteString(text[m[0]:m[1]])
			continue
		}
		b.WriteString(" ")
	}
	return b.String() + text[at:]
}

const noArguments = "{}"

// lastDeclared is the last word that is the name of a tool.
func lastDeclared(text string, tools []llm.Tool) string {
	name := ""
	for _, word := range anyWord.FindAllString(text, -1) {
		word = strings.TrimSuffix(word, ".call")
		word = strings.TrimPrefix(word, "call:")
		if word = DeclaredName(word, tools); declared(word, tools) {
			name = word
		}
	}
	return name
}

// objectCalls reads {"name": …, "arguments": {…}}, in all its spellings, or a list.
func objectCalls(value json.RawMessage) []Printed {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var calls []Printed
		for _, one := range list {
			found := objectCalls(one)
			if found == nil {
				return nil
			}
			calls = append(calls, found...)
		}
		return calls
	}
	var c struct {
		Name       string          `json:"name"`
		Tool       string          `json:"tool"`
		ToolName   string          `json:"tool_name"`
		Recipient  string          `json:"recipient_name"`
		Function   json.RawMessage `json:"function"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
		Args       json.RawMessage `json:"args"`
		Input      json.RawMessage `json:"input"`
		Action     string          `json:"action"`
		ActionArgs json.RawMessage `json:"action_input"`
		Uses       json.RawMessage `json:"tool_uses"`
		Calls      json.RawMessage `json:"tool_calls"`
		Called     json.RawMessage `json:"function_call"`
		ToolInput  json.RawMessage `json:"tool_input"`
		ToolCall   json.RawMessage `json:"tool_call"`
	}
	if json.Unmarshal(value, &c) != nil {
		return nil
	}
	for _, inner := range []json.RawMessage{c.Uses, c.Calls} {
		if len(inner) > 0 && inner[0] == '[' {
			return objectCalls(inner)
		}
	}
	for _, inner := range []json.RawMessage{c.Function, c.Called, c.ToolCall} {
		if len(inner) > 0 && inner[0] == '{' {
			return objectCalls(inner)
		}
	}
	name := c.Name + c.Tool + c.ToolName + c.Recipient + c.Action
	if name == "" && len(c.Function) > 0 {
		_ = json.Unmarshal(c.Function, &name) // otherwise the name stays empty
	}
	var arguments json.RawMessage
	for _, one := range []json.RawMessage{c.Arguments, c.Parameters, c.Args, c.Input, c.ActionArgs, c.ToolInput} {
		if arguments == nil {
			arguments = one
		}
	}
	if name == "" || arguments == nil {
		return nil
	}
	return []Printed{{name, string(arguments)}}
}

// namedOnly reads {"name": …} without arguments, which is a call only between markers.
func namedOnly(text string, tools []llm.Tool) []Printed {
	var c map[string]string
	if json.Unmarshal([]byte(withoutMarkers(text)), &c) != nil || len(c) != 1 {
		return nil
	}
	if name := DeclaredName(c["name"], tools); declared(name, tools) {
		return []Printed{{name, noArguments}}
	}
	return nil
}

// printedValue is a value in tags as JSON: text, unless the tool wants another
// kind and the text is one.
func printedValue(value, kind string) json.RawMessage {
	if kind != "" && kind != "string" && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	raw, _ := json.Marshal(value) // a string always marshals
	return raw
}

func kindOfParameter(tools []llm.Tool, tool, parameter string) string {
	return strings.Trim(string(parametersOf(tools, tool).Properties[parameter].Type), `"`)
}

// wanted are the parameters of a tool.
type wanted struct {
	Required   []string
	Properties map[string]struct{ Type json.RawMessage }
}

func parametersOf(tools []llm.Tool, tool string) (w wanted) {
	if i := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == tool }); i >= 0 {
		_ = json.Unmarshal(tools[i].Parameters, &w) // a schema of another kind names none
	}
	return w
}

// readValue reads JSON, or what looks like it in Python and in Gemma's calls: keys
// without quotes, other quotes, (name=value).
func readValue(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), true
	}
	v := looseValue{rest: text}
	out, ok := v.read(0)
	if !ok || strings.TrimSpace(v.rest) != "" {
		return nil, false
	}
	raw, err := json.Marshal(out)
	return raw, err == nil
}

// looseValue reads values that are nearly JSON.
type looseValue struct{ rest string }

var (
	looseQuotes = []string{`<|"|>`, "<escape>", `"""`, `"`, "'"}
	looseWords  = map[string]any{"True": true, "true": true, "False": false, "false": false, "None": nil, "null": nil}
	looseKey    = regexp.MustCompile(`^[A-Za-z_][\w.-]*`)
	looseNumber = regexp.MustCompile(`^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`)
)

// maxLoose bounds how deep such values nest.
const maxLoose = 20

func (v *looseValue) skip(sign string) bool {
	v.rest = strings.TrimLeft(v.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(v.rest, sign)
	v.rest = rest
	return ok
}

func (v *looseValue) read(depth int) (any, bool) {
	if depth > maxLoose {
		return nil, false
	}
	switch {
	case v.skip("{"):
		return v.object("}", depth)
	case v.skip("("):
		if !strings.HasPrefix(strings.TrimSpace(v.rest), "{") {
			return v.object(")", depth)
		}
		inner, ok := v.read(depth + 1)
		return inner, ok && v.skip(")")
	case v.skip("["):
		list := []any{}
		for !v.skip("]") {
			one, ok := v.read(depth + 1)
			if !ok || !v.skip(",") && !strings.HasPrefix(strings.TrimSpace(v.rest), "]") {
				return nil, false
			}
			list = append(list, one)
		}
		return list, true
	}
	if text, ok := v.text(); ok {
		return text, true
	}
	if number := looseNumber.FindString(v.rest); number != "" {
		v.rest = v.rest[len(number):]
		return json.Number(number), true
	}
	word := looseKey.FindString(v.rest)
	value, ok := looseWords[word]
	v.rest = v.rest[len(word):]
	return value, ok
}

func (v *looseValue) object(end string, depth int) (any, bool) {
	object := map[string]any{}
	for !v.skip(end) {
		key, ok := v.text()
		if !ok {
			key = looseKey.FindString(v.rest)
			v.rest = v.rest[len(key):]
		}
		if key == "" || !v.skip(":") && !v.skip("=") {
			return nil, false
		}
		value, ok := v.read(depth + 1)
		if !ok || !v.skip(",") && !strings.HasPrefix(strings.TrimSpace(v.rest), end) {
			return nil, false
		}
		object[key] = value
	}
	return object, true
}

// text reads a string in any of the quotes.
func (v *looseValue) text() (string, bool) {
	v.rest = strings.TrimLeft(v.rest, " \t\r\n")
	for _, quote := range looseQuotes {
		inner, ok := strings.CutPrefix(v.rest, quote)
		if !ok {
			continue
		}
		for at := 0; at < len(inner); at++ {
			if inner[at] == '\\' && len(quote) == 1 {
				at++
			} else if strings.HasPrefix(inner[at:], quote) {
				v.rest = inner[at+len(quote):]
				return unescape(inner[:at], quote), true
			}
		}
		return "", false
	}
	return "", false
}

// unescape reads the escapes of a string in simple quotes.
func unescape(text, quote string) string {
	if len(quote) > 1 {
		return text
	}
	if quote == `"` {
		text = strings.ReplaceAll(text, `\'`, "'")
	} else {
		text = strings.NewReplacer(`\'`, "'", `"`, `\"`).Replace(text)
	}
	if out, err := strconv.Unquote(`"` + strings.ReplaceAll(text, "\n", `\n`) + `"`); err == nil {
		return out
	}
	return text
}
