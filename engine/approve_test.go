package engine_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/modeltest"
	"klawbot/tools"
	"klawbot/tools/rule"
)

// Answer makes the messenger one with buttons.
func (m *messenger) Answer(_ context.Context, query, text string) error {
	return m.do("answer "+query+" "+text, func() error { return nil })
}

// launch is a tool that requires approval; it counts how often it ran.
type launch struct {
	ran atomic.Int64
	// rocket is what a launch depends on besides its arguments.
	rocket atomic.Int64
	// owners says that only owners may approve it; once, that it is asked about
	// every time.
	owners, once atomic.Bool

	mu      sync.Mutex
	targets []string // guarded by mu; what was launched
}

func (l *launch) Spec() tools.Spec {
	schema := json.RawMessage(`{"type":"object","properties":{"target":{"type":"string","description":"where to"}},"additionalProperties":false}`)
	return tools.Spec{
		Name: "launch", Group: tools.GroupRuntime, Changes: true, RequiresApproval: true, Dangerous: true,
		Permit: func(tools.Call, tools.Autonomy) tools.Decision {
			d := tools.Decision{Verdict: tools.Allow, Binds: fmt.Sprint("rocket ", l.rocket.Load()), OwnerOnly: l.owners.Load()}
			if l.once.Load() {
				d.OnceOnly = tools.UnknownFiles
			}
			return d
		},
		Texts: map[string]tools.Text{"en": {Description: "Launches.", Parameters: schema}},
	}
}

func (l *launch) Run(_ context.Context, call tools.Call) tools.Result {
	l.ran.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.targets = append(l.targets, string(call.Arguments))
	return tools.OK("launched")
}

// pad is a house with the tool launch, whose model launches what it is asked to
// and then repeats the result. It does not stream: no placeholder stands above the
// question, however slow the machine is.
func pad(t *testing.T) (*house, *launch) {
	t.Helper()
	h, l := build(t), &launch{}
	h.tools = append(h.tools, l)
	h.settings.ApprovalTimeout, h.settings.Streaming = time.Minute, nil
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if last := r.Last(); last.Role == "tool" {
			return modeltest.Text("so: " + last.Text())
		}
		if _, target, ok := strings.Cut(said(r), "launch "); ok {
			return modeltest.CallTool("launch", map[string]any{"target": target})
		}
		return modeltest.Text("re: " + said(r))
	})
	return h, l
}

// question waits for a question in a chat that has its buttons still.
func (h *house) question(chat int64) shown {
	h.t.Helper()
	var found shown
	if !h.messenger.wait(10*time.Second, func() bool {
		h.messenger.mu.Lock()
		defer h.messenger.mu.Unlock()
		for _, s := range h.messenger.shown {
			if s.to.Chat.ID == chat && len(s.part.Buttons) > 0 {
				found = s
				return true
			}
		}
		return false
	}) {
		h.t.Fatalf("nobody is asked in chat %d: %q", chat, h.messenger.texts(chat))
	}
	// Who answers before it is known which message asks has another outcome.
	h.until("the question has arrived", func() bool { return h.settled(found.id) })
	return found
}

// settled reports whether the store knows of a question which message it is.
func (h *house) settled(message int64) bool { return h.sent("approval/%/0", message) }

// sent reports whether the store knows of a row of the outbox which message it is.
func (h *house) sent(key string, message int64) (is bool) {
	h.t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, "klawbot.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRow(`SELECT count(*) > 0 FROM outbox WHERE key LIKE ? AND state = 'sent' AND message_id = ?`, key, message).Scan(&is)
	return err == nil && is // a table that is locked for a moment
}

// The choices of a question.
const (
	tapOnce = iota
	tapHour
	tapNo
)

// tap presses a button of a question and returns the query.
func (h *house) tap(person int64, q shown, button int) string {
	h.t.Helper()
	buttons := slices.Concat(q.part.Buttons...)
	return h.press(person, q.to, q.id, buttons[button].Data)
}

func (h *house) press(person int64, at gateway.Address, message int64, data string) string {
	h.t.Helper()
	query := fmt.Sprintf("q%d", time.Now().UnixNano())
	h.accept(h.next(gateway.Message{
		Kind: gateway.KindCallback, Address: at, ID: message, Group: at.Chat.ID < 0, Sender: gateway.Sender{ID: person, Name: "Person"},
		Callback: &gateway.Callback{Query: query, Data: data, Message: message},
	}))
	return query
}

// told waits until a query was answered with a text, once.
func (h *house) told(query, want string) {
	h.t.Helper()
	var answers []string
	if !h.messenger.wait(10*time.Second, func() bool {
		answers = nil
		for _, c := range h.messenger.log() {
			if rest, ok := strings.CutPrefix(c, "answer "+query+" "); ok {
				answers = append(answers, rest)
			}
		}
		return len(answers) > 0
	}) || len(answers) != 1 || !strings.HasPrefix(answers[0], want) {
		h.t.Fatalf("the tap is answered with %q, want %q once", answers, want)
	}
}

func TestApproveOnce(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch a\u202eb sk-0123456789abcdefghij")
	q := h.question(alice)
	for _, want := range []string{"Run `launch`?", "Can't be undone", `target: "a\u202Eb [redacted]"`, "Expires in 1 min."} {
		if !strings.Contains(q.text, want) {
			t.Errorf("the question lacks %q:\n%s", want, q.text)
		}
	}
	for _, b := range slices.Concat(q.part.Buttons...) {
		if len(b.Data) > 64 || strings.Contains(b.Data, "launch") {
			t.Errorf("a button carries %q", b.Data)
		}
	}
	if l.ran.Load() != 0 {
		t.Fatal("it ran before anybody agreed")
	}
	query := h.tap(alice, q, tapOnce)
	h.shows(alice, "✅ Allowed once by Person\n`launch`\n```\ntarget: \"a\\u202Eb [redacted]\"\n```", "so: launched")
	h.told(query, "✅ Allowed once")
	if n := l.ran.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	h.messenger.mu.Lock()
	defer h.messenger.mu.Unlock()
	if slices.ContainsFunc(h.messenger.shown, func(s shown) bool { return len(s.part.Buttons) > 0 }) {
		t.Error("the buttons are still there")
	}
}

// TestATapOutlivesALostReply: a person taps before the messenger's reply, which never
// comes. The tap has told that the question arrived, so it is not asked again.
func TestATapOutlivesALostReply(t *testing.T) {
	h, _ := pad(t)
	lost := false
	h.messenger.lose = func(call string) bool {
		if lost || !strings.Contains(call, "Run `launch`?") {
			return false
		}
		lost = true
		q := h.messenger.shown[len(h.messenger.shown)-1]
		h.messenger.mu.Unlock() // the bot says more meanwhile
		defer h.messenger.mu.Lock()
		h.tap(alice, q, tapOnce)
		for tick := time.Tick(time.Millisecond); !h.settled(q.id); {
			<-tick
		}
		return true
	}
	h.start().says(alice, "launch it")
	h.shows(alice, "✅ Allowed once by Person\n`launch`\n```\ntarget: \"it\"\n```", "so: launched")
}

// buttonFirst is what people read who write while a button is waited for.
const buttonFirst = "Tap a button above first. /stop cancels."

func TestWritingWhileAButtonIsWaitedFor(t *testing.T) {
	h, _ := pad(t)
	h.start().says(alice, "launch it")
	q := h.question(alice)
	h.says(alice, "yes")
	if !h.messenger.wait(5*time.Second, func() bool { return slices.Contains(h.messenger.texts(alice), buttonFirst) }) {
		t.Fatalf("the chat shows %q", h.messenger.texts(alice))
	}
	h.tap(alice, q, tapNo)
}

func TestApproveNo(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	h.told(h.tap(alice, h.question(alice), tapNo), "❌ Denied")
	h.shows(alice, "❌ Denied by Person\n`launch`\n```\ntarget: \"it\"\n```",
		`so: Error: Tool "launch" was not approved: denied by the user; do not try it in another way, ask what to do instead`)
	if n := l.ran.Load(); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

// TestApproveNoToOnesOwnCall wants no words for a model: a person made the call.
func TestApproveNoToOnesOwnCall(t *testing.T) {
	h, _ := pad(t)
	h.start().says(alice, `/tool launch {"target":"it"}`)
	h.told(h.tap(alice, h.question(alice), tapNo), "❌ Denied")
	h.shows(alice, "❌ Denied by Person\n`launch`\n```\ntarget: \"it\"\n```", "```\nError: Tool \"launch\" was not approved: you said no\n```")
}

func TestApproveExactCallForAnHour(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	h.told(h.tap(alice, h.question(alice), tapHour), "🕐 Allowed for 1 hour")
	granted := "🕐 Allowed for 1 hour by Person\n`launch`\n```\ntarget: \"it\"\n```"
	h.shows(alice, granted, "so: launched")
	h.says(alice, "launch it")
	h.shows(alice, granted, "so: launched", "so: launched")
	h.says(alice, "launch another")
	h.tap(alice, h.question(alice), tapNo)
	if !h.messenger.wait(10*time.Second, func() bool { return len(h.messenger.texts(alice)) == 5 && l.ran.Load() == 2 }) {
		t.Errorf("it ran %d times, the chat shows %q", l.ran.Load(), h.messenger.texts(alice))
	}
	h.says(bob, "launch it")
	h.tap(bob, h.question(bob), tapNo)
	d := openData(t, h)
	grants, err := d.Approvals().Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Tool != "launch" || grants[0].AddedBy != "user" || grants[0].AddedByUser != alice ||
		grants[0].Chat != "telegram_11" || grants[0].Arguments != `target: "it"` || grants[0].LastUsed.IsZero() {
		t.Fatalf("grants are %+v (%v)", grants, err)
	}
	if err := d.Approvals().RemoveGrant(t.Context(), grants[0].ID); err != nil {
		t.Fatal(err)
	}
	h.says(alice, "launch it")
	h.question(alice)
	record, err := d.Approvals().Asked(t.Context(), 10)
	var outcomes []string
	for _, a := range record {
		outcomes = append(outcomes, fmt.Sprintf("%d %s %s %s by %d", a.User, a.Tool, a.Arguments, a.Outcome, a.AnsweredBy))
	}
	want := []string{
		`11 launch target: "it" pending by 0`, `22 launch target: "it" denied by 22`, `11 launch target: "another" denied by 11`,
		`11 launch target: "it" granted by 11`, `11 launch target: "it" hour by 11`,
	}
	if err != nil || !slices.Equal(outcomes, want) {
		t.Errorf("the record says %q (%v), want %q", outcomes, err, want)
	}
}

func TestApprovalTimesOutToNo(t *testing.T) {
	h, l := pad(t)
	h.settings.ApprovalTimeout = 2 * time.Second
	h.start().says(alice, "launch it")
	q := h.question(alice)
	h.shows(alice, "⌛ Expired\n`launch`\n```\ntarget: \"it\"\n```", `so: Error: Tool "launch" was not approved: no one answered in time`)
	h.told(h.tap(alice, q, tapOnce), "⌛ Expired")
	if n := l.ran.Load(); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

func TestApprovalSurvivesARestart(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	q := h.question(alice)
	began := time.Now()
	h.restart()
	if d := time.Since(began); d > h.settings.ApprovalTimeout/2 {
		t.Errorf("the end waited %s for a person", d)
	}
	h.told(h.tap(alice, q, tapOnce), "✅ Allowed once")
	if !h.messenger.wait(10*time.Second, func() bool { return slices.Contains(h.messenger.texts(alice), "so: launched") }) {
		t.Fatalf("the chat shows %q", h.messenger.texts(alice))
	}
	asked := 0
	for _, c := range h.messenger.log() {
		if strings.Contains(c, "Run `launch`?") {
			asked++
		}
	}
	if n := l.ran.Load(); n != 1 || asked != 1 {
		t.Errorf("it ran %d times, was asked about %d times", n, asked)
	}
}

// TestApprovalIsForWhatTheCallDependedOn: what a call depends on changes while
// its question stands and the bot is down, or within the hour.
func TestApprovalIsForWhatTheCallDependedOn(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	h.question(alice)
	h.end()
	l.rocket.Add(1)
	h.start()
	refused := func() bool {
		return slices.ContainsFunc(h.messenger.texts(alice), func(s string) bool { return strings.Contains(s, "has changed since the question") })
	}
	if !h.messenger.wait(10*time.Second, refused) || l.ran.Load() != 0 {
		t.Fatalf("it ran %d times, the chat shows %q", l.ran.Load(), h.messenger.texts(alice))
	}
	h.says(alice, "launch again")
	h.tap(alice, h.question(alice), tapHour)
	if !h.messenger.wait(10*time.Second, func() bool { return slices.Contains(h.messenger.texts(alice), "so: launched") }) {
		t.Fatalf("the chat shows %q", h.messenger.texts(alice))
	}
	l.rocket.Add(1)
	h.says(alice, "launch again")
	h.tap(alice, h.question(alice), tapNo)
	if n := l.ran.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestApprovalExpiresWhileNothingRuns(t *testing.T) {
	h, l := pad(t)
	h.settings.ApprovalTimeout = time.Second
	h.start().says(alice, "launch it")
	q := h.question(alice)
	h.end()
	if !h.messenger.wait(3*time.Second, func() bool { return expired(t, h) }) {
		t.Fatal("the question does not get old")
	}
	h.start()
	h.tap(alice, q, tapOnce)
	if !h.messenger.wait(10*time.Second, func() bool {
		return slices.ContainsFunc(h.messenger.texts(alice), func(s string) bool { return strings.HasPrefix(s, "⌛") })
	}) {
		t.Errorf("the chat shows %q", h.messenger.texts(alice))
	}
	if n := l.ran.Load(); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

func TestForeignTapIsRefusedAndLeavesItPending(t *testing.T) {
	h, l := pad(t)
	group := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	const carol = 33
	h.start().accept(h.next(gateway.Message{Address: group, Group: true, Sender: gateway.Sender{ID: bob, Name: "Bob"}, Text: "launch it"}))
	q := h.question(-100)
	h.told(h.tap(carol, q, tapOnce), "Only the requester or an owner")
	data := q.part.Buttons[0][0].Data
	h.told(h.press(alice, private(alice), q.id, data), "Only the requester or an owner")
	h.told(h.press(bob, group, q.id+1000, data), "Only the requester or an owner")
	if l.ran.Load() != 0 || !slices.Contains(h.messenger.texts(-100), q.text) {
		t.Fatalf("it ran %d times, the group shows %q", l.ran.Load(), h.messenger.texts(-100))
	}
	h.told(h.tap(alice, q, tapOnce), "✅ Allowed once") // an owner may answer for others
	h.shows(-100, "✅ Allowed once by Person\n`launch`\n```\ntarget: \"it\"\n```", "so: launched")
}

func TestManyTapsDecideOnce(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	q := h.question(alice)
	var taps sync.WaitGroup
	for n := range 200 {
		taps.Go(func() { h.tap(alice, q, n%2*tapNo) })
	}
	taps.Wait()
	if !h.messenger.wait(20*time.Second, func() bool {
		answers := 0
		for _, c := range h.messenger.log() {
			if strings.HasPrefix(c, "answer ") {
				answers++
			}
		}
		texts := h.messenger.texts(alice)
		return answers == 200 && strings.HasPrefix(texts[len(texts)-1], "so: ")
	}) {
		t.Fatalf("the chat shows %q", h.messenger.texts(alice))
	}
	outcome := h.messenger.texts(alice)[0]
	if allowed := strings.HasPrefix(outcome, "✅"); l.ran.Load() > 1 || allowed != (l.ran.Load() == 1) {
		t.Errorf("it ran %d times, the outcome is %q", l.ran.Load(), outcome)
	}
	edits := 0
	for _, c := range h.messenger.log() {
		if strings.HasPrefix(c, fmt.Sprintf("edit telegram_11 %d ", q.id)) {
			edits++
		}
	}
	if edits > 2 {
		t.Errorf("the question was edited %d times", edits)
	}
}

func TestTapsFromThreeChannelsDecideOnce(t *testing.T) { tapsFromThreeChannels(t, 300) }

// tapsFromThreeChannels: a call waits in each of three chats, and everyone presses all
// buttons of all chats at once. Each call is decided once, in its own chat, and what runs
// is what was shown.
func tapsFromThreeChannels(t *testing.T, taps int) {
	h, l := pad(t)
	h.local = []string{"web", "console"}
	h.start()
	chats := []gateway.Address{private(alice), {Chat: gateway.ChatID{Channel: "web"}}, {Chat: gateway.ChatID{Channel: "console"}}}
	questions := make([]shown, len(chats))
	for i, at := range chats {
		h.accept(h.next(gateway.Message{Address: at, Sender: gateway.Sender{ID: alice, Name: "Person"}, Text: "launch " + at.Chat.Channel}))
		h.until("everyone is asked", func() bool {
			h.messenger.mu.Lock()
			defer h.messenger.mu.Unlock()
			n := slices.IndexFunc(h.messenger.shown, func(s shown) bool { return s.to == at && len(s.part.Buttons) > 0 })
			if n >= 0 {
				questions[i] = h.messenger.shown[n]
			}
			return n >= 0
		})
		h.until("the question has arrived", func() bool { return h.settled(questions[i].id) })
	}
	var all sync.WaitGroup
	for c, at := range chats {
		all.Go(func() {
			for n := range taps / len(chats) {
				q := questions[(n+c)%len(questions)]
				data := slices.Concat(q.part.Buttons...)[n/len(questions)%2*tapNo].Data
				h.press(alice, at, q.id, data)
			}
		})
	}
	all.Wait()
	var outcomes []string
	if !h.messenger.wait(3*time.Minute, func() bool {
		outcomes = nil
		for _, at := range chats {
			if texts := h.messenger.textsAt(at); len(texts) > 1 && strings.HasPrefix(texts[len(texts)-1], "so: ") {
				outcomes = append(outcomes, texts[0])
			}
		}
		return len(outcomes) == len(chats)
	}) {
		t.Fatalf("decided are only %q", outcomes)
	}
	var want []string
	for i, outcome := range outcomes {
		if strings.HasPrefix(outcome, "✅") {
			want = append(want, fmt.Sprintf(`{"target":%q}`, chats[i].Chat.Channel))
		}
		if !strings.Contains(outcome, fmt.Sprintf("target: %q", chats[i].Chat.Channel)) {
			t.Errorf("the chat %s shows %q", chats[i], outcome)
		}
	}
	l.mu.Lock()
	ran := slices.Clone(l.targets)
	l.mu.Unlock()
	slices.Sort(want)
	if slices.Sort(ran); !slices.Equal(ran, want) {
		t.Errorf("%q ran, want %q: %q", ran, want, outcomes)
	}
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, "klawbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM approvals`).Scan(&rows); err != nil || rows != len(chats) {
		t.Errorf("%d approvals are stored, want %d: %v", rows, len(chats), err)
	}
}

func TestUnknownButtonsLoseTheirKeyboard(t *testing.T) {
	h, _ := pad(t)
	h.start().says(alice, "launch it")
	q := h.question(alice)
	h.told(h.press(alice, q.to, q.id, "ask/AAAAAAAAAAAAAAAAAAAAAAAAAA/once"), "This button has expired.")
	if !h.messenger.wait(10*time.Second, func() bool { return slices.Contains(h.messenger.texts(alice), "This button has expired.") }) {
		t.Errorf("the chat shows %q", h.messenger.texts(alice))
	}
	for _, data := range []string{"repeated", "ask/", "ask/x", "ask/x/perhaps", ""} {
		h.told(h.press(alice, q.to, 999, data), "This button has expired.")
	}
}

func TestStopDeniesWhatIsPending(t *testing.T) {
	h, l := pad(t)
	h.start().says(alice, "launch it")
	q := h.question(alice)
	h.says(alice, "/stop")
	stopped := "⏹ Stopped\n`launch`\n```\ntarget: \"it\"\n```"
	if !h.messenger.wait(10*time.Second, func() bool {
		texts := h.messenger.texts(alice)
		return slices.Contains(texts, stopped) && slices.Contains(texts, "Stopped.")
	}) {
		t.Fatalf("the chat shows %q", h.messenger.texts(alice))
	}
	h.told(h.tap(alice, q, tapOnce), "⏹ Stopped")
	if n := l.ran.Load(); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

func TestWaitingTurnGivesItsModelSlotBack(t *testing.T) {
	h, _ := pad(t)
	h.settings.MaxConcurrentModelCalls = 1
	h.start().says(alice, "launch it")
	q := h.question(alice)
	h.says(bob, "hello")
	h.shows(bob, "re: hello")
	h.says(alice, "and then") // waits for its turn
	h.tap(alice, q, tapOnce)
	outcome := "✅ Allowed once by Person\n`launch`\n```\ntarget: \"it\"\n```"
	h.shows(alice, outcome, buttonFirst, "so: launched", "re: and then")
}

func TestReadonlyRefusesAndHides(t *testing.T) {
	h, l := pad(t)
	h.settings.Policy.Autonomy = tools.ReadOnly
	h.start().says(alice, "launch it")
	h.shows(alice, `so: Error: Tool "launch" blocked by policy: Read-only mode: launch may not change anything`)
	shown := offeredTools(h.model.Completions()[0])
	if slices.Contains(shown, "launch") || slices.Contains(shown, "file_write") || !slices.Contains(shown, "file_read") {
		t.Errorf("the model is shown %q", shown)
	}
	if l.ran.Load() != 0 {
		t.Error("it ran")
	}
}

func TestPolicyThatNamesNoToolIsTold(t *testing.T) {
	h, _ := pad(t)
	one, err := rule.New("r", []string{"lunch"}, nil, []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	h.settings.Policy = tools.Policy{Everyone: tools.Limits{Deny: []string{"file_wirte", "read_file"}}, Rules: []rule.Rule{one}}
	h.start()
	logs := h.logs.String()
	for _, want := range []string{`tool="file_wirte; did you mean file_write`, `tool="lunch; did you mean launch?"`} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if strings.Contains(logs, "tool=read_file") {
		t.Error("an alias counts as unknown")
	}
}

func TestDeniedToolIsNotShown(t *testing.T) {
	h, _ := pad(t)
	h.showsAll()
	h.settings.Policy.Chats = map[string]tools.Limits{"telegram_22": {DenyGroups: []tools.Group{tools.GroupRuntime}}}
	h.start().says(alice, "hello")
	h.shows(alice, "re: hello")
	h.says(bob, "launch it")
	h.shows(bob, `so: Error: Tool "launch" blocked by policy: Tool group "runtime" is denied`)
	if shown := offeredTools(h.model.Completions()[0]); !slices.Contains(shown, "launch") {
		t.Errorf("alice's model is shown %q", shown)
	}
	if shown := offeredTools(h.model.Completions()[1]); slices.Contains(shown, "launch") {
		t.Errorf("bob's model is shown %q", shown)
	}
}

func offeredTools(r modeltest.Request) []string {
	var names []string
	for _, tool := range r.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}

// expired reports whether the only question of the house is past its time.
func expired(t *testing.T, h *house) bool {
	t.Helper()
	all, err := openData(t, h).Approvals().Asked(t.Context(), 1)
	if err != nil || len(all) != 1 {
		t.Fatalf("questions: %+v, %v", all, err)
	}
	return time.Since(all[0].AskedAt) > h.settings.ApprovalTimeout
}

// TestAnswerStandsBelowQuestion: people read the answer below what they have just answered,
// not where the placeholder stood.
func TestAnswerStandsBelowQuestion(t *testing.T) {
	h, _ := pad(t)
	h.settings.Streaming = map[string]string{"telegram": settings.StreamEdit}
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if last := r.Last(); last.Role == "tool" {
			return modeltest.Text("so: " + last.Text())
		}
		h.shows(alice, "…") // however slow the machine is
		return modeltest.CallTool("launch", map[string]any{"target": "moon"})
	})
	h.start().says(alice, "launch moon")
	q := h.question(alice)
	h.tap(alice, q, tapOnce)
	h.until("the answer is there", func() bool { return slices.Contains(h.messenger.texts(alice), "so: launched") })
	h.until("the placeholder is taken away", func() bool { return slices.Contains(h.messenger.log(), "delete telegram_11 1") })
	h.messenger.mu.Lock()
	defer h.messenger.mu.Unlock()
	if last := h.messenger.shown[len(h.messenger.shown)-1]; last.id <= q.id {
		t.Errorf("the answer is message %d, the question %d", last.id, q.id)
	}
}
