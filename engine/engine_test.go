package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/internal/modeltest"
)

func TestAnswerReplacesThePlaceholder(t *testing.T) {
	h := build(t)
	h.slowEcho()
	h.start().says(alice, "hello")
	h.shows(alice, "re: hello")
	calls := h.messenger.log()
	if calls[0] != "send telegram_11 …" || calls[len(calls)-1] != "edit telegram_11 1 re: hello" {
		t.Errorf("calls are %q, want a placeholder and an edit to the answer", calls)
	}
}

func TestUpdateThatCameTwiceIsAnsweredOnce(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	u := h.next(gateway.Message{Address: private(alice), Sender: gateway.Sender{ID: alice}, Text: "hello"})
	h.accept(u, u)
	h.accept(u)
	h.shows(alice, "re: hello")
	h.says(alice, "again")
	h.shows(alice, "re: hello", "re: again")
	if n := len(h.model.Completions()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
}

func TestOrderIsKeptPerChatAndChatsRunBesideEachOther(t *testing.T) {
	h := build(t)
	asked, release := make(chan struct{}), make(chan struct{})
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if said(r) == "slow" {
			close(asked)
			<-release
		}
		return modeltest.Text("re: " + said(r))
	})
	h.start()
	h.says(alice, "slow")
	<-asked
	h.says(alice, "second")
	h.says(bob, "quick")
	h.shows(bob, "re: quick")
	close(release)
	h.shows(alice, "re: slow", "re: second")
}

func TestMessagesThatWaitedTogetherAreOneTurn(t *testing.T) {
	h := build(t)
	h.settings.Debounce = 50 * time.Millisecond
	h.echo()
	h.start()
	h.says(alice, "one", "two", "three")
	h.shows(alice, "re: three")
	var users []string
	for _, m := range h.model.Completions()[0].Messages {
		if m.Role == "user" {
			users = append(users, m.Text())
		}
	}
	if len(users) != 3 || !strings.HasPrefix(users[0], "one\n\n(sent: ") || !strings.HasPrefix(users[1], "two\n\n(sent: ") || !strings.HasPrefix(users[2], "three") {
		t.Errorf("the model got the user messages %q, want each its own", users)
	}
}

func TestCutTextIsJoined(t *testing.T) {
	h := build(t)
	h.settings.Debounce = 20 * time.Millisecond
	h.echo()
	h.start()
	first, second := strings.Repeat("a", 4000), "bbb"
	h.says(alice, first, second)
	h.shows(alice, "re: "+first+second)
}

func TestEditOfWaitingMessageReplacesIt(t *testing.T) {
	h := build(t)
	asked, release := make(chan struct{}), make(chan struct{})
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if said(r) == "first" {
			close(asked)
			<-release
		}
		return modeltest.Text("re: " + said(r))
	})
	h.start()
	h.says(alice, "first")
	<-asked
	h.says(alice, "secnod")
	edit := func(id int64, text string) {
		h.accept(h.next(gateway.Message{Kind: gateway.KindEdit, ID: id, Address: private(alice), Sender: gateway.Sender{ID: alice}, Text: text}))
	}
	edit(2, "second")
	edit(1, "too late")
	close(release)
	h.shows(alice, "re: first", "re: second")
}

func TestStopCancelsTheTurnAndDropsWhatWaits(t *testing.T) {
	h := build(t)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if strings.HasPrefix(said(r), "after") {
			return modeltest.Text("re: " + said(r))
		}
		return modeltest.Reply{Fault: modeltest.StallBefore}
	})
	h.start()
	h.says(alice, "slow")
	h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 1 && len(h.model.Completions()) == 1 })
	h.says(alice, "waiting", "waiting too")
	began := time.Now()
	h.says(alice, "/stop")
	h.shows(alice, "Stopped. Waiting messages dropped: 2.")
	// The model is given up after 10 s by itself.
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("stopping took %v, want it at once", d)
	}
	h.until("nothing runs any more", func() bool { return h.asks(alice, "/stop") == "Nothing is running." })
	if got := h.asks(alice, "after"); got != "re: after" {
		t.Errorf("the next answer is %q", got)
	}
}

func TestTurnOfToolsAndTheirEffects(t *testing.T) {
	h := build(t)
	h.model.Push(
		modeltest.CallTool("file_write", map[string]any{"path": "notes.txt", "content": "milk\n", "mode": "append"}),
		modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": "telegram_22", "text": "milk is noted"}),
		modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": "telegram_99", "text": "psst"}),
		modeltest.Text("Noted."),
	)
	h.start().says(alice, "note milk and tell bob")
	h.shows(alice, "Noted.")
	h.shows(bob, "milk is noted")
	notes, err := os.ReadFile(filepath.Join(h.workspace(), "notes.txt"))
	if err != nil || string(notes) != "milk\n" {
		t.Errorf("notes.txt holds %q (%v), want one line", notes, err)
	}
	last := h.model.Completions()[3].Last()
	if want := "Error: chatId telegram_99 not in allowedChatIds"; !strings.Contains(last.Text(), want) {
		t.Errorf("the refused send reads %q, want %q", last.Text(), want)
	}
}

func TestLimitOfToolRoundsEndsWithAnAnswer(t *testing.T) {
	h := build(t)
	h.settings.MaxToolCallRounds = 3
	rounds := 0
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if rounds++; rounds > 3 {
			return modeltest.Text("that is all")
		}
		return modeltest.CallTool("current_time", map[string]any{})
	})
	h.start().says(alice, "loop")
	h.shows(alice, "that is all")
	if n := len(h.model.Completions()); n != 4 {
		t.Errorf("the model was asked %d times, want three rounds and a last call", n)
	}
}

func TestFailureIsOnePlainSentence(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply modeltest.Reply
		want  string
	}{
		{"key", modeltest.Error(401, "Incorrect API key provided: model-key"), "API key rejected."},
		{"overloaded", modeltest.Error(503, "overloaded"), "The model is overloaded."},
		{"empty", modeltest.Reply{}, "The model gave an empty answer. Please try again."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := build(t)
			h.model.Respond(func(modeltest.Request) modeltest.Reply { return tc.reply })
			h.start().says(alice, "hello")
			if !h.messenger.wait(5*time.Second, func() bool {
				texts := h.messenger.texts(alice)
				return len(texts) == 1 && strings.HasPrefix(texts[0], tc.want)
			}) {
				t.Fatalf("chat shows %q, want %q", h.messenger.texts(alice), tc.want)
			}
		})
	}
}

func TestNoModelSaysSoAndDoesWhatNeedsNone(t *testing.T) {
	h := build(t)
	h.settings.Models.Default = ""
	h.start().says(alice, "hello")
	h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 1 })
	h.says(alice, "/note buy milk")
	h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 2 })
	h.says(alice, "/files")
	h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 3 })
	texts := h.messenger.texts(alice)
	for _, text := range texts {
		if !strings.HasPrefix(text, "[no model]") {
			t.Errorf("reply %q has no label", text)
		}
	}
	if len(texts) != 3 || !strings.Contains(texts[2], "notes.md") {
		t.Errorf("replies are %q, want the list of files last", texts)
	}
	if n := len(h.model.Completions()); n != 0 {
		t.Errorf("a model was asked %d times", n)
	}
}

// TestNoteBeginsALine is the case note-joins-the-last-line, and what else an editor may
// have left of notes.md.
func TestNoteBeginsALine(t *testing.T) {
	line := `- \d{4}-\d\d-\d\d \d\d:\d\d milk`
	for before, after := range map[string]string{
		"- eggs":              `^- eggs\n` + line + `\n$`,
		"- eggs\n":            `^- eggs\n` + line + `\n$`,
		"- eggs\r\n- tea\r\n": `^- eggs\r\n- tea\r\n` + line + `\r\n$`,
		"\ufeff- eggs":        `^\x{feff}- eggs\n` + line + `\n$`,
		"":                    `^` + line + `\n$`,
	} {
		h := build(t)
		if err := os.WriteFile(filepath.Join(h.workspace(), "notes.md"), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		h.start().says(alice, "/note milk")
		h.shows(alice, "Saved in notes.md.")
		if got := h.content("notes.md"); !regexp.MustCompile(after).MatchString(got) {
			t.Errorf("%q becomes %q", before, got)
		}
	}
}

func TestNoModelNamesNoCommandsToOthers(t *testing.T) {
	h := build(t)
	h.settings.Models.Default = ""
	h.start().says(bob, "hello")
	h.shows(bob, "[no model] I have no model yet. Please tell my owner.")
}

func TestOwnersCommandIsRefusedToOthers(t *testing.T) {
	h := build(t)
	h.start().says(bob, "/note mine")
	h.shows(bob, "/note is for owners only.")
}

func TestNewSessionForgetsTheWindow(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	h.says(alice, "one")
	h.shows(alice, "re: one")
	h.says(alice, "/new")
	h.shows(alice, "re: one", "New conversation started. Previous context cleared.")
	h.says(alice, "two")
	h.shows(alice, "re: one", "New conversation started. Previous context cleared.", "re: two")
	last := h.model.Completions()[1]
	for _, m := range last.Messages {
		if strings.Contains(m.Text(), "one") && m.Role == "user" {
			t.Errorf("the new session still holds %q", m.Text())
		}
	}
}

func TestModelIsChosenPerChat(t *testing.T) {
	h := build(t)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text(r.Model) })
	h.start()
	h.says(alice, "/model nope")
	h.shows(alice, "Unknown model 'nope'. Available: main, other")
	h.says(alice, "/model other")
	h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 2 })
	h.says(alice, "who")
	h.shows(alice, "Unknown model 'nope'. Available: main, other", "Switched to model: other", "other-model")
	h.says(bob, "who")
	h.shows(bob, "test-model")
}

func TestPanickingUpdateIsADeadRowAndNothingElse(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	bad := h.next(gateway.Message{Address: private(alice), Sender: gateway.Sender{ID: alice}, Text: "x"})
	bad.Raw = []byte("panic")
	h.accept(bad)
	h.shows(alice, "I couldn't read that message.")
	h.says(alice, "still there?")
	h.shows(alice, "I couldn't read that message.", "re: still there?")
}

func TestWhitelistIsAskedAgainAtDispatch(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	h.end()
	h.list.Store(&[]int64{bob})
	h.start()
	h.says(alice, "still me")
	h.says(bob, "me too")
	h.shows(bob, "re: me too")
	if texts := h.messenger.texts(alice); len(texts) != 0 || len(h.model.Completions()) != 1 {
		t.Errorf("a chat that is not listed any more got %q", texts)
	}
}

func TestWhitelistIsAskedAgainWhenTheTurnComes(t *testing.T) {
	h := build(t)
	asked, release := make(chan struct{}), make(chan struct{})
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if said(r) == "slow" {
			close(asked)
			<-release
			return modeltest.CallTool("file_list", map[string]any{})
		}
		return modeltest.Text("re: " + said(r))
	})
	h.start()
	h.says(alice, "slow")
	<-asked
	h.says(alice, "waiting")
	h.list.Store(&[]int64{bob})
	close(release)
	h.says(bob, "hello")
	h.shows(bob, "re: hello")
	h.messenger.wait(5*time.Second, func() bool {
		in, _ := h.engine.Status(context.Background())
		return in.Inbox.Waiting == 0
	})
	if n := len(h.model.Completions()); n != 2 {
		t.Errorf("the model was asked %d times, want only before the list changed and for bob", n)
	}
}

// TestRemovedChatCallsNoTool: the list changes while the model thinks about a call.
func TestRemovedChatCallsNoTool(t *testing.T) {
	h := build(t)
	asked, release := make(chan struct{}), make(chan struct{})
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if said(r) == "write" && r.Last().Role != "tool" {
			close(asked)
			<-release
			return modeltest.CallTool("file_write", map[string]any{"path": "late.txt", "content": "x"})
		}
		return modeltest.Text("re: " + said(r))
	})
	h.start()
	h.says(alice, "write")
	<-asked
	h.list.Store(&[]int64{bob})
	close(release)
	h.messenger.wait(10*time.Second, func() bool {
		in, _ := h.engine.Status(context.Background())
		return in.Inbox.Waiting == 0
	})
	if _, err := os.Stat(filepath.Join(h.workspace(), "late.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a chat that is not listed any more wrote a file: %v", err)
	}
}

func TestDeliveryOutcomes(t *testing.T) {
	t.Parallel() // it mostly waits
	failOnce := func(kind gateway.Failure) func(string) *gateway.SendError {
		failed := false
		return func(call string) *gateway.SendError {
			if failed || !strings.Contains(call, "re: ") {
				return nil
			}
			failed = true
			return &gateway.SendError{Kind: kind, RetryAfter: time.Millisecond, Err: fmt.Errorf("told to")}
		}
	}
	for _, tc := range []struct {
		name      string
		streaming string
		fail      func(string) *gateway.SendError
		lose      func(string) bool
		hold      bool
		want      []string
	}{
		{name: "retry", streaming: "off", fail: failOnce(gateway.Retry), want: []string{"re: hello"}},
		{name: "edit target gone becomes a send", streaming: "edit", fail: failOnce(gateway.NotFound), want: []string{"…", "re: hello"}},
		{name: "ambiguous edit is repeated", streaming: "edit", lose: once("edit"), want: []string{"re: hello"}},
		{name: "ambiguous send is repeated once and marked", streaming: "off", lose: once("re: "), want: []string{"re: hello", "↻ re: hello"}},
		{name: "ambiguous send is held", streaming: "off", lose: once("re: "), hold: true, want: []string{"re: hello"}},
		{name: "ambiguous placeholder is forgotten", streaming: "edit", lose: once("…"), want: []string{"…", "re: hello"}},
		{name: "rejected edit becomes a send", streaming: "edit", fail: rejecting("edit", 1), want: []string{"re: hello"}},
		{name: "rejected send says that there was an answer", streaming: "off", fail: rejecting("re: ", 9), want: []string{
			"I couldn't send my answer. The log says why."}},
		{name: "busy placeholder is skipped", streaming: "edit", fail: func(call string) *gateway.SendError {
			if strings.HasSuffix(call, "…") {
				return &gateway.SendError{Kind: gateway.Busy, Err: fmt.Errorf("no room")}
			}
			return nil
		}, want: []string{"re: hello"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := build(t)
			h.slowEcho()
			h.settings.Streaming = map[string]string{"telegram": tc.streaming}
			h.settings.HoldAmbiguous = tc.hold
			h.messenger.fail, h.messenger.lose = tc.fail, tc.lose
			h.start().says(alice, "hello")
			h.shows(alice, tc.want...)
			h.end() // what is still to come comes now
			h.shows(alice, tc.want...)
		})
	}
}

// TestARestartMendsAChannelThatStopped wants no wait from before it.
func TestARestartMendsAChannelThatStopped(t *testing.T) {
	h := build(t)
	h.echo()
	h.settings.Streaming = nil
	tried := make(chan struct{}, 1)
	h.messenger.fail = func(string) *gateway.SendError {
		select {
		case tried <- struct{}{}:
		default:
		}
		return &gateway.SendError{Kind: gateway.Stopped, Err: fmt.Errorf("the token was revoked")}
	}
	h.start().says(alice, "hello")
	<-tried
	h.end()
	h.messenger.fail = nil
	h.start().shows(alice, "re: hello")
}

func TestRepeatWaitsForTheEndOfTheOutage(t *testing.T) {
	h := build(t)
	h.echo()
	h.settings.Streaming = nil
	failed := make(chan struct{})
	var first sync.Once
	h.messenger.ill = true
	h.messenger.fail = func(call string) *gateway.SendError {
		if !h.messenger.ill || !strings.Contains(call, "re: ") {
			return nil
		}
		first.Do(func() { close(failed) })
		return &gateway.SendError{Kind: gateway.Ambiguous, Err: fmt.Errorf("502 Bad Gateway")}
	}
	h.start().says(alice, "hello")
	<-failed
	if h.messenger.wait(1500*time.Millisecond/busy, func() bool { return len(h.messenger.log()) > 1 }) {
		t.Errorf("repeated into the outage: %q", h.messenger.log())
	}
	h.messenger.recover()
	h.shows(alice, "↻ re: hello")
}

func TestDocumentThatIsRejectedComesAsMessages(t *testing.T) {
	h := build(t)
	h.settings.Streaming = nil
	long := strings.TrimSpace(strings.Repeat("a line of a long answer\n", 200))
	h.messenger.document = long
	h.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text(long) })
	h.messenger.fail = func(call string) *gateway.SendError {
		if call == "send telegram_11 " {
			return &gateway.SendError{Kind: gateway.Rejected, Err: fmt.Errorf("no documents here")}
		}
		return nil
	}
	h.start().says(alice, "tell me everything")
	if !h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 3 }) {
		t.Fatalf("chat shows %q", h.messenger.texts(alice))
	}
	texts := h.messenger.texts(alice)
	if texts[0] != "summary" || texts[1]+texts[2] != long {
		t.Errorf("chat shows %q", texts)
	}
}

// rejecting returns a function that rejects the first n calls that contain text.
func rejecting(text string, n int) func(string) *gateway.SendError {
	return func(call string) *gateway.SendError {
		if !strings.Contains(call, text) || n == 0 {
			return nil
		}
		n--
		return &gateway.SendError{Kind: gateway.Rejected, Err: fmt.Errorf("something new")}
	}
}

func TestAnswerThatShowsNothingIsSaidSo(t *testing.T) {
	for _, streaming := range []string{"edit", "off"} {
		h := build(t)
		h.settings.Streaming = map[string]string{"telegram": streaming}
		h.messenger.invisible = "\u2800"
		h.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("\u2800") })
		h.start().says(alice, "hello")
		h.shows(alice, "The model gave an empty answer. Please try again.")
	}
}

// once returns a function that is true for the first call that contains text.
func once(text string) func(string) bool {
	var done sync.Once
	return func(call string) (first bool) {
		if strings.Contains(call, text) {
			done.Do(func() { first = true })
		}
		return first
	}
}

func TestPartThatFailsResumesThere(t *testing.T) {
	h := build(t)
	h.settings.Streaming = nil
	h.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("one\n\n\ntwo\n\n\nthree") })
	failed := false
	h.messenger.fail = func(call string) *gateway.SendError {
		if !failed && strings.HasSuffix(call, "two") {
			failed = true
			return &gateway.SendError{Kind: gateway.Retry, Err: fmt.Errorf("connection refused")}
		}
		return nil
	}
	h.start().says(alice, "hello")
	h.shows(alice, "one", "two", "three")
}

func TestGroupAnswerRefersToItsMessage(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	group := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 7}
	h.accept(h.next(gateway.Message{ID: 41, Address: group, Group: true, Sender: gateway.Sender{ID: bob, Name: "Bob [admin]\n"}, Text: "hi"}))
	h.shows(-100, "re: [Bob admin] hi")
	h.messenger.mu.Lock()
	defer h.messenger.mu.Unlock()
	for _, s := range h.messenger.shown {
		if s.to != group || !s.part.Last {
			t.Errorf("the answer went to %v, want %v", s.to, group)
		}
	}
}

func TestBurstLosesNothingAndKeepsOrder(t *testing.T) { burstLosesNothingAndKeepsOrder(t, 20) }

// burstLosesNothingAndKeepsOrder lets 20 chats send each so many messages at once.
func burstLosesNothingAndKeepsOrder(t *testing.T, each int) {
	h := build(t)
	var chats []int64
	for i := range int64(20) {
		chats = append(chats, 1000+i)
	}
	h.list.Store(&chats)
	h.settings.MaxConcurrentModelCalls = 20
	var mu sync.Mutex
	got := map[string][]string{}
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		last := r.Messages
		for i := len(last) - 1; i >= 0 && last[i].Role == "user"; i-- {
			last = last[:i]
		}
		for _, m := range r.Messages[len(last):] {
			chat, n, _ := strings.Cut(strings.Fields(m.Text())[0], "/")
			got[chat] = append(got[chat], n)
		}
		return modeltest.Reply{Text: "ok", Delay: 30 * time.Millisecond}
	})
	h.start()
	for n := range each {
		for c := range int64(20) {
			h.says(1000+c, fmt.Sprintf("%d/%d", c, n))
		}
	}
	total := func() (sum int) {
		mu.Lock()
		defer mu.Unlock()
		for _, list := range got {
			sum += len(list)
		}
		return sum
	}
	if !h.messenger.wait(30*time.Second, func() bool { return total() == 20*each }) {
		t.Fatalf("%d of %d messages reached the model", total(), 20*each)
	}
	for chat, list := range got {
		var want []string
		for n := range each {
			want = append(want, fmt.Sprint(n))
		}
		if !slices.Equal(list, want) {
			t.Errorf("chat %s came as %v", chat, list)
		}
	}
}

func TestStopOfTheProcessParksTheTurnAndTheNextOneResumesIt(t *testing.T) {
	h := build(t)
	entered := make(chan struct{})
	var first sync.Once
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if r.Last().Role == "user" {
			return modeltest.CallTool("file_write", map[string]any{"path": "a.txt", "content": "x", "mode": "append"})
		}
		reply := modeltest.Text("done")
		first.Do(func() {
			close(entered)
			reply = modeltest.Reply{Fault: modeltest.StallBefore}
		})
		return reply
	})
	h.start().says(alice, "work")
	<-entered
	h.restart()
	h.shows(alice, "done")
	if b, err := os.ReadFile(filepath.Join(h.workspace(), "a.txt")); err != nil || string(b) != "x" {
		t.Errorf("a.txt holds %q (%v): the effect was repeated or lost", b, err)
	}
}

func TestStatusCounts(t *testing.T) {
	h := build(t)
	h.echo()
	h.start().says(alice, "/status")
	h.messenger.wait(5*time.Second, func() bool { return len(h.messenger.texts(alice)) == 1 })
	if text := h.messenger.texts(alice)[0]; !strings.Contains(text, "Model: main") || !strings.Contains(text, "Waiting: 0 in, 0 out") {
		t.Errorf("status says %q", text)
	}
	s, err := h.engine.Status(context.Background())
	if err != nil || s.Model != "main" || s.Version != "test" {
		t.Errorf("status is %+v (%v)", s, err)
	}
}

func TestPlaceholderThatHangsDoesNotHoldTheAnswer(t *testing.T) {
	t.Parallel() // it mostly waits
	h := build(t)
	h.slowEcho()
	h.messenger.hang = "…"
	began := time.Now()
	h.start().says(alice, "hello")
	h.shows(alice, "re: hello")
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("the answer came after %v", d)
	}
}

// TestEditThatAddressesTheBot: a group writes to the bot and adds the mention afterwards.
func TestEditThatAddressesTheBot(t *testing.T) {
	t.Parallel() // it mostly waits
	const group = int64(-100)
	message := func(id int64, text string) gateway.Message {
		return gateway.Message{
			Kind: gateway.KindText, ID: id, Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: group}}, Group: true,
			Sender: gateway.Sender{ID: bob, Name: "Bob"}, Text: text, Time: time.Now(),
		}
	}
	edited := func(m gateway.Message, text string, after time.Duration) gateway.Message {
		m.Kind, m.Text, m.Edited = gateway.KindEdit, text, m.Time.Add(after)
		return m
	}
	for _, c := range []struct {
		name  string
		parts []string // texts of the message and of its edits; "@" addresses the bot
		after time.Duration
		want  []string
	}{
		{"edit-adds-the-mention", []string{"what is 2+2?", "@what is 2+2?"}, time.Second, []string{"re: [Bob] what is 2+2?"}},
		{"the message was never seen", []string{"", "@what is 2+2?"}, time.Minute, []string{"re: [Bob] what is 2+2?"}},
		{"a second edit later", []string{"what is 2+2?", "@what is 2+2?", "@what is 3+3?"}, time.Second, []string{"re: [Bob] what is 2+2?"}},
		{"still not addressed, then addressed", []string{"a", "b", "@c"}, time.Second, []string{"re: [Bob] c"}},
		{"answered already", []string{"@what is 2+2?", "@what is 3+3?"}, time.Second, []string{"re: [Bob] what is 2+2?"}},
		{"hours later", []string{"what is 2+2?", "@what is 2+2?"}, 5 * time.Hour, nil},
		{"a command", []string{"hello", "@/help"}, time.Second, nil},
		{"not addressed", []string{"hello", "hello!"}, time.Second, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := build(t)
			h.echo()
			h.start()
			first := message(500, "")
			for i, text := range c.parts {
				m := first
				if m.Text = strings.TrimPrefix(text, "@"); i > 0 {
					m = edited(first, m.Text, c.after)
				}
				if text == "" {
					continue
				}
				u := h.next(m)
				if !strings.HasPrefix(text, "@") {
					m.Addressed = false
					raw, err := json.Marshal(m)
					if err != nil {
						t.Fatal(err)
					}
					u.Raw = raw
				}
				h.accept(u)
				if strings.HasPrefix(text, "@") && len(c.want) > 0 {
					h.shows(group, c.want...)
				}
			}
			h.restart() // an edit that is stored is not taken again
			h.exchange("hi", "re: hi")
			if got := h.messenger.texts(group); !slices.Equal(got, c.want) {
				t.Errorf("the group reads %q, want %q", got, c.want)
			}
		})
	}
}
