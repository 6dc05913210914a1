// Package rule holds the rules of the owner: what commands and paths may not hold.
package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"klawbot/tools/budget"
)

// Rule forbids what commands and paths may not hold. It is made by New.
type Rule struct {
	name      string
	tools     []string
	arguments []string
	forbidden []forbidden
}

// forbidden is one entry of a rule: words in this order, or a pattern.
type forbidden struct {
	written string
	words   []string
	pattern *budget.Pattern
}

// patternMark begins an entry that is a regular expression.
const patternMark = "re:"

// maxPattern bounds a regular expression, in bytes.
const maxPattern = 1000

// The arguments that rules check. All others may hold text of people or the
// content of files, which forbids nothing.
var (
	pathArguments    = []string{"path", "paths", "file", "file_path", "filename", "dir", "directory", "workdir", "cwd"}
	commandArguments = []string{"command", "cmd", "args", "extra"}
)

// arguments are the names of the arguments that a rule may check.
func arguments() []string { return slices.Concat(pathArguments, commandArguments) }

// Tools are the names of the tools that the rule is for, none for all.
func (r Rule) Tools() []string { return r.tools }

// New makes a rule. tools are names or aliases, looked are names of arguments; none means
// all. An entry is shell words that stand in a command in this order ("rm -rf /"), a path
// ("secrets/keys"), or "re:" and a regular expression of RE2.
func New(name string, tools, looked, entries []string) (Rule, error) {
	r := Rule{name: name, tools: tools, arguments: looked}
	if name == "" {
		return r, errors.New("a rule needs a name")
	}
	for _, a := range looked {
		if !slices.Contains(arguments(), a) {
			return r, fmt.Errorf("rule %s: arguments must be of %s, got %q", name, strings.Join(arguments(), ", "), a)
		}
	}
	if len(entries) == 0 {
		return r, fmt.Errorf("rule %s: forbidden is empty", name)
	}
	for _, text := range entries {
		f, err := newForbidden(text)
		if err != nil {
			return r, fmt.Errorf("rule %s: %w", name, err)
		}
		r.forbidden = append(r.forbidden, f)
	}
	return r, nil
}

func newForbidden(text string) (forbidden, error) {
	f := forbidden{written: text}
	source, isPattern := strings.CutPrefix(text, patternMark)
	if !isPattern {
		f.words = shellWords(text)
		if len(f.words) == 0 {
			return f, fmt.Errorf("forbidden %q holds no word", text)
		}
		return f, nil
	}
	if source == "" || len(source) > maxPattern {
		return f, fmt.Errorf("a pattern must have 1 to %d bytes, this has %d", maxPattern, len(source))
	}
	var err error
	f.pattern, err = budget.Compile(source)
	return f, err
}

// Forbidding finds the first rule that forbids a call of a tool with these names: the
// rule's name and the reason, or "". looked says that every rule was compared to its end.
func Forbidding(rules []Rule, names []string, written json.RawMessage) (name, reason string, looked bool) {
	if len(rules) == 0 {
		return "", "", true
	}
	var args map[string]any
	if err := json.Unmarshal(written, &args); err != nil {
		return rules[0].name, "the arguments cannot be read", true
	}
	looked = true
	for _, r := range rules {
		if len(r.tools) > 0 && !slices.ContainsFunc(r.tools, func(t string) bool { return slices.Contains(names, t) }) {
			continue
		}
		steps := budget.For(len(written) * len(r.forbidden))
		for _, a := range arguments() {
			if len(r.arguments) > 0 && !slices.Contains(r.arguments, a) {
				continue
			}
			if f := r.hit(a, args[a], steps); f != nil {
				return r.name, fmt.Sprintf("rule %q forbids %q in %s", r.name, f.written, a), true
			}
		}
		looked = looked && !steps.Spent()
	}
	return "", "", looked
}

// hit finds the entry that forbids a value of an argument, nil when none does.
func (r Rule) hit(argument string, value any, steps *budget.Budget) *forbidden {
	isPath := slices.Contains(pathArguments, argument)
	for _, text := range Texts(value, steps) {
		for i := range r.forbidden {
			if f := &r.forbidden[i]; isPath && f.inPath(text, steps) || !isPath && f.inCommand(text, steps) {
				return f
			}
		}
	}
	return nil
}

// Texts are the texts of a value. A list of words, also of lists, is a command, too.
func Texts(value any, steps *budget.Budget) []string {
	var single, lists []string
	var read func(any)
	read = func(value any) {
		switch v := value.(type) {
		case string:
			single = append(single, v)
		case []any:
			first, length := len(single), 1
			for _, item := range v {
				read(item)
			}
			if len(v) == 1 {
				return // the same as what is in it
			}
			for _, s := range single[first:] {
				length += 1 + len(s)
			}
			if steps.Spend(length) {
				lists = append(lists, strings.Join(single[first:], " "))
			}
		}
	}
	read(value)
	return append(single, lists...)
}
