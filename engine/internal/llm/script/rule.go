package script

import (
	"encoding/json"
	"regexp"
	"strings"

	"klawbot/engine/internal/llm"
)

// rule answers what it matches.
type rule struct {
	result bool   // matches tool results, not what a user said
	tool   string // of this tool; empty for any
	match  *regexp.Regexp
	left   int // how often it may still be used, -1 for always
	answer answer
}

// call is a tool call, its arguments before or after what was matched is put in.
type call struct{ name, arguments string }

func (c call) fault() string {
	if err := llm.CheckArguments(c.arguments); err != nil {
		return err.Error()
	}
	return ""
}

// try answers a request that the rule matches.
func (r *rule) try(req llm.Request) (answer, bool) {
	tool, text, isResult := lastResult(req)
	if !isResult {
		text = lastUser(req)
	}
	if r.left == 0 || r.result != isResult || r.tool != "" && r.tool != tool {
		return answer{}, false
	}
	found := r.match.FindStringSubmatchIndex(text)
	if found == nil {
		return answer{}, false
	}
	if r.left > 0 {
		r.left--
	}
	a := r.answer
	a.think, a.say, a.reason = r.expand(a.think, text, found), r.expand(a.say, text, found), r.expand(a.reason, text, found)
	a.calls = nil
	for _, c := range r.answer.calls {
		a.calls = append(a.calls, call{c.name, r.expandJSON(c.arguments, text, found)})
	}
	return a, true
}

func (r *rule) expand(template, text string, found []int) string {
	if !strings.Contains(template, "$") {
		return template
	}
	return string(r.match.ExpandString(nil, template, text, found))
}

// expandJSON puts what was matched into JSON, as the inside of a string.
func (r *rule) expandJSON(template, text string, found []int) string {
	if !strings.Contains(template, "$") {
		return template
	}
	var quoted strings.Builder
	at := make([]int, len(found))
	for i := 0; i < len(found); i += 2 {
		at[i] = quoted.Len()
		if found[i] < 0 {
			at[i], at[i+1] = -1, -1
			continue
		}
		part, _ := json.Marshal(text[found[i]:found[i+1]]) // a string always marshals
		quoted.Write(part[1 : len(part)-1])
		at[i+1] = quoted.Len()
	}
	return string(r.match.ExpandString(nil, template, quoted.String(), at))
}
