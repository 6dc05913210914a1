package engine_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/internal/modeltest"
	"klawbot/tools"
	"klawbot/tools/job"
)

// survey is a tool whose program asks the person something. A deaf one never gets
// the answer, as when the bot ends before it is passed on.
type survey struct {
	tools.Question
	deaf bool
}

func (s *survey) Spec() tools.Spec {
	schema := json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	return tools.Spec{Name: "survey", Group: tools.GroupNet, Texts: map[string]tools.Text{"en": {Description: "Asks.", Parameters: schema}}, Timeout: time.Hour}
}

func (s *survey) Run(ctx context.Context, c tools.Call) tools.Result {
	asker, ok := c.Approver.(tools.Asker)
	if !ok {
		return tools.OK("nobody to ask")
	}
	q := s.Question
	q.Call, q.From = c, "library"
	q.Call.ID += "/question/1"
	r, err := asker.Ask(ctx, q)
	if s.deaf && r.Outcome == tools.Answered {
		<-ctx.Done()
		err = ctx.Err()
	}
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	return tools.OK(fmt.Sprintf("%s option %d, %d characters", r.Outcome, r.Option, len(r.Text)))
}

// office is a house whose model calls the tool survey when it is told to ask.
func office(t *testing.T, q tools.Question) *house {
	t.Helper()
	h := build(t)
	h.tools = append(h.tools, &survey{Question: q})
	h.settings.ApprovalTimeout, h.settings.Streaming = time.Minute, nil
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if last := r.Last(); last.Role == "tool" {
			return modeltest.Text("so: " + last.Text())
		}
		if strings.Contains(said(r), "ask me") {
			return modeltest.CallTool("survey", nil)
		}
		return modeltest.Text("re: " + said(r))
	})
	return h
}

// nameOf is a question that is answered in words or left open.
var nameOf = tools.Question{Text: "Please fill this in.", Field: "Name\nAs on the card", Typed: true, Step: 1, Steps: 2, Usual: 0, Options: []tools.Option{{Word: tools.WordSkip}}}

// sees waits until a chat shows a text that begins so.
func (h *house) sees(chat int64, begin string) {
	h.t.Helper()
	if !h.messenger.wait(10*time.Second, func() bool {
		return slices.ContainsFunc(h.messenger.texts(chat), func(s string) bool { return strings.HasPrefix(s, begin) })
	}) {
		h.t.Fatalf("chat %d shows %q, want %q", chat, h.messenger.texts(chat), begin)
	}
}

func TestAnswerInWordsGoesToTheProgramOnly(t *testing.T) {
	const written = "Ada of Ockham 4711"
	h := office(t, nameOf)
	h.start().says(alice, "ask me")
	q := h.question(alice)
	for _, want := range []string{"MCP server `library` needs input (1 of 2):", "Please fill this in.\n\nName\nAs on the card", "Send your answer as the next message.", "Goes to that server. Never enter passwords", "Expires in 1 min."} {
		if !strings.Contains(q.text, want) {
			t.Errorf("the question lacks %q:\n%s", want, q.text)
		}
	}
	var buttons []string
	for _, b := range slices.Concat(q.part.Buttons...) {
		buttons = append(buttons, b.Text)
	}
	if want := []string{"⏭ Skip", "❌ Decline", "✖️ Cancel"}; !slices.Equal(buttons, want) {
		t.Errorf("the buttons are %q, want %q", buttons, want)
	}
	h.says(alice, written)
	h.shows(alice, "✅ Answered by Person\n`survey`\n```\nPlease fill this in.\n\nName\nAs on the card\n```",
		fmt.Sprintf("so: answered option -1, %d characters", len(written)))
	h.says(alice, "hello")
	h.sees(alice, "re: hello")
	for _, r := range h.model.Completions() {
		if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), "Ockham") {
			t.Errorf("the model reads the answer (%v): %s", err, text)
		}
	}
	h.end()
	if strings.Contains(h.logs.String(), "Ockham") {
		t.Error("the log holds the answer")
	}
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, "klawbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var kept int
	err = db.QueryRow(`SELECT (SELECT count(*) FROM inbox WHERE instr(raw, 'Ockham')) + (SELECT count(*) FROM messages WHERE instr(body, 'Ockham')) +
		(SELECT count(*) FROM approvals WHERE instr(shown, 'Ockham')) + (SELECT count(*) FROM outbox WHERE instr(body, 'Ockham'))`).Scan(&kept)
	if err != nil || kept != 0 {
		t.Errorf("%d rows keep the answer, %v", kept, err)
	}
}

// TestAnswerBeforeTheQuestionIsSettled: a person may be faster than the answer of
// the messenger that tells which message asks.
func TestAnswerBeforeTheQuestionIsSettled(t *testing.T) {
	h := office(t, nameOf)
	h.start()
	for n := range 5 {
		h.says(alice, "ask me")
		h.until("the question", func() bool { return strings.Contains(strings.Join(h.messenger.texts(alice), "\n"), "needs input") })
		h.says(alice, "Ada")
		h.until("the outcome", func() bool {
			return strings.Count(strings.Join(h.messenger.texts(alice), "\n"), "✅ Answered") == n+1
		})
	}
}

func TestAPhotoIsNoAnswerInWords(t *testing.T) {
	const written = "Ada of Ockham 4711"
	h := office(t, nameOf)
	h.start().says(alice, "ask me")
	h.question(alice)
	h.accept(h.next(gateway.Message{Address: private(alice), Sender: gateway.Sender{ID: alice, Name: "Person"}, Text: "[photo]\nlook", Described: true}))
	h.says(alice, written)
	h.sees(alice, fmt.Sprintf("so: answered option -1, %d characters", len(written)))
	h.sees(alice, "re: [photo]\nlook")
}

func TestAnswersByButton(t *testing.T) {
	colors := tools.Question{Text: "Which?", Usual: -1, Options: []tools.Option{{Text: "red"}, {Text: "blue"}, {Word: tools.WordKeep, Text: "red"}}}
	for name, tt := range map[string]struct {
		button        int
		want, outcome string
	}{
		"an option": {1, "answered option 1, 0 characters", "✅ Answered: `blue` by Person"},
		"keep":      {2, "answered option 2, 0 characters", "✅ Answered: `Keep: red` by Person"},
		"decline":   {3, "declined option -1, 0 characters", "❌ Declined by Person"},
		"cancel":    {4, "cancelled option -1, 0 characters", "✖️ Cancelled by Person"},
	} {
		t.Run(name, func(t *testing.T) {
			h := office(t, colors)
			h.start().says(alice, "ask me")
			q := h.question(alice)
			token := strings.TrimSuffix(q.part.Buttons[0][0].Data, "/0")
			for _, data := range []string{token + "/once", token + "/hour", token + "/no", token + "/3", token + "/-1", token + "/x"} {
				h.told(h.press(alice, q.to, q.id, data), "This button has expired.")
			}
			h.says(alice, "green") // it is not to be written: it waits for its turn
			h.told(h.tap(alice, q, tt.button), strings.Split(tt.outcome, " (")[0][:len("✅")])
			h.shows(alice, tt.outcome+"\n`survey`\n```\nWhich?\n```", buttonFirst, "so: "+tt.want, "re: green")
		})
	}
}

// TestQuestionOfAButtonAllowsNothing: the buttons of a question are none of an
// approval, nor the other way round.
func TestQuestionOfAButtonAllowsNothing(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	q := h.question(alice)
	token := strings.TrimSuffix(q.part.Buttons[0][0].Data, "/once")
	for _, data := range []string{token + "/0", token + "/decline", token + "/cancel"} {
		h.told(h.press(alice, q.to, q.id, data), "This button has expired.")
	}
	if l.ran.Load() != 0 {
		t.Error("it ran")
	}
	h.tap(alice, q, tapNo)
}

func TestQuestionIsClosedByARestart(t *testing.T) {
	h := office(t, nameOf)
	h.start().says(alice, "ask me")
	q := h.question(alice)
	h.restart()
	h.sees(alice, "⏹ Stopped\n`survey`")
	h.says(alice, "Ada")
	h.sees(alice, "re: Ada")
	h.told(h.tap(alice, q, 0), "⏹ Stopped")
}

// TestQuestionIsClosedAfterACrash: the process had no time to close it.
func TestQuestionIsClosedAfterACrash(t *testing.T) {
	h := office(t, nameOf)
	h.start().says(alice, "ask me")
	h.question(alice)
	h.says(alice, "Ada")
	h.sees(alice, "✅ Answered")
	h.end()
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, "klawbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE approvals SET state = 'pending' WHERE question = 1; DELETE FROM outbox WHERE key LIKE 'approval/%/outcome'`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.sees(alice, "⏹ Stopped\n`survey`")
}

// TestAnswerThatMayNotHaveArrived: the bot ends between an answer and the end of
// the call. The answer is not kept, so it counts as none, and the chat says so.
func TestAnswerThatMayNotHaveArrived(t *testing.T) {
	h := office(t, nameOf)
	h.tools[len(h.tools)-1] = &survey{nameOf, true}
	h.start().says(alice, "ask me")
	q := h.question(alice)
	h.says(alice, "Ada")
	h.sees(alice, "✅ Answered")
	h.restart()
	h.sees(alice, "⏹ Answered, but I restarted before the call ended. The answer may not have arrived.\n`survey`")
	h.sees(alice, "so: cancelled option -1, 0 characters")
	h.told(h.tap(alice, q, 0), "⏹ Answered, but I restarted before the call ended. The answer may not have arrived.")
	h.restart()
	h.says(alice, "hello")
	h.sees(alice, "re: hello")
}

// TestAnswerThatArrivedStays: a call that has ended got its answer.
func TestAnswerThatArrivedStays(t *testing.T) {
	h := office(t, nameOf)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if r.Last().Role != "tool" {
			return modeltest.CallTool("survey", nil)
		}
		reply := modeltest.Text("so: " + r.Last().Text())
		reply.Delay = time.Second // the bot ends in the middle of the turn, behind the call
		return reply
	})
	h.start().says(alice, "ask me")
	h.question(alice)
	h.says(alice, "Ada")
	h.sees(alice, "✅ Answered")
	h.until("the result is known", func() bool { return len(h.model.Completions()) == 2 })
	h.restart()
	h.sees(alice, "so: answered option -1, 3 characters")
	h.sees(alice, "✅ Answered")
}

func TestQuestionThatNobodyAnswers(t *testing.T) {
	h := office(t, nameOf)
	h.settings.ApprovalTimeout = time.Second
	h.start().says(alice, "ask me")
	h.sees(alice, "so: cancelled option -1, 0 characters")
	h.sees(alice, "⌛ Expired\n`survey`")
}

func TestStopEndsAQuestion(t *testing.T) {
	h := office(t, nameOf)
	h.start().says(alice, "ask me")
	h.question(alice)
	h.says(alice, "/stop")
	h.sees(alice, "⏹ Stopped\n`survey`")
	h.says(alice, "Ada")
	h.sees(alice, "re: Ada")
}

// TestOthersDoNotAnswer: in a group only the person of the turn answers.
func TestOthersDoNotAnswer(t *testing.T) {
	h := office(t, nameOf)
	group := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	say := func(person int64, text string) {
		h.accept(h.next(gateway.Message{Address: group, Group: true, Sender: gateway.Sender{ID: person, Name: "Person"}, Text: text}))
	}
	h.start()
	say(bob, "ask me")
	h.question(-100)
	say(alice, "Eve")
	h.sees(-100, buttonFirst)
	say(bob, "Bob!")
	h.sees(-100, "so: answered option -1, 4 characters")
	h.sees(-100, "re: ")
}

// TestRunsThatNobodyAttendsDecline: a schedule has nobody to ask, whichever chat it
// works for.
func TestRunsThatNobodyAttendsDecline(t *testing.T) {
	h := office(t, nameOf)
	h.settings.ApprovalTimeout = time.Second
	h.start()
	s := h.engine.Schedules()
	if _, err := s.Add(t.Context(), tools.Call{}, job.New{Name: "poll", At: "in 10m", Message: "/tool survey {}", InjectInto: "telegram_11"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), tools.Call{}, "poll"); err != nil {
		t.Fatal(err)
	}
	if !h.messenger.wait(10*time.Second, func() bool { return len(h.messenger.texts(alice)) > 0 }) || !strings.Contains(h.messenger.texts(alice)[0], "declined option -1") {
		t.Errorf("the chat shows %q", h.messenger.texts(alice))
	}
}

// TestPageIsForAnOwner: who calls is not who opens pages for a server.
func TestPageIsForAnOwner(t *testing.T) {
	h := office(t, tools.Question{Text: "Connect it.", Page: "https://example.com/connect?a_b=1", Usual: -1, Options: []tools.Option{{Word: tools.WordOpened}}})
	h.start().says(bob, "ask me")
	q := h.question(alice)
	for _, want := range []string{"wants you to open a page at `example.com`", "https://example.com/connect?a_b=1", "I never open it myself"} {
		if !strings.Contains(q.text, want) {
			t.Errorf("the question lacks %q:\n%s", want, q.text)
		}
	}
	if b := q.part.Buttons[0][0]; b.URL != "https://example.com/connect?a_b=1" || b.Data != "" {
		t.Errorf("the first button is %+v", b)
	}
	h.sees(bob, "MCP server `library` wants to open a page. I've asked my owner")
	h.told(h.tap(alice, q, 1), "✅ Answered")
	h.sees(bob, "so: answered option 0")
}
