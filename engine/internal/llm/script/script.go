// Package script is a model that follows a script: for tests, and for the demo,
// which says so. It streams, thinks, calls tools and fails as a provider would,
// and never pretends to understand anything.
//
// # Scripts
//
// A script is a text of rules, tried in order; the first that matches answers:
//
//	# a comment
//	user ^add (.+)
//		think They want a note.
//		call file_append {"path": "notes.md", "content": "$1"}
//	result file_append Error: (.*)
//		say That did not work: $1
//	result
//		say Done.
//		times 3
//	user
//		fail overloaded the model is busy
//
// A line that is not indented begins a rule. "user PATTERN" matches the text of
// the last message when a user wrote it, "result [TOOL] PATTERN" the last tool
// result when the last message brings results; TOOL is a name followed by a
// space, and "result * PATTERN" is for results of any tool. Patterns are RE2
// without regard to case, ^ and $ match at lines, and none matches everything.
//
// The indented lines say what the rule does:
//
//	say TEXT         what is said; several lines are several lines
//	think TEXT       what is thought before
//	call NAME JSON   a tool call; no JSON means {}
//	delay DURATION   the wait before each piece ("50ms")
//	times N          the rule may be used N times only
//	stop REASON      max_tokens or refusal, instead of what follows from the rest
//	fail KIND [TEXT] an llm.Error of that kind, after the text
//
// $0, $1 and ${name} stand for what the pattern matched; in the JSON of a call
// they are the inside of a string. $$ is a dollar.
package script

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"klawbot/engine/internal/llm"
	"klawbot/internal/wait"
)

// Script is a Provider. It may be used from several goroutines.
type Script struct {
	mu    sync.Mutex
	rules []*rule // their counters are guarded by mu
}

var _ llm.Provider = (*Script)(nil)

// Name is what the script gives itself as the model.
const Name = "script"

// Check is always content: the script is there.
func (s *Script) Check(context.Context) error { return nil }

// Stream answers by the first rule that matches; see llm.Provider. That none
// does is a BadRequest.
func (s *Script) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	a, ok := s.answer(r)
	if !ok {
		return llm.Result{}, &llm.Error{Kind: llm.BadRequest, Message: "the script has no rule for " + describe(r)}
	}
	started := false
	show := func(e llm.Event) error {
		if !wait.For(ctx, a.delay) {
			return ctx.Err()
		}
		started = true
		sink(e)
		return nil
	}
	if err := a.play(r.Stream, show); err != nil {
		return llm.Result{}, err
	}
	if a.fault != "" {
		return llm.Result{}, &llm.Error{Kind: a.fault, Message: a.reason, Started: started}
	}
	return a.result(r), nil
}

// answer finds the rule and counts its use.
func (s *Script) answer(r llm.Request) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range s.rules {
		if a, ok := rule.try(r); ok {
			return a, true
		}
	}
	return answer{}, false
}

// describe says what no rule matched, for the author of the script.
func describe(r llm.Request) string {
	if tool, text, ok := lastResult(r); ok {
		return fmt.Sprintf("the result of %s: %.80q", tool, text)
	}
	return fmt.Sprintf("the user text %.80q", lastUser(r))
}

// answer is what a rule makes of one request.
type answer struct {
	think, say string
	calls      []call
	delay      time.Duration
	stop       llm.Stop
	fault      llm.ErrorKind
	reason     string
}

// play shows the thinking and the words, in pieces when it streams.
func (a answer) play(stream bool, show func(llm.Event) error) error {
	thinking, words := []string{a.think}, []string{a.say}
	if stream {
		thinking, words = pieces(a.think), pieces(a.say)
	}
	for _, piece := range thinking {
		if piece != "" {
			if err := show(llm.Event{Thinking: piece}); err != nil {
				return err
			}
		}
	}
	for _, piece := range words {
		if piece != "" {
			if err := show(llm.Event{Text: piece}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a answer) result(r llm.Request) llm.Result {
	m := llm.Message{Role: llm.RoleAssistant}
	if a.think != "" {
		m.Blocks = append(m.Blocks, llm.Block{Thinking: &llm.Thinking{Text: a.think, Provider: Name, Model: r.Model}})
	}
	if a.say != "" {
		m.Blocks = append(m.Blocks, llm.Block{Text: a.say})
	}
	stop := llm.StopEnd
	if !r.NoTools {
		for _, c := range a.calls {
			m.Blocks = append(m.Blocks, llm.Block{Call: &llm.ToolCall{Name: c.name, Arguments: c.arguments, Fault: c.fault()}})
			stop = llm.StopCalls
		}
	}
	if a.stop != "" {
		stop = a.stop
	}
	usage := llm.Usage{Input: llm.EstimateRequest(r), Output: llm.EstimateMessage(m), Cached: -1}
	return llm.Result{Message: m, Stop: stop, Usage: usage, Unwanted: r.NoTools && len(a.calls) > 0, Model: Name}
}

// pieces cuts a text behind its spaces, so that a stream grows by words.
func pieces(text string) []string {
	var out []string
	start, blank := 0, false
	for i, r := range text {
		if blank && !unicode.IsSpace(r) {
			out = append(out, text[start:i])
			start = i
		}
		blank = unicode.IsSpace(r)
	}
	return append(out, text[start:])
}

// lastUser is the text of the last message, if a user wrote it.
func lastUser(r llm.Request) string {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleUser {
		var parts []string
		for _, b := range r.Messages[n-1].Blocks {
			parts = append(parts, b.Text)
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

// lastResult is the last result of the last message, if that brings results.
func lastResult(r llm.Request) (tool, text string, ok bool) {
	n := len(r.Messages)
	if n == 0 || r.Messages[n-1].Role != llm.RoleTool {
		return "", "", false
	}
	for _, b := range r.Messages[n-1].Blocks {
		if b.Result != nil {
			tool, text, ok = b.Result.Name, b.Result.Text, true
		}
	}
	return tool, text, ok
}
