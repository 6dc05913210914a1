//go:build browser

package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/gateway/web/control"
	"klawbot/tools"
	"klawbot/tools/job"
)

// TestPagesInChromium opens each page in both themes, at two widths and in both languages:
// nothing sticks out, and axe-core finds nothing serious. KLAWBOT_SHOTS is a folder for
// pictures of them.
func TestPagesInChromium(t *testing.T) {
	axe, err := os.ReadFile("../../../gateway/web/testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	o := open(t)
	o.fill()
	server := httptest.NewServer(o.pages)
	defer server.Close()
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.WSURLReadTimeout(2*time.Minute))...)
	defer stop()
	ctx, done := chromedp.NewContext(allocator)
	defer done()
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // starts the browser
		t.Fatal(err)
	}
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range chosen("KLAWBOT_LANGUAGES", "en", "ru") {
		o.speak(language)
		for _, theme := range chosen("KLAWBOT_THEMES", "light", "dark") {
			for _, width := range []int64{320, 1280} {
				for _, path := range chosen("KLAWBOT_PAGES", "/status", "/people", "/schedules", "/schedules/weekly%20report", "/memory", "/talks", "/talks/1", "/talks?q=folder", "/models", "/settings", "/approvals", "/logs", "/tools?tool=shell&arguments=%7B%7D") {
					name := fmt.Sprintf("%s-%s-%d-%s", plainName.Replace(path[1:]), theme, width, language)
					if err := o.look(ctx, at, path, theme, width, string(axe), name); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

// chosen are the values of a variable, or all.
func chosen(name string, all ...string) []string {
	if some := os.Getenv(name); some != "" {
		return strings.Fields(some)
	}
	return all
}

var plainName = strings.NewReplacer("/", "_", "?", "_", "%20", "_", "&", "_", "=", "_")

// look opens a page and says what is wrong with it.
func (o *office) look(ctx context.Context, at *url.URL, path, theme string, width int64, axe, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	err := chromedp.Do(ctx,
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: "klawbot-" + at.Port(), Value: cookie, URL: at.String()})
			if err != nil {
				return err
			}
			_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
			return err
		}),
		chromedp.EmulateViewport(width, 800), chromedp.Navigate(at.String()+path),
	)
	if err != nil {
		return err
	}
	if folder := os.Getenv("KLAWBOT_SHOTS"); folder != "" {
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
			return err
		}
	}
	if out, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.scrollingElement.scrollWidth > innerWidth`)); err != nil || out {
		return cmp.Or(err, errors.New("it sticks out to the side"))
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axe+`;axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes[0].html + " " + v.nodes[0].failureSummary))`, chromedp.EvalAwaitPromise))
	if err == nil && len(found) > 0 {
		err = errors.New(strings.Join(found, "\n"))
	}
	return err
}

// fill puts into the office what a bot has after some weeks.
func (o *office) fill() {
	t := o.t
	o.allowed = []gateway.ChatID{{Channel: "telegram", ID: 11}, {Channel: "telegram", ID: 22}, {Channel: "telegram", ID: -1001234567890}}
	o.settings.Models.Entries["local"] = settings.Model{Name: "a-model-with-a-rather-long-name:70b-instruct-q4_K_M", Provider: "llama", Type: "managed"}
	now := time.Now()
	o.log = []control.LogLine{
		{At: now, Level: "ERROR", Text: "message not delivered", Rest: `chat=telegram_22 err="connection refused: dial tcp 149.154.167.220:443"`},
		{At: now, Level: "WARN", Text: "the policy names an unknown tool", Rest: "tool=shel"}, {At: now.Add(-time.Hour), Level: "INFO", Text: "stopped"},
	}
	o.write(func(tx *store.Tx) error {
		for id, name := range map[int64]string{555: "Ann Lee", 556: "A very long name that nobody would use but somebody does", -100777: "Book club"} {
			if _, err := tx.Chats().CountStranger("telegram", id, name, 3); err != nil {
				return err
			}
		}
		s, err := tx.Chats().CountStranger("telegram", 666, "Spam", 90)
		s.State = store.StrangerIgnored
		for _, err := range []error{
			err, tx.Chats().SetStranger(s), tx.Chats().SeeChat("telegram", 22, "Cleo", now), tx.Chats().SeeChat("telegram", -1001234567890, "Family", now.AddDate(0, 0, -1)),
		} {
			if err != nil {
				return err
			}
		}
		for i := range 5 {
			day := now.AddDate(0, 0, -i).Format(time.DateOnly)
			if err := tx.Usage().AddUsage(store.Usage{Day: day, Entry: "main", Tokens: llm.Usage{Input: 41000 * (i + 1), Output: 2500}, Cost: int64(120_000_000 * (5 - i))}); err != nil {
				return err
			}
		}
		for i, state := range []store.ApprovalState{store.ApprovalPending, store.ApprovalDenied, store.ApprovalHour} {
			_, err := tx.Approvals().AddApproval(store.Approval{
				Token: fmt.Sprint(i), Call: fmt.Sprint(i), Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 22}}, Sender: 22, Tool: "shell",
				Shown: "rm notes/old.log && find . -name '*.bak' -print0 | xargs -0 rm", State: state, AnsweredBy: 11,
			})
			if err != nil {
				return err
			}
		}
		_, err = tx.Approvals().AddGrant(store.Grant{Channel: "telegram", Chat: 22, Sender: 22, Tool: "shell", Shown: "du -sh notes", AddedBy: 11, ExpiresAt: now.Add(time.Hour)})
		return err
	})
	id := o.talk("how big is the log?", "The folder holds 12 files:\n\n- `error.log` has 4 MB, which is the largest\n- all others are small", "delete it", "Done. The folder is 4 MB smaller.")
	o.write(func(tx *store.Tx) error {
		body := llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c", Name: "shell", Arguments: `{"command": "du -sh notes"}`}}}}
		_, err := tx.Sessions().AddMessage(store.Message{Session: id, Body: body})
		if err == nil {
			result := llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "c", Name: "shell", Text: "4.1M\tnotes"}}}}
			_, err = tx.Sessions().AddMessage(store.Message{Session: id, Body: result})
		}
		return err
	})
	for _, n := range []job.New{
		{Name: "weekly report", Cron: "0 9 * * 1", Message: "Summarize notes.md of the last week in five lines, then list what is still open."}, {Name: "bins", Cron: "0 19 * * 2", Message: "The bins"},
		{Name: "call mom", At: now.Add(26 * time.Hour).Format("2006-01-02T15:04"), Message: "call mom"},
	} {
		if _, err := o.desk.Schedules.Add(t.Context(), tools.Call{}, n); err != nil {
			t.Fatal(err)
		}
	}
	o.post("/schedules/weekly%20report/skip")
	o.post("/schedules/bins/pause")
	o.post("/memory/save", "content", "Anna likes green tea and has a dog called Rex, who is afraid of thunder.", "key", "anna")
	o.post("/memory/save", "content", "The boiler was serviced on 3 May 2026; next service in May 2027.")
	o.post("/memory/core", "section", "user", "key", "name", "value", "Anna")
	o.post("/memory/core", "section", "user", "key", "address", "value", "Use first names, answer in two sentences unless asked for more detail, and never use emoji.")
	o.get("/models")
}
