package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
)

// Parse reads a script. Errors name the line.
func Parse(text string) (*Script, error) {
	s := &Script{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := s.line(strings.TrimRight(line, " \t\r\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if len(s.rules) == 0 {
		return nil, errors.New("the script has no rules")
	}
	return s, nil
}

func (s *Script) line(line string) error {
	indented := strings.TrimLeft(line, " \t")
	switch {
	case indented == "" || line[0] == '#':
		return nil
	case indented == line:
		r, err := parseRule(line)
		s.rules = append(s.rules, r)
		return err
	case len(s.rules) == 0:
		return errors.New("an indented line before the first rule")
	}
	word, rest, _ := strings.Cut(indented, " ")
	return s.rules[len(s.rules)-1].action(word, rest)
}

func parseRule(line string) (*rule, error) {
	r := &rule{left: -1}
	word, pattern, _ := strings.Cut(line, " ")
	switch word {
	case "user":
	case "result":
		r.result = true
		r.tool, pattern, _ = strings.Cut(strings.TrimSpace(pattern), " ")
		if r.tool == "*" {
			r.tool = ""
		}
	default:
		return nil, fmt.Errorf("a rule begins with user or result, not with %q", word)
	}
	var err error
	r.match, err = regexp.Compile("(?im)" + strings.TrimSpace(pattern))
	return r, err
}

// kinds are the errors that a rule may fail with.
var kinds = []llm.ErrorKind{
	llm.RateLimit, llm.Overloaded, llm.Network, llm.Stall, llm.Truncated, llm.Quota, llm.Auth,
	llm.ContextOverflow, llm.BadRequest, llm.NotFound, llm.Unsupported, llm.Refused, llm.Local,
}

// action adds an indented line to the rule.
func (r *rule) action(word, rest string) (err error) {
	a := &r.answer
	switch word {
	case "say":
		a.say = join(a.say, rest)
	case "think":
		a.think = join(a.think, rest)
	case "call":
		return a.addCall(rest)
	case "delay":
		a.delay, err = time.ParseDuration(rest)
	case "times":
		r.left, err = strconv.Atoi(rest)
		if err == nil && r.left < 1 {
			err = errors.New("times is at least 1")
		}
	case "stop":
		a.stop = llm.Stop(rest)
		if a.stop != llm.StopMaxTokens && a.stop != llm.StopRefusal {
			err = fmt.Errorf("stop is max_tokens or refusal, not %q", rest)
		}
	case "fail":
		kind, reason, _ := strings.Cut(rest, " ")
		a.fault, a.reason = llm.ErrorKind(kind), reason
		if !slices.Contains(kinds, a.fault) {
			err = fmt.Errorf("unknown kind of error %q; there are %v", kind, kinds)
		}
	default:
		err = fmt.Errorf("unknown word %q; there are say, think, call, delay, times, stop and fail", word)
	}
	return err
}

// addCall also takes invalid JSON, so that a script can play a model that
// makes mistakes, but only when it does not look like an object.
func (a *answer) addCall(rest string) error {
	name, arguments, _ := strings.Cut(rest, " ")
	if name == "" {
		return errors.New("call needs the name of a tool")
	}
	if arguments = strings.TrimSpace(arguments); arguments == "" {
		arguments = "{}"
	}
	if strings.HasPrefix(arguments, "{") && strings.HasSuffix(arguments, "}") && !json.Valid([]byte(arguments)) {
		return fmt.Errorf("the arguments of %s are not valid JSON", name)
	}
	a.calls = append(a.calls, call{name, arguments})
	return nil
}

func join(lines, line string) string {
	if lines == "" {
		return line
	}
	return lines + "\n" + line
}
