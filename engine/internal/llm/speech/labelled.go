package speech

import (
	"regexp"
	"strings"
)

// labelled reads calls whose parts have labels or the names of tools as tags.
type labelled struct{ *scanner }

// labels are words at the start of a line that name a tool, and the words before its
// arguments: those of ReAct and of Qwen's agent.
var labels = []struct{ call, input string }{
	{"Action:", "Action Input:"},
	{"**Action:**", "**Action Input:**"},
	{"✿FUNCTION✿", "✿ARGS✿"},
}

// labelledName is the name of a tool behind its label, alone in its line.
var labelledName = regexp.MustCompile("^:?[ \t]*[`\"]?([A-Za-z_][\\w.:/-]*)[`\"]?(?:\\(\\))?[ \t]*\n\\s*")

// maxLabelled bounds a label, the name of a tool and the label of its arguments.
const maxLabelled = 200

// open begins a call whose parts have labels, "Action: name" and "Action Input:
// {…}", and takes in what ReAct and Qwen's agent write around the answer.
func (s labelled) open() (taken, more bool) {
	for _, l := range labels {
		yes, maybe := begins(s.held, l.call)
		switch {
		case !yes && maybe:
			return false, true
		case !yes || len(s.tools) == 0:
			continue
		}
		found := labelledName.FindStringSubmatch(s.held[len(l.call):])
		if found == nil {
			return false, !strings.Contains(s.held, "\n") && len(s.held) < maxLabelled
		}
		name, size := DeclaredName(found[1], s.tools), len(l.call)+len(found[0])
		if !declared(name, s.tools) {
			return false, false
		}
		if yes, maybe := begins(s.held[size:], l.input); !yes {
			return false, maybe
		}
		s.take(size + len(l.input))
		s.mode, s.tool, s.value = inInput, name, valueEnd{}
		return true, false
	}
	return s.openThoughts()
}

// openThoughts keeps the thoughts of ReAct apart from its final answer, and leaves out
// results that a model made up.
func (s labelled) openThoughts() (taken, more bool) {
	for _, label := range []string{"Thought:", "Final Answer:", "Observation:", "✿RESULT✿", "✿RETURN✿"} {
		yes, maybe := begins(s.held, label)
		switch {
		case !yes && maybe:
			return false, true
		case !yes:
		case label == "Thought:":
			s.seen.reasons = s.seen.reasons || !s.out.said && len(s.tools) > 0
		case label == "Final Answer:" && s.seen.reasons, label == "✿RETURN✿":
			if s.held == label && !s.final {
				return false, true
			}
			s.take(len(label))
			s.held = strings.TrimPrefix(s.held, ":")
			s.unsay()
			s.out.after = true
			return true, false
		case len(s.calls) > 0 && label != "Final Answer:":
			s.mode = scanEnded
			return true, false
		}
	}
	return false, false
}

// unsay makes the thoughts of ReAct thinking.
func (s labelled) unsay() {
	if s.seen.reasons {
		s.seen.reasons = false
		s.emit(unsaidMark)
		s.out.said, s.out.line, s.out.tail = false, "", ""
	}
}

// input takes in the arguments of a call with labels: a JSON object, or the rest of
// the line.
func (s labelled) input() bool {
	if s.value.at == 0 {
		s.held = strings.TrimLeft(s.held, ": \t\r\n")
	}
	if s.held == "" && !s.final {
		return false
	}
	end := strings.IndexByte(s.held, '\n')
	if strings.HasPrefix(s.held, "{") {
		if end = -1; s.value.find(s.held) {
			end = s.value.at
		}
	}
	if end < 0 && !s.final && len(s.held) < maxHeld {
		return false
	}
	if end < 0 {
		end = len(s.held)
	}
	s.unsay()
	arguments := s.take(end)
	if value, ok := readValue(arguments); ok && value[0] == '{' {
		arguments = string(value)
	}
	s.calls = append(s.calls, Printed{s.tool, arguments})
	s.mode, s.out.after, s.out.block = inText, true, true
	return true
}

// toolParameter begins an argument in a tag with its name.
var toolParameter = regexp.MustCompile(`^\s*<([A-Za-z_][\w.-]*)>`)

// toolAttribute is an argument in the tag itself.
var toolAttribute = regexp.MustCompile(`\s([A-Za-z_][\w.-]*)="([^"]*)"`)

// openTag begins a call in a tag that is named after a tool: <file_read><path>a</path>
// </file_read>, <file_read path="a"/>.
func (s labelled) openTag(m marker) (taken, more bool) {
	name := callWord.FindString(s.held[1:])
	if name = strings.TrimSuffix(name, "/"); m.close || !declared(name, s.tools) || s.out.place() != atStart {
		return false, false
	}
	inner, size := "", m.size
	if !strings.HasSuffix(s.held[:m.size], "/>") {
		closing := "</" + name + ">"
		end := strings.Index(s.held, closing)
		rest := strings.TrimLeft(s.held[m.size:], " \t\r\n")
		if rest != "" && rest[0] != '<' && rest[0] != '{' {
			return false, false
		}
		if end < 0 {
			return false, len(s.held) < maxHeld
		}
		inner, size = s.held[m.size:end], end+len(closing)
	}
	if r, more := s.next(size); more || r != 0 && (r != '\n' && size == m.size || s.out.isExample()) {
		return false, more
	}
	arguments, ok := s.arguments(name, s.held[:m.size], inner)
	if ok {
		s.take(size)
		s.calls = append(s.calls, Printed{name, arguments})
		s.out.after, s.out.block = true, true
	}
	return ok, false
}

// arguments reads the arguments in a tag that is named after a tool: its attributes and
// tags with their names, or JSON.
func (s labelled) arguments(name, tag, text string) (arguments string, ok bool) {
	if value, ok := readValue(text); ok && value[0] == '{' {
		return string(value), true
	}
	pairs := parameters{}
	set := func(key, value string) { pairs[key] = printedValue(value, kindOfParameter(s.tools, name, key)) }
	for _, m := range toolAttribute.FindAllStringSubmatch(tag, -1) {
		set(m[1], m[2])
	}
	for strings.TrimSpace(text) != "" {
		m := toolParameter.FindStringSubmatch(text)
		if m == nil {
			return "", false
		}
		value, rest, closed := strings.Cut(text[len(m[0]):], "</"+m[1]+">")
		if !closed {
			return "", false
		}
		set(m[1], strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n"))
		text = rest
	}
	return pairs.json()
}
