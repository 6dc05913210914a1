package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/tools"
)

// stub is a tool made of a function.
type stub struct {
	spec tools.Spec
	run  func(tools.Call) tools.Result
}

func (s stub) Spec() tools.Spec { return s.spec }

func (s stub) Run(_ context.Context, c tools.Call) tools.Result { return s.run(c) }

func stubbed(name, about string, changes bool, run func(tools.Call) tools.Result) stub {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","description":"which"}}}`)
	return stub{tools.Spec{
		Name: name, Group: tools.GroupSystem, Changes: changes,
		Texts: map[string]tools.Text{"en": {Description: about, Parameters: schema}},
	}, run}
}

func TestHarmlessCallsRunTogetherAndOthersAlone(t *testing.T) {
	h := build(t)
	var mu sync.Mutex
	together, most := 0, 0 // guarded by mu
	var order []string     // guarded by mu
	full := make(chan struct{})
	var meeting sync.Once
	run := func(name string, meet int) func(tools.Call) tools.Result {
		return func(c tools.Call) tools.Result {
			mu.Lock()
			together++
			most = max(most, together)
			order = append(order, name+string(c.Arguments))
			if together == meet {
				meeting.Do(func() { close(full) })
			}
			mu.Unlock()
			if meet > 0 {
				<-full // each waits until as many as may be are there
			}
			mu.Lock()
			defer mu.Unlock()
			together--
			return tools.OK(name + string(c.Arguments))
		}
	}
	h.tools = append(h.tools, stubbed("look", "Looks.", false, run("look", 4)), stubbed("act", "Acts.", true, run("act", 0)))
	var calls []modeltest.Call
	for n := range 6 {
		calls = append(calls, modeltest.Call{Name: "look", Arguments: fmt.Sprintf(`{"n":%d}`, n)})
	}
	for n := range 3 {
		calls = append(calls, modeltest.Call{Name: "act", Arguments: fmt.Sprintf(`{"n":%d}`, n)})
	}
	h.model.Push(modeltest.Reply{Calls: calls}, modeltest.Text("done"))
	h.start().says(alice, "go")
	h.shows(alice, "done")
	mu.Lock()
	defer mu.Unlock()
	if most != 4 {
		t.Errorf("%d calls ran at one time, want 4", most)
	}
	if want := []string{`act{"n":0}`, `act{"n":1}`, `act{"n":2}`}; !slices.Equal(order[6:], want) {
		t.Errorf("the changes ran as %q", order)
	}
	request := h.model.Completions()[1]
	var results []string
	for _, m := range request.Messages[len(request.Messages)-9:] {
		results = append(results, m.Text())
	}
	want := []string{`look{"n":0}`, `look{"n":1}`, `look{"n":2}`, `look{"n":3}`, `look{"n":4}`, `look{"n":5}`, `act{"n":0}`, `act{"n":1}`, `act{"n":2}`}
	if !slices.Equal(results, want) {
		t.Errorf("the results come as %q", results)
	}
}

func TestLoopIsHintedAtAndEnded(t *testing.T) {
	h := build(t)
	h.settings.MaxToolCallRounds = 50
	h.tools = append(h.tools, stubbed("look", "Looks.", false, func(tools.Call) tools.Result { return tools.OK("nothing new") }))
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(r.LastUser(), "You repeat the same call") {
			return modeltest.Text("I looked, there is nothing.")
		}
		return modeltest.CallTool("look", map[string]any{"n": 1})
	})
	h.start().says(alice, "look")
	h.shows(alice, "I looked, there is nothing.")
	requests := h.model.Completions()
	if len(requests) != 6 {
		t.Fatalf("the model was asked %d times, want five rounds and a last call", len(requests))
	}
	for n, want := range map[int]string{2: "nothing new", 3: "nothing new\n\n(You made this call 3 times", 4: "nothing new\n\n(You made this call 4 times"} {
		if got := requests[n].Last().Text(); !strings.HasPrefix(got, want) || n == 2 && got != want {
			t.Errorf("after call %d the model reads %q", n, got)
		}
	}
}

func TestToolsAreChosenWhenThereAreTooMany(t *testing.T) {
	h := build(t)
	h.showsAll()
	h.settings.Models.MaxShownTools = 4
	for i := range 8 {
		h.tools = append(h.tools, stubbed(fmt.Sprintf("a_spare_%d", i), "Does something else.", false, func(tools.Call) tools.Result { return tools.OK("") }))
	}
	h.tools = append(h.tools, stubbed("zodiac", "Tells the sign of the zodiac for a birthday.", false, func(tools.Call) tools.Result { return tools.OK("Leo") }))
	h.model.Push(
		modeltest.CallTool("tool_search", map[string]any{"query": "sign of the zodiac"}),
		modeltest.CallTool("zodiac", map[string]any{}),
		modeltest.Text("You are a Leo."),
	)
	h.start().says(alice, "list the folder of notes please")
	h.shows(alice, "You are a Leo.")
	requests := h.model.Completions()
	first, second := offeredTools(requests[0]), offeredTools(requests[1])
	if len(first) != 4 || !slices.Contains(first, "file_list") || !slices.Contains(first, "tool_search") || slices.Contains(first, "zodiac") {
		t.Errorf("at first the model is shown %q", first)
	}
	if len(second) != 4 || !slices.Contains(second, "zodiac") || !slices.Contains(second, "tool_search") || !slices.IsSorted(second) {
		t.Errorf("after the search the model is shown %q", second)
	}
	if got := requests[2].Last().Text(); got != "Leo" {
		t.Errorf("the tool that was found answers %q", got)
	}
}

func TestSearchForToolsIsHiddenWhenAllAreShown(t *testing.T) {
	h := build(t)
	h.showsAll()
	h.settings.Models.MaxShownTools = 100
	h.echo()
	h.start().says(alice, "hello")
	h.shows(alice, "re: hello")
	if shown := offeredTools(h.model.Completions()[0]); slices.Contains(shown, "tool_search") || !slices.Contains(shown, "file_read") {
		t.Errorf("the model is shown %q", shown)
	}
}

// TestArgumentsThatAreTooLong are not kept: the model reads why, and can do it in
// several calls.
func TestArgumentsThatAreTooLong(t *testing.T) {
	h := build(t)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if last := r.Last(); last.Role == "tool" {
			return modeltest.Text("so: " + last.Text())
		}
		return modeltest.CallTool("file_write", map[string]any{"path": "long.txt", "content": strings.Repeat("a", 2<<20)})
	})
	h.start().says(alice, "write it")
	h.sees(alice, "so: Error: the answer was cut at the token limit")
	if _, err := os.Stat(filepath.Join(h.workspace(), "long.txt")); !os.IsNotExist(err) {
		t.Errorf("the call has run: %v", err)
	}
	if n := len(h.model.Completions()[1].Body); n > 200_000 {
		t.Errorf("the arguments go back to the model: %d bytes", n)
	}
}
