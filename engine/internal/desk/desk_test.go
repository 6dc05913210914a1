package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/stranger"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/gateway/web"
	"klawbot/gateway/web/control"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/job"
	"klawbot/tools/self"
	"klawbot/whitelist"
)

// secret must be on no page.
const secret = "sk-canary-0123456789abcdefghij"

// office is a desk with a real store, and a browser in front of its pages.
type office struct {
	t        *testing.T
	store    *store.Store
	desk     *Desk
	set      *toolset.Set
	settings settings.Settings
	// allowed is the allow list; log the lines of the log.
	allowed  []gateway.ChatID
	log      []control.LogLine
	settable *configuration
	browser  web.Browser
	pages    http.Handler
}

// configuration is a configuration with one settable key and one of the owner's.
type configuration struct{ level string }

func (c *configuration) Entries() []self.Entry {
	return []self.Entry{
		{Key: "agent.language", Value: "en", Settable: true}, {Key: "heartbeat.enabled", Value: "true", Settable: true},
		{Key: "log.level", Value: c.level, Settable: true}, {Key: "context.window", Value: "20", Settable: true}, {Key: "models.providers.main.apiKey", Value: self.Mask(secret)},
	}
}

func (c *configuration) Settable(key string) error {
	if key != "log.level" && key != "models.default" {
		return tools.Refuse(tools.PolicyDenied, "%s can only be changed by the owner", key)
	}
	return nil
}

func (c *configuration) Set(key, value string) error {
	if key == "context.window" {
		return tools.Refuse(tools.Validation, "context.window must be 1 to 1000, got %s", value)
	}
	if err := c.Settable(key); err != nil {
		return err
	}
	c.level = value
	return nil
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, settable: &configuration{level: "info"}}
	o.settings = settings.Settings{
		Language: "en", Location: time.UTC, Owners: map[string][]int64{"telegram": {11}}, MaxConcurrentModelCalls: 1,
		Memory: settings.Memory{Embedding: settings.Embedding{Type: "off"}, TopK: 10},
		Models: settings.Models{Default: "main", Entries: map[string]settings.Model{
			"main": {Name: "qwen3:8b", Provider: "ollama", Type: "ollama"}, "spare": {Name: "gpt", Provider: "openai", Type: "openai", APIKey: secret},
		}, Budget: settings.Budget{PerDayUSD: 1}},
	}
	secrets := &redact.Set{}
	secrets.Add(secret)
	discard := slog.New(slog.DiscardHandler)
	door, err := gateway.New(gateway.Config{
		Channels: []gateway.Channel{console.New(console.Config{Log: discard})}, Redact: secrets, Log: discard,
		Whitelist: func() whitelist.List { return whitelist.List{"console": {Local: true}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := toolset.Config{
		Dir: dir, Workspace: filepath.Join(dir, "workspace"), Gateway: door, Settings: func() settings.Settings { return o.settings },
		HTTP: http.DefaultClient, Configuration: o.settable, Redact: secrets, Log: discard,
	}
	if err := os.MkdirAll(c.Workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if o.store, err = store.Open(t.Context(), c.Store()); err != nil {
		t.Fatal(err)
	}
	kept := func() (*store.Store, error) { return o.store, nil }
	editor := schedule.New(schedule.Config{Open: kept, Gateway: door, Settings: c.Settings})
	o.set, err = toolset.New(t.Context(), c, toolset.Hooks{
		Open: kept, Schedules: editor, Model: func(context.Context, string) (string, settings.Model) { return "", settings.Model{} },
		Stats: func(context.Context) ([]self.Entry, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(o.set.Close(), o.store.Close()); err != nil {
			t.Error(err)
		}
	})
	around := o.around()
	o.desk = New(Config{
		Chat:      &Chat{Store: o.store, Files: media.In(dir, c.Workspace, discard), Settings: c.Settings, Deaf: func() bool { return true }},
		Schedules: editor, Memory: o.set.Memory, Executor: o.set.Executor, Redact: secrets, Logger: discard,
		Status: func(context.Context) (health.Status, error) {
			return health.Status{Version: "1.4", Model: "main", Healthy: true, Database: health.Database{State: "ok", Bytes: 1 << 20}}, nil
		},
		Strangers: stranger.New(stranger.Config{
			Store: o.store, Gateway: door, Settings: c.Settings, Owners: func() []gateway.Address { return nil }, Allow: around.Allow, Log: discard,
		}),
		Configuration: o.settable, Around: around,
		Reach: func(_ context.Context, m settings.Model) error {
			if m.APIKey != "" {
				return fmt.Errorf("the key %s is refused", m.APIKey)
			}
			return nil
		},
	})
	page := web.New(web.Config{Desk: func() web.Desk { return o.desk }, Listen: "127.0.0.1:0", SignIn: time.Hour, Log: discard})
	o.pages = page.Handler()
	sum := sha256.Sum256([]byte(cookie))
	hash := hex.EncodeToString(sum[:])
	if err := o.desk.SignIn(t.Context(), hash, "test"); err != nil {
		t.Fatal(err)
	}
	if o.browser, err = o.desk.Browser(t.Context(), hash); err != nil {
		t.Fatal(err)
	}
	return o
}

// cookie is that of the browser.
var cookie = strings.Repeat("0123456789abcdef", 4)

// speak sets the language of the browser.
func (o *office) speak(language string) {
	o.t.Helper()
	if err := o.desk.Seen(o.t.Context(), o.browser.ID, language); err != nil {
		o.t.Fatal(err)
	}
}

// around is what lies around the engine of the office.
func (o *office) around() Around {
	return Around{
		Allowed: func() []gateway.ChatID { return o.allowed },
		Allow: func(chat gateway.ChatID) error {
			if !slices.Contains(o.allowed, chat) {
				o.allowed = append(o.allowed, chat)
			}
			return nil
		},
		Deny: func(chat gateway.ChatID) error {
			o.allowed = slices.DeleteFunc(o.allowed, func(c gateway.ChatID) bool { return c == chat })
			return nil
		},
		Fixed: func() error { return nil },
		Marks: func(context.Context) []health.Finding {
			return []health.Finding{
				health.OK("telegram", "@klaw_bot"), health.Off("sandbox", "tools.sandbox.type", "off"),
				health.Limited("memory", "klawbot assets pull", "keyword search only"), health.Off("allowed", "klawbot allow ID", "no chats allowed"),
			}
		},
		Log: func() []control.LogLine { return o.log },
	}
}

func (o *office) write(fn func(*store.Tx) error) {
	o.t.Helper()
	if err := o.store.Write(o.t.Context(), fn); err != nil {
		o.t.Fatal(err)
	}
}

// get opens a page and returns it.
func (o *office) get(path string) string {
	o.t.Helper()
	status, _, page := o.ask(http.MethodGet, path, nil)
	if status != http.StatusOK {
		o.t.Fatalf("GET %s: %d %s", path, status, page)
	}
	return page
}

// post sends a form, expects to be sent on, and returns the page there.
func (o *office) post(path string, form ...string) string {
	o.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	status, to, page := o.ask(http.MethodPost, path, values)
	if status == http.StatusUnprocessableEntity {
		return page // the form came back with the reason
	}
	if status != http.StatusSeeOther {
		o.t.Fatalf("POST %s: %d %s", path, status, page)
	}
	return o.get(to)
}

func (o *office) ask(method, path string, form url.Values) (status int, to, page string) {
	o.t.Helper()
	path, _, _ = strings.Cut(path, "#")
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Host, r.RemoteAddr = "127.0.0.1:0", "127.0.0.1:40000"
	r.AddCookie(&http.Cookie{Name: "klawbot-0", Value: cookie})
	w := httptest.NewRecorder()
	o.pages.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		o.t.Fatal(err)
	}
	page = string(body)
	if strings.Contains(page, secret) {
		o.t.Errorf("%s %s shows a secret", method, path)
	}
	return w.Code, w.Header().Get("Location"), page
}

var tag = regexp.MustCompile(`<[^>]*>`)

// text is what a person reads of a page.
func text(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(page, " "))), " ")
}

func (o *office) shows(page string, parts ...string) {
	o.t.Helper()
	read := text(page)
	for _, p := range parts {
		if !strings.Contains(read, p) {
			o.t.Errorf("the page does not show %q:\n%s", p, read)
		}
	}
}

func (o *office) hides(page string, parts ...string) {
	o.t.Helper()
	read := text(page)
	for _, p := range parts {
		if strings.Contains(read, p) {
			o.t.Errorf("the page shows %q:\n%s", p, read)
		}
	}
}

func TestEmptyPagesSaySo(t *testing.T) {
	o := open(t)
	for path, says := range map[string][2]string{
		"/people":    {"Nobody has knocked.", "Никто не стучался."},
		"/schedules": {"Nothing planned. /remind tomorrow at 9 call mom", "Ничего не запланировано. /remind завтра в 9 позвонить маме"},
		"/memory":    {"Core memory is empty.", "Основная память пуста."},
		"/talks":     {"No conversations yet.", "Бесед пока нет."},
		"/approvals": {"Nothing waits for approval.", "Ничего не ждёт разрешения."},
		"/models":    {"No model calls in the last 14 days.", "За последние 14 дней вызовов не было."},
		"/logs":      {"No log lines at this level.", "Записей этого уровня нет."},
		"/status":    {"Nothing planned.", "Ничего не запланировано."},
	} {
		o.speak("en")
		o.shows(o.get(path), says[0])
		o.speak("ru")
		o.shows(o.get(path), says[1])
	}
}

func TestStatusPageNamesWhatToDo(t *testing.T) {
	o := open(t)
	page := o.get("/status")
	o.shows(page, "Works with limits. To do: 1", "✓", "telegram", "@klaw_bot", "keyword search only", "→ klawbot assets pull", "$0.00 of $1.00",
		"→ tools.sandbox.type in config.yaml", "→ klawbot allow ID · People")
	o.speak("ru")
	o.shows(o.get("/status"), "песочница выключено → tools.sandbox.type в config.yaml", "память только поиск по словам → klawbot assets pull", "разрешённые чаты разрешённых чатов нет")
}

// TestStatusPageDoesNotGuess: while the parts are being checked, the page does not say that
// all of them work.
func TestStatusPageDoesNotGuess(t *testing.T) {
	o := open(t)
	checked := make(chan struct{})
	o.desk.marks.get = func(context.Context) []health.Finding {
		<-checked
		return []health.Finding{health.OK("telegram", "@klaw_bot")}
	}
	page := o.get("/status")
	o.shows(page, "Checking…", "Reload in a moment.")
	o.hides(page, "Everything works")
	close(checked)
	for end := time.Now().Add(20 * time.Second); !strings.Contains(page, "Everything works") && time.Now().Before(end); {
		page = o.get("/status")
	}
	o.shows(page, "Everything works")
}

func TestPeoplePageDecidesAboutWhoKnocked(t *testing.T) {
	o := open(t)
	o.allowed = []gateway.ChatID{{Channel: "telegram", ID: 11}}
	o.write(func(tx *store.Tx) error {
		for id, name := range map[int64]string{555: "Ann Lee", 556: "Bob"} {
			if _, err := tx.Chats().CountStranger("telegram", id, name, 3); err != nil {
				return err
			}
		}
		return nil
	})
	o.shows(o.get("/people"), "Ann Lee", "messages: 3", "Bob", "telegram_11 owner")
	page := o.post("/people/allow", "chat", "telegram_555")
	o.shows(page, "Allowed.")
	if want := (gateway.ChatID{Channel: "telegram", ID: 555}); !slices.Contains(o.allowed, want) {
		t.Errorf("the allow list is %v", o.allowed)
	}
	page = o.post("/people/ignore", "chat", "telegram_556")
	o.shows(page, "Nobody has knocked.", "Ignored Bob")
	o.shows(o.post("/people/unignore", "chat", "telegram_556"), "Unknown senders They got no answer.", "Bob")
	o.shows(o.post("/people/allow", "chat", " -100777 "), "Allowed.", "telegram_-100777")
	o.post("/people/deny", "chat", "-100777")
	o.post("/people/deny", "chat", "telegram_555")
	if len(o.allowed) != 1 {
		t.Errorf("after deny the allow list is %v", o.allowed)
	}
	o.shows(o.post("/people/allow", "chat", "<b>Ann</b>"), "✗ This isn't a chat ID.")
}

// TestPeoplePageOffersNothingItCannotDo: without a file that may be written there are no
// buttons, and a form that comes all the same says why it does nothing.
func TestPeoplePageOffersNothingItCannotDo(t *testing.T) {
	o := open(t)
	o.allowed = []gateway.ChatID{{Channel: "telegram", ID: 11}}
	refused := func(gateway.ChatID) error { return errors.New("open config.yaml: read-only") }
	o.desk.Around.Deny = refused
	o.shows(o.post("/people/deny", "chat", "11"), "✗ config.yaml cannot be written; klawbot deny 11")
	o.desk.Around.Fixed = func() error { return errors.New("there is no config.yaml yet; klawbot init writes one") }
	page := o.get("/people")
	o.shows(page, "telegram_11", "there is no config.yaml yet; klawbot init writes one")
	o.hides(page, "Chat ID", "Remove")
	o.speak("ru")
	o.shows(o.post("/people/deny", "chat", "11"), "✗ config.yaml пока нет; его создаст klawbot init")
}

func TestSchedulesPageRunsPausesSkipsAndDeletes(t *testing.T) {
	o := open(t)
	if _, err := o.desk.Schedules.Add(t.Context(), tools.Call{}, job.New{Name: "bins/week 1", Cron: "0 9 * * 1", Message: "The bins", TZ: "Europe/Berlin"}); err != nil {
		t.Fatal(err)
	}
	page := o.get("/schedules")
	o.shows(page, "bins/week 1", "The bins", "on", "09:00")
	here := "/schedules/bins%2Fweek%201"
	if !strings.Contains(page, `href="`+here+`"`) {
		t.Errorf("no link to %s in\n%s", here, page)
	}
	first := o.schedules()[0].Next
	o.shows(o.post(here+"/skip"), "The next time is skipped.", "skipped by hand")
	page = o.get("/schedules")
	o.shows(page, "Skipped: ")
	o.hides(page, "Last ")
	if now := o.schedules()[0].Next; !now[0].Equal(first[1]) {
		t.Errorf("after skip the next times are %v, before %v", now, first)
	}
	o.shows(o.post(here+"/pause"), "Paused.", "No next time")
	o.shows(o.post(here+"/resume"), "Resumed.")
	o.shows(o.post(here+"/run"), "It runs now.", "waiting")
	o.shows(o.post(here+"/run"), "✗ schedule 'bins/week 1' is running already")
	o.shows(o.post(here+"/delete"), "Deleted.", "Nothing planned.")
	if status, _, _ := o.ask(http.MethodGet, here, nil); status != http.StatusNotFound {
		t.Errorf("a deleted schedule answers %d", status)
	}
}

func (o *office) schedules() []job.Schedule {
	o.t.Helper()
	all, err := o.desk.Schedules.List(o.t.Context(), tools.Call{})
	if err != nil {
		o.t.Fatal(err)
	}
	return all
}

func TestMemoryPageSavesForgetsAndUndoes(t *testing.T) {
	o := open(t)
	o.shows(o.post("/memory/save", "content", "Anna likes green tea", "key", "tea"), "Saved.", "Anna likes green tea", "by a user", "all chats")
	o.shows(o.post("/memory/save", "content", " "), "✗ The text is empty.")
	o.shows(o.get("/memory?q=green"), "Found for “green”", "Anna likes green tea")
	page := o.get("/memory")
	id := regexp.MustCompile(`name="id" value="([1-9]\d*)"`).FindStringSubmatch(page)
	if id == nil {
		t.Fatal("no memory to forget")
	}
	page = o.post("/memory/forget", "id", id[1])
	o.shows(page, "Forgotten. Undo", "No memories yet.")
	o.shows(o.post("/memory/save", "content", "The boiler is old"), "saved Undo The boiler is old", "forgotten Undo Anna likes green tea")
	page = o.get("/memory?done=forget&undo=" + regexp.MustCompile(`name="change" value="(\d+)"`).FindStringSubmatch(page)[1])
	change := regexp.MustCompile(`name="change" value="(\d+)"`).FindStringSubmatch(page)
	o.shows(o.post("/memory/undo", "change", change[1]), "Undone.", "Anna likes green tea")
	o.shows(o.post("/memory/undo", "change", change[1]), "✗ It isn't there any more.")
	o.shows(o.post("/memory/forget", "id", "9999"), "✗ It isn't there any more.")

	if page := o.get("/memory"); strings.Contains(page, "Undo last change") {
		t.Errorf("a change that nobody made can be undone: %s", page)
	}
	o.shows(o.post("/memory/core", "section", "user", "key", "name", "value", "Anna"), "Core memory changed.", "Anna", "Undo last change")
	o.post("/memory/core", "section", "user", "key", "name", "value", "Bob")
	o.shows(o.post("/memory/undo", "change", "core"), "Undone.", "Anna")
	o.shows(o.post("/memory/core", "section", "user", "key", "name", "value", "Anna", "delete", "1"), "Core memory is empty.")
	o.shows(o.post("/memory/core", "section", "secret", "key", "a", "value", "b"), "✗ It isn't there any more.")
}

// talk stores a conversation and returns its session.
func (o *office) talk(said ...string) (id store.SessionID) {
	o.t.Helper()
	o.write(func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 22}})
		for i, text := range said {
			role, name := llm.RoleUser, "Cleo"
			if i%2 == 1 {
				role, name = llm.RoleAssistant, ""
			}
			if err == nil {
				_, err = tx.Sessions().AddMessage(store.Message{Session: s.ID, Body: llm.Text(role, text), Sender: 22, SenderName: name})
			}
		}
		id = s.ID
		return err
	})
	return id
}

func TestTalksPageReadsAndFinds(t *testing.T) {
	o := open(t)
	id := o.talk("how big is the log?", "The folder holds 12 files. The key is "+secret)
	o.shows(o.get("/talks"), "Cleo", "telegram_22", "messages: 2")
	o.write(func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(gateway.Address{Chat: gateway.ChatID{Channel: "web"}})
		if err == nil {
			_, err = tx.Sessions().AddMessage(store.Message{Session: s.ID, Body: llm.Text(llm.RoleUser, "hello"), Sender: web.User, SenderName: "you"})
		}
		return err
	})
	o.speak("ru")
	o.shows(o.get("/talks"), "веб-страница сегодня")
	o.speak("en")
	o.shows(o.get(fmt.Sprintf("/talks/%d", id)), "how big is the log?", "The folder holds 12 files.")
	page := o.get("/talks?q=folder")
	o.shows(page, "klawbot: The folder holds 12 files.")
	o.hides(page, "how big is the log?") // said next to it, but without the word
	o.talk("and the cellar?", "## Cellar\n\nIt is **dry**.")
	if page := o.get("/talks?q=cellar"); !strings.Contains(page, "klawbot: Cellar") || !strings.Contains(page, "<strong>dry</strong>") {
		t.Errorf("the find is not rendered:\n%s", page)
	}
	if !strings.Contains(page, fmt.Sprintf(`href="/talks/%d?at=`, id)) {
		t.Errorf("no link to the message:\n%s", page)
	}
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprintf("line %d.", i)
	}
	o.talk(many...)
	page = o.get(fmt.Sprintf("/talks/%d", id))
	o.shows(page, "line 249.", "line 150.", "Older messages")
	o.hides(page, "line 149.")
	o.shows(o.get(fmt.Sprintf("/talks/%d?most=200", id)), "line 50.")
	o.shows(o.get(fmt.Sprintf("/talks/%d?at=3", id)), "line 0.")
	for _, path := range []string{"/talks/999", "/talks/x"} {
		if status, _, _ := o.ask(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

// TestQuestionsSayUntilWhen: the chat shows how long an approval can still be given, in the
// language of the browser, and no longer when it was given.
func TestQuestionsSayUntilWhen(t *testing.T) {
	o := open(t)
	o.write(func(tx *store.Tx) error {
		_, err := tx.Approvals().AddApproval(store.Approval{
			Token: "abc", Call: "c", Address: gateway.Address{Chat: gateway.ChatID{Channel: "web"}}, Tool: "shell", State: store.ApprovalPending, ExpiresAt: time.Now().Add(10 * time.Minute),
		})
		return err
	})
	add := func(token string) {
		buttons := [][]gateway.Button{{{Text: "Allow once", Data: "ask/" + token + "/once"}}}
		if _, err := o.desk.Add(t.Context(), web.Message{ID: int64(len(token)), Key: token, Text: "Delete list.txt?", Buttons: buttons, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	add("gone")
	left := regexp.MustCompile(`<span class="left" data-until="\d+">(.*?)</span>`)
	if page := o.get("/chat"); left.MatchString(page) {
		t.Errorf("a question that nobody asks has time left:\n%s", page)
	}
	add("abc")
	o.speak("ru")
	if found := left.FindStringSubmatch(o.get("/chat")); found == nil || !regexp.MustCompile(`^осталось \d:\d\d$`).MatchString(found[1]) {
		t.Errorf("the chat shows %q", found)
	}
}

func TestModelsPageChoosesTheDefault(t *testing.T) {
	o := open(t)
	o.write(func(tx *store.Tx) error {
		return tx.Usage().AddUsage(store.Usage{Day: o.settings.Today(), Entry: "main", Tokens: llm.Usage{Input: 12000, Output: 500}, Cost: 120_000_000})
	})
	page := o.get("/models")
	o.shows(page, "✓ works main default", "✗ broken spare", "$0.1200", "12 500", "Daily budget: $1.00")
	o.shows(o.post("/models/default", "entry", "spare"), "Default model changed.")
	if o.settable.level != "spare" { // the one value that the fake keeps
		t.Errorf("models.default is %q", o.settable.level)
	}
	o.shows(o.post("/models/default", "entry", "nothing"), "✗ It isn't there any more.")
}

func TestSettingsPageChangesSettableKeysOnly(t *testing.T) {
	o := open(t)
	o.shows(o.get("/settings"), "log.level", "Only in config.yaml", "models.providers.main.apiKey", "sk-c****")
	o.shows(o.post("/settings", "key", "log.level", "value", "debug"), "Saved to config.yaml and applied.")
	if o.settable.level != "debug" {
		t.Errorf("log.level is %q", o.settable.level)
	}
	o.shows(o.post("/settings", "key", "models.providers.main.apiKey", "value", "x"), "✗ models.providers.main.apiKey can only be changed by the owner")
	page := o.post("/settings", "key", "context.window", "value", "<many>")
	o.shows(page, "How many earlier messages a request contains", "✗ context.window must be 1 to 1000, got <many>")
	if !strings.Contains(page, `value="&lt;many&gt;" maxlength="4000" autocomplete="off" spellcheck="false" aria-invalid="true"`) {
		t.Errorf("the refused value is gone:\n%s", page)
	}
	o.speak("ru")
	o.shows(o.post("/settings", "key", "context.window", "value", "0"), "✗ context.window: ожидается от 1 до 1000, а не 0")
}

func TestApprovalsPageRevokes(t *testing.T) {
	o := open(t)
	var id store.GrantID
	o.write(func(tx *store.Tx) error {
		for i, state := range []store.ApprovalState{store.ApprovalPending, store.ApprovalDenied} {
			_, err := tx.Approvals().AddApproval(store.Approval{
				Token: fmt.Sprint(i), Call: fmt.Sprint(i), Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 22}}, Sender: 22, Tool: "shell",
				Shown: "rm notes/old.log", State: state,
			})
			if err != nil {
				return err
			}
		}
		var err error
		id, err = tx.Approvals().AddGrant(store.Grant{Channel: "telegram", Chat: 22, Sender: 22, Tool: "shell", Shown: "du -sh", AddedBy: 11, ExpiresAt: time.Now().Add(time.Hour)})
		return err
	})
	o.write(func(tx *store.Tx) error {
		_, err := tx.Approvals().AddApproval(store.Approval{
			Token: "page", Call: "page", Address: gateway.Address{Chat: gateway.ChatID{Channel: "web"}}, Sender: web.User, Tool: "git", State: store.ApprovalDenied, AnsweredBy: web.User,
		})
		return err
	})
	o.shows(o.get("/approvals"), "you · decided by you")
	o.shows(o.get("/approvals"), "shell waiting", "rm notes/old.log", "shell denied", "du -sh", "not used yet")
	remove := fmt.Sprintf("/approvals/%d/remove", id)
	o.shows(o.post(remove), "Revoked.", "No approvals.")
	o.shows(o.post(remove), "✗ It isn't there any more.")
}

func TestLogsPageFiltersByLevel(t *testing.T) {
	o := open(t)
	o.log = []control.LogLine{{At: time.Now(), Level: "ERROR", Text: "disk full"}, {At: time.Now(), Level: "INFO", Text: "started", Rest: "pid=1"}}
	o.shows(o.get("/logs"), "disk full", "started", "pid=1")
	page := o.get("/logs?level=warn")
	o.shows(page, "disk full")
	o.hides(page, "started")
}

func TestToolsPageSaysWhatWouldHappen(t *testing.T) {
	o := open(t)
	o.settings.Policy = tools.Policy{Everyone: tools.Limits{Deny: []string{"memory_forget"}}}
	page := o.get("/tools")
	o.shows(page, "memory_search", "tools.policy.deny", "memory_forget")
	o.shows(o.post("/tools/check", "tool", "memory_forget", "arguments", `{"key":"a"}`), "denied Tool is in deny list tools.policy")
	o.shows(o.post("/tools/check", "tool", "memory_search", "arguments", `{"query":"a"}`), "allowed no rule is against it default")
	o.shows(o.post("/tools/check", "tool", "memory_search", "chat", "nobody"), "denied")
	o.speak("ru")
	o.shows(o.post("/tools/check", "tool", "memory_forget", "arguments", `{"key":"a"}`), "запрещено Инструмент в списке запрещённых")
}

func TestTextsOfTheEngineAreInTheLanguageOfTheBrowser(t *testing.T) {
	o := open(t)
	for language, want := range map[string][]string{
		"en": {"This isn't a chat ID", "needs a name of 1 to 60 characters", "Only Telegram has a list", "Keyword search only."},
		"ru": {"Это не ID чата", "Факту нужно имя", "есть только у Telegram", "Только поиск по словам."},
	} {
		o.speak(language)
		o.shows(o.post("/people/allow", "chat", "nobody"), want[0])
		o.shows(o.post("/memory/core", "section", "user", "key", strings.Repeat("a", 61), "value", "x"), want[1])
		o.shows(o.post("/people/allow", "chat", "web_default"), want[2])
		o.shows(o.get("/memory"), want[3])
	}
}

// hostile are texts that would be markup, scripts or links if a page did not escape them.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</textarea><svg onload=alert(1)>`,
	`javascript:alert(1)`, `{{.}}`, "a\u202eb<b>", `&lt;script&gt;`, `</title><script>`, "`onfocus=alert(1)`", `<iframe src="//evil.example">`,
}

// TestHostileTextsStayTexts puts them into every field that foreign text reaches.
func TestHostileTextsStayTexts(t *testing.T) {
	for _, evil := range hostile {
		o := open(t)
		for _, path := range o.everywhere(evil) {
			harmless(t, path, o.get(path))
		}
		for _, form := range [][]string{{"/people/allow", "chat"}, {"/settings", "key"}, {"/models/default", "entry"}, {"/memory/forget", "id"}} {
			harmless(t, form[0], o.post(form[0], form[1], evil))
		}
	}
}

// TestSecretsAreOnNoPage puts one into every field; get looks for it.
func TestSecretsAreOnNoPage(t *testing.T) {
	o := open(t)
	for _, path := range o.everywhere("the key is " + secret) {
		if !strings.Contains(path, secret) { // what a person types comes back
			o.get(path)
		}
	}
}

// everywhere puts a text into every field that foreign text reaches, and returns the pages
// that show it.
func (o *office) everywhere(evil string) []string {
	o.t.Helper()
	o.allowed = []gateway.ChatID{{Channel: "telegram", ID: 33}}
	o.settings.Models.Entries["evil"] = settings.Model{Name: "evil", Provider: "evil", Type: "ollama"}
	if !strings.Contains(evil, secret) { // names in the configuration are no secrets, and its values come masked
		o.settings.Models.Entries[evil] = settings.Model{Name: evil, Provider: evil, Type: evil}
		o.settings.Policy.Everyone.Deny = []string{evil}
		o.settable.level = evil
		o.log = []control.LogLine{{At: time.Now(), Level: "ERROR", Text: evil, Rest: evil}} // the log has none
	}
	at := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 22}}
	o.write(func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(at)
		_, err2 := tx.Chats().CountStranger("telegram", 555, evil, 1)
		_, err3 := tx.Approvals().AddApproval(store.Approval{Token: "1", Call: "1", Address: at, Tool: "shell", Shown: evil})
		_, err4 := tx.Approvals().AddGrant(store.Grant{Channel: "telegram", Chat: 22, Tool: "shell", Shown: evil, ExpiresAt: time.Now().Add(time.Hour)})
		body := llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "c", Name: "shell", Text: evil}}}}
		for _, m := range []store.Message{
			{Body: llm.Text(llm.RoleUser, evil), SenderName: evil}, {Body: body},
			{Body: llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Text: evil}, {Call: &llm.ToolCall{ID: "c", Name: "shell", Arguments: evil}}}}},
		} {
			m.Session = s.ID
			_, failed := tx.Sessions().AddMessage(m)
			err = errors.Join(err, failed)
		}
		return errors.Join(err, err2, err3, err4, tx.Chats().SeeChat("telegram", 33, evil, time.Now()))
	})
	if _, err := o.desk.Schedules.Add(o.t.Context(), tools.Call{}, job.New{Name: "<job> & \"more\"", Cron: "0 9 * * 1", Message: evil}); err != nil {
		o.t.Fatal(err)
	}
	o.post("/memory/save", "content", evil, "key", evil)
	o.post("/memory/core", "section", "user", "key", "evil", "value", evil)
	return []string{
		"/status", "/people", "/schedules", "/schedules/" + url.PathEscape("<job> & \"more\""), "/memory", "/memory?q=" + url.QueryEscape(evil),
		"/talks", "/talks/1", "/talks?q=" + url.QueryEscape(evil), "/approvals", "/models", "/settings", "/logs", "/people?done=" + url.QueryEscape(evil),
		"/tools?tool=" + url.QueryEscape(evil) + "&arguments=" + url.QueryEscape(evil) + "&chat=" + url.QueryEscape(evil),
	}
}

// harmless checks that a page has only our elements and attributes.
func harmless(t *testing.T, path, page string) {
	t.Helper()
	for _, sign := range []string{"<script>", "<img", "<svg onload", "<iframe", "onerror=alert(1)>", `href="javascript:`, "<b>\n", "</title><script"} {
		if strings.Contains(page, sign) {
			t.Errorf("%s contains %s:\n%s", path, sign, page)
		}
	}
	if handler := regexp.MustCompile(`<[a-z]+ [^<>]*[ "']on[a-z]+=`).FindString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(page, `""`)); handler != "" {
		t.Errorf("%s has an attribute that runs: %s", path, handler)
	}
}
