//go:build browser

package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"klawbot/gateway"
	"klawbot/gateway/web"
)

// chromium is a browser that is signed in, with what it asked for.
type chromium struct {
	*site
	ctx context.Context

	mu    sync.Mutex
	hosts map[string]bool // guarded by mu
	bytes float64         // guarded by mu
}

func start(t *testing.T, change ...func(*web.Config)) *chromium {
	t.Helper()
	c := &chromium{site: open(t, change...), hosts: map[string]bool{}}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.WSURLReadTimeout(2*time.Minute))...)
	t.Cleanup(stop)
	ctx, done := chromedp.NewContext(allocator)
	t.Cleanup(done)
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	c.ctx = ctx
	c.do(t, chromedp.Navigate("about:blank"), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{})
		return err
	}))
	err := chromedp.Listen(ctx, func(ev any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(ev.Request.URL); err == nil && strings.HasPrefix(u.Scheme, "http") {
				c.hosts[u.Host] = true
			}
		case *network.EventLoadingFinished:
			c.bytes += ev.EncodedDataLength
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	c.do(t, chromedp.Navigate(c.Link()), chromedp.Click("button.main"), chromedp.WaitVisible("#text"))
	c.is(t, `document.readyState === "complete" && document.activeElement.id === "text"`) // else keys go nowhere
	return c
}

func (c *chromium) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(c.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// is waits until an expression is true.
func (c *chromium) is(t *testing.T, expression string) {
	t.Helper()
	seen(t, c.ctx, expression)
}

// seen waits until an expression is true in a tab. The page forbids what Poll does.
func seen(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && ok {
			return
		}
	}
	body, err := chromedp.Run(ctx, chromedp.Evaluate[string]("JSON.stringify(document.getElementById('text').value) + document.getElementById('messages').outerHTML"))
	t.Fatalf("%s: %v\n%s", expression, err, body)
}

func emulate(theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		return err
	})
}

// conversation is what a chat may hold.
func (s *site) conversation(t *testing.T) {
	t.Helper()
	b := s.signIn(t)
	s.post(t, b, "/chat/say", "key", "talk-0001", "text", "how big is the log?")
	for _, p := range []gateway.Part{
		{Text: "The folder holds **12 files**:\n\n- `error.log` has 4 MB, which is the largest\n- all others are [small](https://example.com)\n\n```sh\ndu -sh notes/*.log | sort -h | tail -n 3 # and a line that is much too long for a phone\n```\n\n| file | size |\n|:--|--:|\n| error.log | 4.1 MB |\n| access.log | 120 kB |\n\n> Nothing was changed."},
		{Text: "Here is the list.", Document: &gateway.Document{Name: "list.txt", Content: "milk\n"}},
	} {
		if _, err := s.Send(t.Context(), home, p); err != nil {
			t.Fatal(err)
		}
	}
	s.post(t, b, "/chat/say", "key", "talk-0002", "text", "delete the old one, please, and tell me what that brings:\nI need the space")
	p := gateway.Part{
		Text:    "Delete notes/old.log?\n```\nrm notes/old.log\n```\n⚠️ Can't be undone. Expires in 10 min.",
		Buttons: [][]gateway.Button{{{Text: "Allow once", Data: "ask/x/once"}, {Text: "Allow this for 1 h", Data: "ask/x/hour"}}, {{Text: "Deny", Data: "ask/x/no"}}},
	}
	if _, err := s.Send(t.Context(), home, p); err != nil {
		t.Fatal(err)
	}
}

// TestChatInChromium looks at the chat in both themes, at two widths and in both languages:
// axe-core finds nothing serious and nothing sticks out. KLAWBOT_SHOTS is a folder for
// pictures.
func TestChatInChromium(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t)
	c.conversation(t)
	if err := c.Work(t.Context(), home, gateway.Work{Kind: gateway.WorkTool, Tool: "shell", Detail: "du -sh notes", Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"en", "ru"} {
		c.desk.language = language
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{320, 1280} {
				for _, path := range []string{"/chat", "/browsers", "/nothing"} {
					name := fmt.Sprintf("%s-%s-%d-%s", path[1:], theme, width, language)
					if err := c.look(path, theme, width, string(axe), name); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

func (c *chromium) look(path, theme string, width int64, axe, name string) error {
	if err := chromedp.Do(c.ctx, emulate(theme), chromedp.EmulateViewport(width, 760), chromedp.Navigate(c.base+path)); err != nil {
		return err
	}
	if folder := os.Getenv("KLAWBOT_SHOTS"); folder != "" {
		picture, err := chromedp.Run(c.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
			return err
		}
	}
	if out, err := chromedp.Run(c.ctx, chromedp.Evaluate[bool](`document.scrollingElement.scrollWidth > innerWidth`)); err != nil || out {
		return errors.Join(err, errors.New("it sticks out to the side"))
	}
	found, err := chromedp.Run(c.ctx, chromedp.Evaluate[[]string](axe+`;axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes[0].html + " " + v.nodes[0].failureSummary))`, chromedp.EvalAwaitPromise))
	if err == nil && len(found) > 0 {
		err = errors.New(strings.Join(found, "\n"))
	}
	return err
}

// TestPageIsLight measures the first load: bytes, other hosts, time to the first paint.
func TestPageIsLight(t *testing.T) {
	c := start(t)
	c.conversation(t)
	c.mu.Lock()
	c.bytes = 0
	c.mu.Unlock()
	c.do(t, chromedp.Navigate(c.base+"/chat"), chromedp.WaitVisible("#text"))
	// The text field is there before anything is painted, so the browser is asked to tell.
	paint, err := chromedp.Run(c.ctx, chromedp.Evaluate[float64](`new Promise(done => new PerformanceObserver((list, o) => {
		for (const e of list.getEntriesByName("first-contentful-paint")) { o.disconnect(); done(e.startTime); }
	}).observe({type: "paint", buffered: true}))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	size, err := chromedp.Run(c.ctx, chromedp.Evaluate[float64](`[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")].reduce((n, e) => n + e.encodedBodySize, 0)`))
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("%.1f kB, first paint after %.0f ms, hosts %v", size/1000, paint, c.hosts)
	if size > 60_000 || len(c.hosts) != 1 || !c.hosts[strings.TrimPrefix(c.base, "http://")] {
		t.Error("too much is loaded")
	}
}

// TestTalkWithTheKeyboard: everything is said, stopped and decided without a mouse; what is
// said goes once; answers grow.
func TestTalkWithTheKeyboard(t *testing.T) {
	c := start(t)
	c.do(t, chromedp.KeyEvent("hello"), chromedp.KeyEvent("\r"))
	c.is(t, `document.querySelectorAll(".said:not(.pending)").length === 1 && document.getElementById("text").value === ""`)
	c.until(t, func(all []gateway.Message) bool { return len(all) == 1 && all[0].Text == "hello" }) // the page may show it first
	id, err := c.Send(t.Context(), home, gateway.Part{Text: "…", Yield: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"The fol", "The folder is **em"} {
		if err := c.Edit(t.Context(), home, id, gateway.Part{Text: text, Yield: true}); err != nil {
			t.Fatal(err)
		}
		c.is(t, fmt.Sprintf(`document.querySelector(".bot .text").textContent.startsWith(%q)`, strings.ReplaceAll(text, "*", "")[:7]))
	}
	if err := c.Edit(t.Context(), home, id, gateway.Part{Text: "The folder is **empty**.", Last: true}); err != nil {
		t.Fatal(err)
	}
	c.is(t, `document.querySelectorAll(".bot").length === 1 && document.querySelector(".bot strong").textContent === "empty" && !document.querySelector("[data-growing]")`)
	c.is(t, `document.getElementById("live").textContent.includes("The folder is empty.")`)

	ask := gateway.Part{Text: "Delete it?", Buttons: [][]gateway.Button{{{Text: "Allow once", Data: "ask/x/once"}}, {{Text: "Deny", Data: "ask/x/no"}}}}
	if _, err := c.Send(t.Context(), home, ask); err != nil {
		t.Fatal(err)
	}
	c.is(t, `document.querySelector(".ask button") !== null`)
	c.do(t, chromedp.Focus(`.ask button[value="ask/x/no"]`), chromedp.KeyEvent("\r"))
	c.until(t, func(all []gateway.Message) bool {
		return len(all) == 2 && all[1].Callback != nil && all[1].Callback.Data == "ask/x/no"
	})

	if err := c.Work(t.Context(), home, gateway.Work{Kind: gateway.WorkTool, Tool: "shell", Detail: "du -sh notes", Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	c.is(t, `!document.getElementById("stop").hidden`)
	c.do(t, chromedp.KeyEvent("\x1b"))
	c.until(t, func(all []gateway.Message) bool { return all[len(all)-1].Kind == gateway.KindStop })
}

// TestPageThatComesBackShowsNoOldDraft: while a page looks away, an answer that grew is
// taken back, as it is when it moves below what came in between.
func TestPageThatComesBackShowsNoOldDraft(t *testing.T) {
	c := start(t)
	id, err := c.Send(t.Context(), home, gateway.Part{Text: "The fol", Yield: true})
	if err != nil {
		t.Fatal(err)
	}
	c.is(t, `document.querySelector("[data-growing]") !== null`)
	c.is(t, `window.dispatchEvent(new Event("pagehide"))`)
	if err := c.Delete(t.Context(), home, id); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), home, gateway.Part{Text: "The folder is empty.", Last: true}); err != nil {
		t.Fatal(err)
	}
	c.is(t, `window.dispatchEvent(new Event("pageshow"))`)
	c.is(t, `document.querySelectorAll(".bot").length === 1 && document.querySelector(".bot .text").textContent.trim() === "The folder is empty."`)
}

// TestTheEndStaysInView: who reads the end still sees it when an answer grows or a phone's
// keyboard opens; who reads above it is left there.
func TestTheEndStaysInView(t *testing.T) {
	c := start(t)
	c.conversation(t)
	c.do(t, chromedp.EmulateViewport(390, 760), chromedp.Navigate(c.base+"/chat"), chromedp.WaitVisible(".ask button"))
	const atEnd = `(s => s.scrollHeight - s.scrollTop - s.clientHeight < 2)(document.getElementById("scroll"))`
	c.is(t, atEnd)
	c.do(t, chromedp.EmulateViewport(390, 400))
	c.is(t, `innerHeight === 400 && `+atEnd)
	long := strings.Repeat("a line\n\n", 40)
	if _, err := c.Send(t.Context(), home, gateway.Part{Text: long}); err != nil {
		t.Fatal(err)
	}
	c.is(t, `document.querySelectorAll(".bot").length === 4 && `+atEnd)
	c.is(t, `(s => { s.scrollTop = 0; s.dispatchEvent(new Event("scroll")); return s.scrollTop === 0; })(document.getElementById("scroll"))`)
	if _, err := c.Send(t.Context(), home, gateway.Part{Text: long}); err != nil {
		t.Fatal(err)
	}
	c.is(t, `document.querySelectorAll(".bot").length === 5 && document.getElementById("scroll").scrollTop === 0`)
}

// until waits until the bot got what is wanted.
func (s *site) until(t *testing.T, ok func([]gateway.Message) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if ok(s.came(t)) {
			return
		}
	}
	t.Fatalf("the bot got %v", s.came(t))
}

// TestChatWithoutScripts: a form is enough.
func TestChatWithoutScripts(t *testing.T) {
	c := start(t)
	c.do(t, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(c.base+"/chat"), chromedp.SendKeys("#text", "plain"), chromedp.Click(`#say button.main`), chromedp.WaitVisible(".said"))
	c.until(t, func(all []gateway.Message) bool { return len(all) == 1 && all[0].Text == "plain" })
	c.conversation(t)
	c.do(t, chromedp.Navigate(c.base+"/chat"), chromedp.Click(`.ask button[value="ask/x/once"]`))
	c.until(t, func(all []gateway.Message) bool {
		m := all[len(all)-1]
		return m.Callback != nil && m.Callback.Data == "ask/x/once"
	})
}

// TestManyTabs: a browser has six connections to a host. Seven tabs work,
// because only the one that is seen has a stream.
func TestManyTabs(t *testing.T) {
	c := start(t)
	for range 7 {
		ctx, done := chromedp.NewContext(c.ctx)
		defer done()
		if err := chromedp.Do(ctx, chromedp.Navigate(c.base+"/chat"), chromedp.WaitVisible("#text")); err != nil {
			t.Fatal(err)
		}
	}
	last, done := chromedp.NewContext(c.ctx)
	defer done()
	if err := chromedp.Do(last, chromedp.Navigate(c.base+"/chat"), chromedp.SendKeys("#text", "from the last tab\r")); err != nil {
		t.Fatal(err)
	}
	c.until(t, func(all []gateway.Message) bool { return len(all) == 1 && all[0].Text == "from the last tab" })
	seen(t, last, `document.querySelectorAll(".said:not(.pending)").length === 1`)
}
