package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/tools"
)

// chain gives a house three models at the same fake, in three dialects.
func chain(t *testing.T) *house {
	t.Helper()
	h := build(t)
	h.settings.Models.Entries["claude"] = settings.Model{Provider: "anthropic", Type: "anthropic", BaseURL: h.model.URL, APIKey: "model-key", Name: "claude-x", ContextBudget: 32_000}
	h.settings.Models.Entries["local"] = settings.Model{Provider: "ollama", Type: "ollama", BaseURL: h.model.URL, APIKey: "model-key", Name: "llama", ContextBudget: 32_000}
	h.settings.Models.Fallback = []string{"claude", "local"}
	return h
}

// broken answers for models by name with a fault, and for the others with words.
func broken(h *house, faults map[string]modeltest.Reply) {
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if fault, ok := faults[r.Model]; ok {
			return fault
		}
		return modeltest.Text("re: " + said(r))
	})
}

// asked lists the models of all requests, in order.
func asked(h *house) string {
	var names []string
	for _, r := range h.model.Completions() {
		names = append(names, r.Model)
	}
	return strings.Join(names, " ")
}

func TestAnotherModelAnswersAndThePersonIsToldOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, fault := range map[string]modeltest.Reply{
		"key":        modeltest.Error(401, "Incorrect API key"),
		"money":      {Status: 429, Code: "insufficient_quota", Message: "pay"},
		"model":      modeltest.Error(404, "model not found"),
		"overloaded": modeltest.Error(503, "overloaded"),
		"wait":       modeltest.RateLimited(time.Hour),
		"network":    {Fault: modeltest.ResetBefore},
		"broken":     {Text: "half an answer", Fault: modeltest.Truncate},
	} {
		t.Run(name, func(t *testing.T) {
			h := chain(t)
			broken(h, map[string]modeltest.Reply{"test-model": fault})
			h.start().says(alice, "one")
			told := "re: one\n\n(answered by claude: main is unavailable)"
			h.shows(alice, told)
			h.says(alice, "two")
			h.shows(alice, told, "re: two")
			h.says(bob, "three")
			h.shows(bob, "re: three\n\n(answered by claude: main is unavailable)")
			if got, want := asked(h), "test-model claude-x claude-x claude-x"; got != want {
				t.Errorf("asked %s, want %s: a model that failed is left alone", got, want)
			}
		})
	}
}

// TestOnlyOthersAreSentToTheOwner: an owner reads what to do.
func TestOnlyOthersAreSentToTheOwner(t *testing.T) {
	for _, c := range []struct {
		fault       modeltest.Reply
		owner, bobs string
	}{
		{modeltest.Error(401, "no"), "API key rejected. Set another one: klawbot model", "API key rejected. Please tell the owner."},
		{modeltest.Error(402, "no"), "Model credit is used up. Add credit at the provider, or choose another model: /models", "Model credit is used up. Please tell the owner."},
		{modeltest.Error(400, "what?"), "The provider rejected the request. To see why: klawbot doctor", "The provider rejected the request. Please tell the owner."},
	} {
		h := build(t)
		h.model.Respond(func(modeltest.Request) modeltest.Reply { return c.fault })
		h.start().says(alice, "one")
		h.shows(alice, c.owner)
		h.says(bob, "two")
		h.shows(bob, c.bobs)
	}
}

func TestNoOtherModelForWhatIsWrongEverywhere(t *testing.T) {
	for want, fault := range map[string]modeltest.Reply{
		"This conversation is too long for the model. /new starts a new one.": modeltest.Error(400, "maximum context length is 5"),
		"The provider rejected the request. To see why: klawbot doctor":       modeltest.Error(400, "what?"),
		"The model declined to answer this.":                                  {Finish: "content_filter"},
	} {
		h := chain(t)
		broken(h, map[string]modeltest.Reply{"test-model": fault})
		h.start().says(alice, "one")
		h.shows(alice, want)
		if got := asked(h); got != "test-model" {
			t.Errorf("asked %s", got)
		}
		h.end()
	}
}

func TestWhenAllModelsFailThereIsOneSentence(t *testing.T) {
	h := chain(t)
	broken(h, map[string]modeltest.Reply{
		"test-model": modeltest.Error(503, "overloaded"), "claude-x": modeltest.Error(401, "no"), "llama": modeltest.Error(500, "crashed"),
	})
	h.start().says(alice, "one")
	h.shows(alice, "The model is overloaded. Please try again in a minute.")
	h.says(alice, "two")
	h.shows(alice, "The model is overloaded. Please try again in a minute.", "The model is overloaded. Please try again in a minute.")
	if got, want := asked(h), "test-model claude-x llama test-model"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

// TestATurnStaysWithTheModelThatAnswered switches the protocol in the middle of
// a turn: the calls of one model are the history of the next.
func TestATurnStaysWithTheModelThatAnswered(t *testing.T) {
	h := chain(t)
	rounds := 0
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		rounds++
		switch {
		case rounds == 1:
			return modeltest.Reply{Thinking: "hm", Calls: []modeltest.Call{{ID: "functions.current_time:0", Name: "current_time", Arguments: "{}"}}}
		case r.Model == "test-model":
			return modeltest.Error(503, "overloaded")
		case rounds == 3:
			return modeltest.Reply{Thinking: "hm", Calls: []modeltest.Call{{Name: "current_time", Arguments: "{}"}}}
		}
		return modeltest.Text("it is late")
	})
	h.start().says(alice, "what time is it?")
	h.shows(alice, "it is late\n\n(answered by claude: main is unavailable)")
	if got, want := asked(h), "test-model test-model claude-x claude-x"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	last := h.model.Completions()[3]
	if n := len(last.Messages); n < 5 || last.Messages[n-1].Role != "tool" || last.Messages[n-3].Role != "tool" {
		t.Errorf("the results are not in the request: %s", last.Body)
	}
}

func TestAModelWithoutToolsAnswersWithoutThem(t *testing.T) {
	for name, fault := range map[string]string{"main": "openai", "local": "ollama"} {
		t.Run(fault, func(t *testing.T) {
			h := chain(t)
			h.settings.Models.Default, h.settings.Models.Fallback = name, nil
			h.model.SetCapabilities(0, "completion")
			h.model.Respond(func(r modeltest.Request) modeltest.Reply {
				if len(r.Tools) > 0 {
					return modeltest.Error(400, "this model does not support tools")
				}
				return modeltest.Text("re: " + said(r))
			})
			h.start().says(alice, "one")
			told := fmt.Sprintf("re: one\n\n(%s can't use tools and answered without them)", name)
			h.shows(alice, told)
			before := len(h.model.Completions())
			h.says(alice, "two")
			h.shows(alice, told, "re: two")
			if n := len(h.model.Completions()) - before; n != 1 {
				t.Errorf("%d requests for the second answer: what a model cannot do was forgotten", n)
			}
		})
	}
}

func TestAToolThatAServerCannotReadIsLeftOut(t *testing.T) {
	unreadable := []string{"spare_3", "spare_7"}
	h := chain(t)
	h.showsAll()
	for i := range 9 {
		h.tools = append(h.tools, stubbed(fmt.Sprintf("spare_%d", i), "Does something else.", false, func(tools.Call) tools.Result { return tools.OK("") }))
	}
	h.settings.Models.Fallback = nil
	most := 0
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		most = max(most, len(r.Tools))
		for _, tool := range r.Tools {
			if slices.Contains(unreadable, tool.Function.Name) {
				return modeltest.Error(500, "failed to parse grammar")
			}
		}
		return modeltest.Text("re: " + said(r))
	})
	h.start().says(alice, "one")
	told := "re: one\n\n(main's server rejected the tool definitions, so it answered without tools: spare_3, spare_7)"
	h.shows(alice, told)
	calls := h.model.Completions()
	if last := calls[len(calls)-1]; len(last.Tools) != most-len(unreadable) {
		t.Errorf("%d of %d tools are offered", len(last.Tools), most)
	}
	for _, trial := range calls[1 : len(calls)-1] {
		if trial.MaxTokens == nil || *trial.MaxTokens > 16 || len(trial.Messages) != 1 {
			t.Errorf("a trial costs more than it must: %s", trial.Body)
		}
	}
	before := len(calls)
	h.says(alice, "two")
	h.shows(alice, told, "re: two")
	if n := len(h.model.Completions()) - before; n != 1 {
		t.Errorf("%d requests for the second answer: what a server cannot read was forgotten", n)
	}
}

func TestACutRequestIsTold(t *testing.T) {
	h := chain(t)
	h.settings.Models.Default = "local"
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: "well", Usage: &modeltest.Usage{Prompt: 100, Completion: 1}}
	})
	h.start().says(alice, strings.Repeat("word ", 700))
	h.shows(alice, "well\n\n(local's server dropped part of this conversation: its context window is smaller than contextBudget)")
}

// TestABrokenStreamIsAskedForAgain: what was shown is replaced by an edit.
func TestABrokenStreamIsAskedForAgain(t *testing.T) {
	h := build(t)
	h.settings.Models.Retries = 1
	h.model.Push(modeltest.Reply{Text: "half an answer", Fault: modeltest.ResetAfter})
	h.echo()
	h.start().says(alice, "one")
	h.shows(alice, "re: one")
	if n := len(h.model.Completions()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestALoadingModelIsWaitedForVisibly(t *testing.T) {
	h := build(t)
	h.model.Push(modeltest.Error(503, "Loading model"))
	h.echo()
	h.start().says(alice, "one")
	h.shows(alice, "re: one")
	if log := strings.Join(h.messenger.log(), "\n"); !strings.Contains(log, "Loading the model") {
		t.Errorf("nobody saw that the model is being loaded:\n%s", log)
	}
}

func TestAFallbackWithASmallerWindowGetsLess(t *testing.T) {
	t.Parallel() // it mostly waits
	h := chain(t)
	small := h.settings.Models.Entries["claude"]
	small.ContextBudget = 4000
	h.settings.Models.Entries["claude"] = small
	long := strings.Repeat("word ", 900)
	var answers []string
	h.echo()
	h.start()
	for i := range 4 {
		h.says(alice, fmt.Sprintf("%d %s", i, long))
		answers = append(answers, strings.TrimSpace(fmt.Sprintf("re: %d %s", i, long)))
		h.shows(alice, answers...)
	}
	broken(h, map[string]modeltest.Reply{"test-model": modeltest.Error(401, "no")})
	h.says(alice, "short")
	h.shows(alice, append(answers, "re: short\n\n(answered by claude: main is unavailable)")...)
	all := h.model.Completions()
	if chosen, other := len(all[len(all)-2].Messages), len(all[len(all)-1].Messages); other >= chosen || other < 2 {
		t.Errorf("%d messages for the chosen model, %d for the one with the smaller window", chosen, other)
	}
}

func usage(t *testing.T, h *house) health.UsageToday {
	t.Helper()
	s, err := h.engine.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Usage
}

func TestUsageAndCostOfToday(t *testing.T) {
	h := chain(t)
	priced := h.settings.Models.Entries["main"]
	priced.Prices = &settings.Prices{Input: 1, Output: 10, Cached: 0.1}
	h.settings.Models.Entries["main"] = priced
	h.settings.Models.Fallback = nil
	h.model.Push(
		modeltest.Reply{Text: "one", Usage: &modeltest.Usage{Prompt: 1000, Completion: 50}},
		modeltest.Reply{Text: "half an answer", Fault: modeltest.Truncate},
		modeltest.Error(401, "no"),
	)
	h.start().says(alice, "a")
	h.shows(alice, "one")
	if u := usage(t, h); u.Calls != 1 || u.InputTokens != 1000 || u.OutputTokens != 50 || u.CostUSD != 0.0015 || u.UnpricedCalls != 0 || u.EstimatedTokens != 0 {
		t.Errorf("%+v", u)
	}
	h.says(alice, "b")
	h.shows(alice, "one", "The model stopped mid-answer. Please try again.")
	h.says(alice, "c")
	if !h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 3 }) {
		t.Fatal("no third answer")
	}
	u := usage(t, h)
	if u.Calls != 2 || u.InputTokens != 1000 || u.EstimatedTokens == 0 || u.CostUSD <= 0.0015 {
		t.Errorf("a broken answer counts by estimate, a refused request not at all: %+v", u)
	}
	h.restart()
	if again := usage(t, h); again != u {
		t.Errorf("after a restart %+v, before %+v", again, u)
	}
	raw, err := json.Marshal(u)
	if err != nil || !strings.Contains(string(raw), `"input_tokens":1000`) || !strings.Contains(string(raw), `"cost_usd":`) {
		t.Errorf("%v %s", err, raw)
	}
	h.says(alice, "/status")
	if !h.messenger.wait(5*time.Second, func() bool {
		texts := h.messenger.texts(alice)
		last := texts[len(texts)-1]
		return strings.Contains(last, "Model calls today: 2, tokens: 1000 in, 50 out, about ") && strings.Contains(last, ", $0.00")
	}) {
		t.Errorf("%q", h.messenger.texts(alice))
	}
}

func TestABudgetRefusesClearly(t *testing.T) {
	for _, c := range []struct {
		budget settings.Budget
		want   string
	}{
		{settings.Budget{PerDayTokens: 1000}, "Today's model budget is used up (1050 of 1000 tokens). I'll answer again after midnight (UTC), or when models.budget.perDayTokens is raised."},
		{settings.Budget{PerDayUSD: 0.001}, "Today's model budget is used up ($0.0015 of $0.0010). I'll answer again after midnight (UTC), or when models.budget.perDayUSD is raised."},
	} {
		h := chain(t)
		priced := h.settings.Models.Entries["main"]
		priced.Prices = &settings.Prices{Input: 1, Output: 10}
		h.settings.Models.Entries["main"] = priced
		h.settings.Models.Budget, h.settings.Location = c.budget, time.UTC
		h.model.Push(modeltest.Reply{Text: "one", Usage: &modeltest.Usage{Prompt: 1000, Completion: 50}})
		h.start().says(alice, "a")
		h.shows(alice, "one")
		h.says(alice, "b")
		h.shows(alice, "one", c.want)
		h.restart()
		h.says(alice, "c")
		h.shows(alice, "one", c.want, c.want)
		if n := len(h.model.Completions()); n != 1 {
			t.Errorf("%d model calls", n)
		}
		h.end()
	}
}

// TestStoppedWhileAskedAgain: what a broken attempt has said is no part of the answer,
// not even of one that is stopped.
func TestStoppedWhileAskedAgain(t *testing.T) {
	h := build(t)
	h.settings.Models.Retries = 2
	asked := make(chan struct{}, 2)
	broken := true
	h.model.Respond(func(modeltest.Request) modeltest.Reply {
		defer func() { broken = false; asked <- struct{}{} }()
		if broken {
			return modeltest.Reply{Text: "BROKEN half of an answer that is long", Fault: modeltest.ResetAfter, Cut: 400}
		}
		return modeltest.Reply{Fault: modeltest.StallBefore}
	})
	h.start().says(alice, "slow")
	<-asked
	<-asked
	h.says(alice, "/stop")
	h.shows(alice, "Stopped.") // and no placeholder any more
	for _, text := range h.messenger.texts(alice) {
		if strings.Contains(text, "BROKEN") {
			t.Errorf("the person reads %q", text)
		}
	}
}
