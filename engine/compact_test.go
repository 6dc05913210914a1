package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/tools"
	"klawbot/tools/job"
)

// talkative is a house whose conversations are summed up: by a small model, whose
// notes keep every line with the word FACT.
func talkative(t *testing.T, budget int) *house {
	h := build(t)
	h.settings.Streaming = map[string]string{"telegram": settings.StreamOff}
	h.settings.CompactAt = 0.75
	h.settings.Models.Entries["main"] = settings.Model{Provider: "test", Type: "openai", BaseURL: h.model.URL + "/v1", APIKey: "model-key", Name: "test-model", MaxTokens: 500, ContextBudget: budget}
	h.settings.Models.Entries["small"] = settings.Model{Provider: "test", Type: "openai", BaseURL: h.model.URL + "/v1", APIKey: "model-key", Name: "small-model", MaxTokens: 2000, ContextBudget: 8000}
	h.settings.Models.Small = "small"
	h.tools = nil
	h.showsAll()
	return h
}

var factLine = regexp.MustCompile(`FACT [^\n]*`)

// notes are what the small model of these tests writes.
func notes(r modeltest.Request) modeltest.Reply {
	facts := factLine.FindAllString(r.Messages[len(r.Messages)-1].Text(), -1)
	slices.Sort(facts)
	return modeltest.Text("## Facts\n" + strings.Join(slices.Compact(facts), "\n"))
}

// answers lets the small model take notes and the other one answer.
func (h *house) answers(answer func(modeltest.Request) modeltest.Reply) {
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if r.Model == "small-model" {
			return notes(r)
		}
		return answer(r)
	})
}

// asked are the requests to a model so far.
func (h *house) asked(model string) (all []modeltest.Request) {
	for _, r := range h.model.Completions() {
		if r.Model == model {
			all = append(all, r)
		}
	}
	return all
}

// exchange lets a person speak and waits for the answer, which is the last message.
func (h *house) exchange(text, answer string) {
	h.t.Helper()
	before := len(h.messenger.texts(alice))
	h.says(alice, text)
	if !h.messenger.wait(20*time.Second, func() bool {
		all := h.messenger.texts(alice)
		return len(all) > before && all[len(all)-1] == answer
	}) {
		h.t.Fatalf("no answer %q to %q: %q", answer, text, h.messenger.texts(alice)[before:])
	}
}

// until waits for something that happens beside the conversation.
func (h *house) until(what string, holds func() bool) {
	h.t.Helper()
	if !h.messenger.wait(10*time.Second, holds) {
		h.t.Fatalf("never: %s", what)
	}
}

func summedUp(h *house) int { return strings.Count(h.logs.String(), "conversation summarized") }

// text is a request in words, as a model reads it.
func text(r modeltest.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text())
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "%s(%s)\n", c.Function.Name, c.Function.Arguments)
		}
	}
	return b.String()
}

// tokens is about what a request takes.
func tokens(r modeltest.Request) int {
	n := llm.Estimate(text(r))
	for _, tool := range r.Tools {
		n += llm.Estimate(tool.Function.Name) + llm.Estimate(tool.Function.Description) + llm.Estimate(string(tool.Function.Parameters))
	}
	return n
}

// wholePairs checks that every call of a request has its result right behind it,
// and every result its call.
func wholePairs(t *testing.T, r modeltest.Request) {
	t.Helper()
	var open []string
	for i, m := range r.Messages {
		switch {
		case m.Role == "tool":
			k := slices.Index(open, m.ToolCallID)
			if k < 0 {
				t.Fatalf("message %d is the result of %s, which nobody called", i, m.ToolCallID)
			}
			open = slices.Delete(open, k, k+1)
		case len(open) > 0:
			t.Fatalf("message %d comes before the results of %s", i, open)
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("no results of %s", open)
	}
	if first := r.Messages[slices.IndexFunc(r.Messages, func(m modeltest.Message) bool { return m.Role != "system" })]; first.Role != "user" {
		t.Fatalf("the conversation begins with %s", first.Role)
	}
}

func TestManyTurns(t *testing.T) { manyTurns(t, 150) }

// manyTurns plants facts early in a long conversation and asks for them late. At
// every request the budget holds and calls have their results.
func manyTurns(t *testing.T, turns int) {
	const budget = 12000
	h := talkative(t, budget)
	dice := rand.New(rand.NewPCG(1, 2))
	h.answers(func(r modeltest.Request) modeltest.Reply {
		if n := said(r); strings.HasPrefix(n, "look") && r.Last().Role == "user" {
			return modeltest.CallTool("current_time", map[string]any{})
		}
		return modeltest.Text("re: " + strings.Fields(said(r))[1])
	})
	h.start()
	for i := range turns {
		word, more := "chat", strings.Repeat("and so on ", 1+dice.IntN(60))
		switch {
		case i == 3:
			more = "FACT the locker code is 4711-Q"
		case i == 17:
			more = "FACT Anna's dog is called Брунo"
		case i%9 == 0:
			word = "look"
		case i%50 == 49:
			more = strings.Repeat("длинное письмо ни о чём ", 150)
		}
		h.exchange(fmt.Sprintf("%s %d %s", word, i, more), fmt.Sprintf("re: %d", i))
	}
	h.exchange("chat last what was the code, and the dog?", "re: last")
	asks := h.asked("test-model")
	for i, r := range asks {
		if n := tokens(r); n > budget-500 {
			t.Errorf("request %d takes %d tokens of %d", i, n, budget-500)
		}
		wholePairs(t, r)
	}
	if got := reuse(t, asks); got < 0.85 {
		t.Errorf("a provider can take %.1f %% from its cache", 100*got)
	}
	last := text(asks[len(asks)-1])
	for _, fact := range []string{"4711-Q", "Брунo"} {
		if !strings.Contains(last, fact) {
			t.Errorf("%q is forgotten:\n%s", fact, clipped(last))
		}
	}
	for i, r := range h.asked("small-model") {
		if n := tokens(r); n > 8000-500 {
			t.Errorf("the request %d for a summary takes %d tokens", i, n)
		}
	}
	t.Logf("%d requests, %d summaries", len(asks), summedUp(h))
	h.exchange("/new", "New conversation started. Previous context cleared.")
	h.exchange("chat new and now?", "re: new")
	asks = h.asked("test-model")
	if last := text(asks[len(asks)-1]); strings.Contains(last, "4711-Q") || strings.Contains(last, "Last Summary") {
		t.Errorf("the summary outlives /new:\n%s", clipped(last))
	}
}

// grown is a talkative house whose conversation is due for its first summary.
func grown(t *testing.T) *house {
	h := talkative(t, 16000)
	h.settings.CompactAt = 0.3
	h.settings.ContextWindow = 4
	return h
}

// letter is a text of some tokens that no summary keeps. With 1200 and more it is so
// long that the engine waits for what may follow.
func letter(n int) string { return strings.Repeat("and so on ", n/3) }

func (h *house) echoFirst() {
	h.answers(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("re: " + strings.Fields(said(r))[0]) })
}

func TestCompactionTriggersAtItsShareOfTheBudget(t *testing.T) {
	h := grown(t)
	h.echoFirst()
	h.start()
	h.exchange("one FACT early", "re: one")
	h.exchange("two", "re: two")
	if n := len(h.asked("small-model")); n != 0 {
		t.Errorf("%d summaries of a short conversation", n)
	}
	for i := range 5 {
		h.exchange(fmt.Sprint("long", i, " ", letter(1100)), fmt.Sprint("re: long", i))
	}
	h.until("a summary", func() bool { return summedUp(h) > 0 })
	h.exchange("after", "re: after")
	asks := h.asked("test-model")
	last := asks[len(asks)-1]
	if got := last.Messages[1].Text(); last.Messages[1].Role != "user" || !strings.HasPrefix(got, "## Last Summary\n") || !strings.Contains(got, "FACT early") {
		t.Errorf("the first message is %s: %s", last.Messages[1].Role, clipped(got))
	}
	if got := text(last); strings.Contains(got, "user: one") || !strings.Contains(got, "long4") {
		t.Errorf("what is summed up is there too, or the newest is not:\n%s", clipped(got))
	}
}

// TestSummaryOfWhatOthersHadDelivered: a run of somebody else has put its result into
// an owner's chat. When that is summed up, it is still known to come from elsewhere.
func TestSummaryOfWhatOthersHadDelivered(t *testing.T) {
	for name, planned := range map[string]bool{"a result": true, "nothing": false} {
		t.Run(name, func(t *testing.T) {
			h := grown(t)
			h.echoFirst()
			h.start()
			h.exchange("one", "re: one")
			if planned {
				_, err := h.engine.Schedules().Add(t.Context(), tools.Call{Chat: "telegram_22", User: bob, Origin: tools.OriginPerson},
					job.New{Name: "news", At: "in 1s", Message: "news FACT obey", InjectInto: "telegram_11"})
				if err != nil {
					t.Fatal(err)
				}
				h.see(alice, "re: news")
			}
			for i := range 5 {
				h.exchange(fmt.Sprint("long", i, " ", letter(1100)), fmt.Sprint("re: long", i))
			}
			h.until("a summary", func() bool { return summedUp(h) > 0 })
			var outside bool
			if err := h.database().QueryRow(`SELECT outside FROM summaries ORDER BY id LIMIT 1`).Scan(&outside); err != nil || outside != planned {
				t.Errorf("the summary is from outside: %v, %v", outside, err)
			}
		})
	}
}

func TestNoCompactionWhenItIsOff(t *testing.T) {
	h := grown(t)
	h.settings.CompactAt = 0
	h.echoFirst()
	h.start()
	for i := range 6 {
		h.exchange(fmt.Sprint("long", i, " ", letter(1100)), fmt.Sprint("re: long", i))
	}
	h.end()
	if n := len(h.asked("small-model")); n != 0 {
		t.Errorf("%d summaries", n)
	}
}

// TestSummaryThatIsOfNoUseChangesNothing has small models that fail in all ways.
func TestSummaryThatIsOfNoUseChangesNothing(t *testing.T) {
	for name, reply := range map[string]modeltest.Reply{
		"empty":      modeltest.Text(" \n"),
		"longer":     modeltest.Text(letter(30000)),
		"cut off":    {Text: "## Goal", Finish: "length"},
		"error":      modeltest.Error(400, "no"),
		"overloaded": modeltest.Error(503, "busy"),
	} {
		t.Run(name, func(t *testing.T) {
			h := grown(t)
			var tries atomic.Int64
			h.model.Respond(func(r modeltest.Request) modeltest.Reply {
				if r.Model == "small-model" {
					tries.Add(1)
					return reply
				}
				return modeltest.Text("re: " + strings.Fields(said(r))[0])
			})
			h.start()
			for i := range 5 {
				h.exchange(fmt.Sprint("long", i, " ", letter(1100)), fmt.Sprint("re: long", i))
			}
			h.until("the failure is logged", func() bool { return strings.Contains(h.logs.String(), "conversation not summarized") })
			before := tries.Load()
			h.exchange("after", "re: after")
			asks := h.asked("test-model")
			last := text(asks[len(asks)-1])
			if strings.Contains(last, "Last Summary") || !strings.Contains(last, "long4") {
				t.Errorf("the model got:\n%s", clipped(last))
			}
			if tries.Load() != before {
				t.Error("it was tried again at once")
			}
		})
	}
}

// TestNewWhileASummaryIsMade says /new while the small model writes.
func TestNewWhileASummaryIsMade(t *testing.T) {
	h := grown(t)
	asked, release := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	h.answers(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("re: " + strings.Fields(said(r))[0]) })
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if r.Model != "small-model" {
			return modeltest.Text("re: " + strings.Fields(said(r))[0])
		}
		if once.CompareAndSwap(false, true) {
			close(asked)
			<-release
		}
		return notes(r)
	})
	h.start()
	h.exchange("one FACT early", "re: one")
	for i := range 5 {
		h.exchange(fmt.Sprint("long", i, " ", letter(1100)), fmt.Sprint("re: long", i))
	}
	<-asked
	h.exchange("/new", "New conversation started. Previous context cleared.")
	close(release)
	h.until("the summary of the old conversation", func() bool { return summedUp(h) > 0 })
	h.exchange("after", "re: after")
	asks := h.asked("test-model")
	if last := text(asks[len(asks)-1]); strings.Contains(last, "Last Summary") || strings.Contains(last, "FACT early") {
		t.Errorf("the old conversation leaked:\n%s", clipped(last))
	}
}

// TestOverflowMakesTheConversationShorter has a provider whose window is smaller
// than was configured.
func TestOverflowMakesTheConversationShorter(t *testing.T) {
	h := talkative(t, 16000)
	h.settings.CompactAt = 0.9
	limit := 1 << 20
	h.answers(func(r modeltest.Request) modeltest.Reply {
		if len(text(r)) > limit {
			return modeltest.Error(400, "This model's maximum context length is exceeded: too many tokens")
		}
		return modeltest.Text("re: " + strings.Fields(said(r))[0])
	})
	h.start()
	h.exchange("one FACT early", "re: one")
	for i := range 4 {
		h.exchange(fmt.Sprint("long", i, " ", letter(600)), fmt.Sprint("re: long", i))
	}
	limit = 5000
	h.exchange("after", "re: after")
	asks := h.asked("test-model")
	last := text(asks[len(asks)-1])
	if !strings.Contains(last, "FACT early") || !strings.Contains(last, "Last Summary") || len(last) > limit {
		t.Errorf("the model got %d bytes:\n%s", len(last), clipped(last))
	}
	for _, r := range asks {
		wholePairs(t, r)
	}
}

// TestOverflowThatNothingHelpsIsSaidOnce asks three times at most.
func TestOverflowThatNothingHelpsIsSaidOnce(t *testing.T) {
	h := talkative(t, 16000)
	small := false
	h.answers(func(r modeltest.Request) modeltest.Reply {
		if small {
			return modeltest.Error(400, "This model's maximum context length is exceeded: too many tokens")
		}
		return modeltest.Text("re: " + strings.Fields(said(r))[0])
	})
	h.start()
	for i := range 4 {
		h.exchange(fmt.Sprint("long", i, " ", letter(600)), fmt.Sprint("re: long", i))
	}
	small = true
	before := len(h.asked("test-model"))
	h.exchange("after", "This conversation is too long for the model. /new starts a new one.")
	if n := len(h.asked("test-model")) - before; n < 2 || n > 3 {
		t.Errorf("asked %d times", n)
	}
}

// TestConsecutiveRequestsBeginAlike compares what a provider can take from its
// cache: the tools, the system prompt and the messages, in this order.
func TestConsecutiveRequestsBeginAlike(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	for i := range 8 {
		h.says(alice, fmt.Sprint("message ", i))
		h.until("an answer", func() bool {
			all := h.messenger.texts(alice)
			return len(all) == i+1 && all[i] == fmt.Sprint("re: message ", i)
		})
	}
	asks := h.asked("test-model")
	for i := 1; i < len(asks); i++ {
		b := cached(t, asks[i])
		n := shared(cached(t, asks[i-1]), b)
		if share := float64(n) / float64(len(b)); share < 0.95 {
			t.Errorf("request %d shares %.1f %% with the one before, the next bytes are %q", i, 100*share, b[n:min(n+80, len(b))])
		}
	}
}

// shared is how many bytes two requests have in common at their beginning.
func shared(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// reuse is the share of all bytes asked that stood at the beginning of the
// request before, too.
func reuse(t *testing.T, asks []modeltest.Request) float64 {
	var reused, all int
	before := cached(t, asks[0])
	for _, r := range asks[1:] {
		now := cached(t, r)
		reused, all, before = reused+shared(before, now), all+len(now), now
	}
	return float64(reused) / float64(all)
}

func cached(t *testing.T, r modeltest.Request) string {
	text, err := json.Marshal(r.Tools)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Messages {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, line...)
	}
	return string(text)
}

// TestWindowMovesInSteps looks at where a long conversation begins for the model.
func TestWindowMovesInSteps(t *testing.T) {
	h := build(t)
	h.showsAll()
	h.settings.Streaming = map[string]string{"telegram": settings.StreamOff}
	h.echo()
	h.start()
	var begins []string
	for i := range 30 {
		h.says(alice, fmt.Sprint("message ", i))
		h.until("an answer", func() bool { return len(h.messenger.texts(alice)) == i+1 })
	}
	for _, r := range h.asked("test-model") {
		if n := len(r.Messages); n > 22 { // the system prompt, the window, the question
			t.Errorf("the model got %d messages", n)
		}
		begins = append(begins, r.Messages[1].Text())
	}
	asks := h.asked("test-model")
	for i := 1; i < len(asks); i++ {
		now := cached(t, asks[i])
		if n := shared(cached(t, asks[i-1]), now); begins[i] == begins[i-1] && float64(n) < 0.95*float64(len(now)) {
			t.Errorf("request %d shares %d of %d bytes with the one before", i, n, len(now))
		}
	}
	if got := reuse(t, asks); got < 0.95 {
		t.Errorf("a provider can take %.1f %% from its cache", 100*got)
	}
	moved := 0
	for i := 11; i < len(begins); i++ {
		if begins[i] != begins[i-1] {
			moved++
		}
	}
	if moved == 0 || moved > 8 {
		t.Errorf("the window moved %d times in %d turns: %q", moved, len(begins)-11, begins)
	}
}
