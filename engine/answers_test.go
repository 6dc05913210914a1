package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
)

// withCall is a reply of words and a call that changes nothing.
func withCall(text string) modeltest.Reply {
	r := modeltest.CallTool("file_list", map[string]any{})
	r.Text = text
	return r
}

// replies answers with one reply after the other, and with the last one from then on.
func replies(all ...modeltest.Reply) func(modeltest.Request) modeltest.Reply {
	n := -1
	return func(modeltest.Request) modeltest.Reply {
		n = min(n+1, len(all)-1)
		return all[n]
	}
}

// cut is a reply that the token limit ends.
func cut(text string) modeltest.Reply { return modeltest.Reply{Text: text, Finish: "length"} }

func TestAnswersAreComplete(t *testing.T) {
	t.Parallel() // it mostly waits
	const limit = "(Cut off at the model's token limit. Write \"continue\" for the rest.)"
	for _, c := range []struct {
		name    string
		replies []modeltest.Reply
		want    string
		calls   int // of the model; 0 is not counted
	}{
		{"answer-beside-a-call", []modeltest.Reply{withCall("In the town hall, by the river."), {}}, "In the town hall, by the river.", 3},
		{"words-before-a-call", []modeltest.Reply{withCall("Your plan: Monday bread, Tuesday soup."), modeltest.Text("Saved.")}, "Your plan: Monday bread, Tuesday soup.\n\nSaved.", 2},
		{"cut-by-the-limit", []modeltest.Reply{cut("Take two pills in the morning and never more than"), modeltest.Text(" six a day.")}, "Take two pills in the morning and never more than six a day.", 2},
		{"words before two calls", []modeltest.Reply{withCall("One."), withCall("Two."), modeltest.Text("Three.")}, "One.\n\nTwo.\n\nThree.", 3},
		{"words that the answer repeats", []modeltest.Reply{withCall("Bread."), modeltest.Text("The plan:\nBread.\nSoup.")}, "The plan:\nBread.\nSoup.", 2},
		{"the same words before each call", []modeltest.Reply{withCall("Let me look."), withCall("Let me look."), modeltest.Text("Nothing.")}, "Let me look.\n\nNothing.", 3},
		{"words, then a failure", []modeltest.Reply{withCall("Your plan: bread."), modeltest.Error(503, "overloaded")}, "Your plan: bread.\n\nThe model is overloaded. Please try again in a minute.", 2},
		{"cut twice", []modeltest.Reply{cut("one two"), cut("three four")}, "one two three four\n\n" + limit, 2},
		{"cut, then the last words again", []modeltest.Reply{cut("Take two pills in the mor"), modeltest.Text("pills in the morning.")}, "Take two pills in the morning.", 2},
		{"cut, then all again", []modeltest.Reply{cut("Take two pills in the morning and never more than"), modeltest.Text("Take two pills in the morning and never more than six a day.")}, "Take two pills in the morning and never more than six a day.", 2},
		{"cut, then nothing", []modeltest.Reply{cut("one two"), {}}, "one two\n\n" + limit, 2},
		{"cut, then a failure", []modeltest.Reply{cut("one two"), modeltest.Error(400, "odd")}, "one two\n\n" + limit, 2},
		{"cut, then a call", []modeltest.Reply{cut("one two"), withCall("three"), modeltest.Text("Done.")}, "one two three\n\nDone.", 3},
		{"cut, in Chinese", []modeltest.Reply{cut("早上吃两"), modeltest.Text("片药。")}, "早上吃两片药。", 2},
		{"cut by a content filter", []modeltest.Reply{{Text: "First take the", Finish: "content_filter"}}, "First take the\n\n(The provider's content filter stopped this answer.)", 1},
		{"cut, then stopped by a content filter", []modeltest.Reply{cut("one two"), {Text: "three", Finish: "content_filter"}}, "one two three\n\n(The provider's content filter stopped this answer.)", 2},
		{"a content filter before the first word", []modeltest.Reply{{Finish: "content_filter"}}, "The model declined to answer this.", 1},
		{"limit-used-by-thinking", []modeltest.Reply{{Thinking: "they greet me", Finish: "length"}}, "The model used up its token limit while thinking and didn't answer. Ask for less at once, or raise maxTokens in config.yaml.", 1},
		{"limit used out of sight", []modeltest.Reply{{Finish: "length"}}, "The model used up its token limit while thinking and didn't answer. Ask for less at once, or raise maxTokens in config.yaml.", 1},
		{"a call in text", []modeltest.Reply{modeltest.Text("<tool_call>{\"name\":\"file_list\",\"arguments\":{}}</tool_call>"), modeltest.Text("Done.")}, "Done.", 2},
		{"words and a call that is not there", []modeltest.Reply{modeltest.Text("One moment.\n<tool_call>launch\n</tool_call>"), withCall(""), modeltest.Text("Done.")}, "One moment.\n\nDone.", 3},
		{"a result that it made up", []modeltest.Reply{modeltest.Text("<tool_response>12:00</tool_response>\nIt is 12.")}, "It is 12.", 1},
		{"half a call at the limit", []modeltest.Reply{cut("<tool_call>{\"name\":\"file_list\",\"argu"), modeltest.Text("Shorter.")}, "Shorter.", 2},
		{"a call that is not there", []modeltest.Reply{modeltest.Text("<tool_call>launch\n</tool_call>"), modeltest.Text("I cannot.")}, "I cannot.", 2},
	} {
		for _, streaming := range []string{settings.StreamEdit, settings.StreamOff} {
			t.Run(c.name+"/"+streaming, func(t *testing.T) {
				h := build(t)
				h.settings.Streaming = map[string]string{"telegram": streaming}
				h.model.Respond(replies(c.replies...))
				h.start().says(alice, "hello")
				h.shows(alice, c.want)
				if n := len(h.model.Completions()); c.calls != 0 && n != c.calls {
					t.Errorf("the model was asked %d times, want %d", n, c.calls)
				}
			})
		}
	}
}

func TestThinkingThatUsedTheLimitTriesAnotherModel(t *testing.T) {
	h := build(t)
	h.settings.Models.Fallback = []string{"other"}
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if r.Model == "test-model" {
			return modeltest.Reply{Thinking: "hm", Finish: "length"}
		}
		return modeltest.Text("It is 4.")
	})
	h.start().says(alice, "hello")
	h.shows(alice, "It is 4.\n\n(answered by other: main is unavailable)")
}

func TestLoopEndsWithItsReason(t *testing.T) {
	for _, c := range []struct{ name, language, text, want string }{
		{"loop-without-a-word", "en", "", "Stopped: the model repeated the same call without a new result."},
		{"in Russian", "ru", "", "Остановлено: модель повторяла один и тот же вызов без нового результата."},
		{"with words", "en", "I look.", "I look.\n\n(Stopped: the model repeated the same call without a new result.)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := build(t)
			h.settings.Language = c.language
			h.model.Respond(func(modeltest.Request) modeltest.Reply { return withCall(c.text) })
			h.start().says(alice, "loop please")
			h.shows(alice, c.want)
			if n := len(h.model.Completions()); n > 8 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

func TestLimitOfRoundsEndsWithItsReason(t *testing.T) {
	h := build(t)
	h.settings.MaxToolCallRounds = 2
	n := 0
	h.model.Respond(func(modeltest.Request) modeltest.Reply {
		n++
		return modeltest.CallTool("file_list", map[string]any{"path": fmt.Sprint(n)})
	})
	h.start().says(alice, "go")
	h.shows(alice, "Stopped: this answer reached its limit of 2 rounds of tool calls.")
}

// TestLimitOfTheDay wants one call, and words for when the limit ends.
func TestLimitOfTheDay(t *testing.T) {
	plus3 := time.FixedZone("+3", 3*3600)
	// at is the end of a limit in any of two minutes: one may pass before it is said.
	at := func(words string, after time.Duration) []string {
		end := time.Now().In(plus3).Add(after)
		return []string{words + end.Format("15:04"), words + end.Add(time.Minute).Format("15:04")}
	}
	for _, c := range []struct {
		name, language string
		reply          modeltest.Reply
		want           func() []string // any of them
	}{
		{"limit-of-the-day", "en", modeltest.Reply{Status: 429, RetryAfter: "86400", Message: "Rate limit reached"}, func() []string { return at("tomorrow at ", 24*time.Hour) }},
		{"in Russian", "ru", modeltest.Reply{Status: 429, RetryAfter: "86400", Message: "Rate limit reached"}, func() []string { return at("завтра в ", 24*time.Hour) }},
		{"an hour", "en", modeltest.Reply{Status: 429, RetryAfter: "7200", Message: "slow down"}, func() []string { return at(" at ", 2*time.Hour) }},
		{"in words", "en", modeltest.Error(429, "Rate limit reached on requests per day (RPD): Limit 200. Please try again in 7h12m0s."), func() []string { return at(" at ", 7*time.Hour+12*time.Minute) }},
		{"without a time", "en", modeltest.Error(429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock more"), func() []string { return []string{"The model's daily limit is used up. It ends within a day."} }},
		{"a quota", "en", modeltest.Error(429, "Daily quota exceeded"), func() []string { return []string{"The model's daily limit is used up."} }},
		{"Google", "en", modeltest.Reply{Status: 429, Body: `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"0s"}]}}]`}, func() []string { return []string{"daily limit"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := build(t)
			h.settings.Language, h.settings.Location, h.settings.Models.Retries = c.language, plus3, 2
			h.model.Respond(replies(c.reply))
			h.start().says(alice, "hello")
			wanted := c.want()
			if !h.messenger.wait(5*time.Second, func() bool {
				texts := h.messenger.texts(alice)
				return len(texts) == 1 && slices.ContainsFunc(wanted, func(want string) bool { return strings.Contains(texts[0], want) })
			}) {
				t.Fatalf("chat shows %q, want %q", h.messenger.texts(alice), wanted)
			}
			if n := len(h.model.Completions()); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

func TestStopKeepsWordsBeforeACall(t *testing.T) {
	h := build(t)
	h.model.Respond(replies(withCall("Your plan: bread."), modeltest.Reply{Text: "Saved.", Delay: 20 * time.Second}))
	h.start().says(alice, "plan")
	h.until("the second question", func() bool { return len(h.model.Completions()) == 2 })
	h.says(alice, "/stop")
	h.until("the words", func() bool {
		return slices.ContainsFunc(h.messenger.texts(alice), func(text string) bool { return text == "Your plan: bread.\n\n⏹ stopped here" })
	})
}

// TestNoInternalsInAnyProtocol plays the same texts over the protocols, whole and in pieces.
func TestNoInternalsInAnyProtocol(t *testing.T) {
	const calls = "<think>I look.</think>Moment.\n<tool_call>{\"name\":\"file_list\",\"arguments\":{}}</tool_call>"
	for _, kind := range []string{"openai", "anthropic", "ollama"} {
		for _, streaming := range []string{settings.StreamEdit, settings.StreamOff} {
			t.Run(kind+"/"+streaming, func(t *testing.T) {
				h := build(t)
				h.settings.Streaming = map[string]string{"telegram": streaming}
				m := h.settings.Models.Entries["main"]
				if m.Type = kind; kind != "openai" {
					m.BaseURL = h.model.URL
				}
				h.settings.Models.Entries["main"] = m
				h.model.Respond(replies(
					modeltest.Reply{Text: calls, Pieces: 40}, modeltest.Reply{Text: "<think>Good.</think>\n\nIt is there.<|im_end|>", Pieces: 40},
				))
				h.start().says(alice, "hello")
				h.shows(alice, "Moment.\n\nIt is there.")
			})
		}
	}
}
