package browser

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"klawbot/internal/httpclient"
	"klawbot/internal/wait"
	"klawbot/tools/web/load"
)

// The size of the page and the time limits.
const (
	pageWidth, pageHeight = 1280, 900

	startWithin  = 30 * time.Second // the start of a browser
	findWithin   = 5 * time.Second  // an element appears
	readyWithin  = 10 * time.Second // a page loads after a click
	answerWithin = 3 * time.Second  // a page responds at all
	lookAgain    = 100 * time.Millisecond
)

// tab is a browser with one page.
type tab struct {
	place string
	busy  sync.Mutex // held by the call that uses it
	used  time.Time  // guarded by Browsers.mu
	rest  *time.Timer

	ctx   context.Context
	stop  func()
	proxy *proxy
	home  home
}

// newTab starts a browser with its own proxy and a profile that is wiped when it closes.
func newTab(ctx context.Context, program string, guard *httpclient.Guard, resolver *net.Resolver) (*tab, error) {
	home, err := makeHome()
	if err != nil {
		return nil, fmt.Errorf("make the profile of the browser: %w", err)
	}
	t := &tab{home: home, stop: func() {}}
	if t.proxy, err = newProxy(guard, resolver); err != nil {
		t.close()
		return nil, fmt.Errorf("start the proxy of the browser: %w", err)
	}
	t.launch(program)
	// The first run binds the browser to its context, which outlives this call.
	watch := context.AfterFunc(ctx, t.stop)
	limit := time.AfterFunc(startWithin, t.stop)
	err = chromedp.Do(t.ctx, chromedp.EmulateViewport(pageWidth, pageHeight), closed)
	limit.Stop()
	if !watch() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = chromedp.Listen(t.ctx, t.hear)
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("the browser did not start: %w", err)
	}
	return t, nil
}

// launch prepares the browser. Its first action starts it.
func (t *tab) launch(program string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(program), chromedp.UserDataDir(t.home.dir+"/profile"), chromedp.ProxyServer(t.proxy.address()),
		chromedp.NoInheritEnv, chromedp.Env(t.home.environment()...),
	)
	for _, f := range confining {
		options = append(options, chromedp.Flag(f.name, f.value))
	}
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc, chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet))
	t.ctx, t.stop = ctx, sync.OnceFunc(func() {
		stop()
		stopAlloc()
	})
}

func quiet(string, ...any) {}

// confining are the flags that leave a browser only its proxy.
var confining = []struct {
	name  string
	value any
}{
	{"proxy-bypass-list", "<-loopback>"}, // this machine too goes through the proxy
	{"host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"},
	{"disable-quic", true},
	{"force-webrtc-ip-handling-policy", "disable_non_proxied_udp"},
	{"webrtc-ip-handling-policy", "disable_non_proxied_udp"},
	{"disable-features", "Translate,BlinkGenPropertyTrees,OptimizationHints,MediaRouter,DialMediaRouteProvider,AsyncDns,DnsOverHttps,AutofillServerCommunication,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater"},
	{"disable-component-update", true},
	{"disable-domain-reliability", true},
	{"dns-prefetch-disable", true},
	{"no-pings", true},
	{"deny-permission-prompts", true},
	{"disable-popup-blocking", false},
	{"mute-audio", true},
	{"js-flags", "--max-old-space-size=512"},
}

// closed makes the browser refuse downloads.
var closed = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny})
	return err
})

// hear closes dialogs, which would stop the page: with no, but with yes when the page
// asks whether to leave it.
func (t *tab) hear(event any) {
	if dialog, is := event.(*page.EventJavascriptDialogOpening); is {
		answer := page.HandleJavaScriptDialogParams{Accept: dialog.Type == page.DialogTypeBeforeunload}
		go func() {
			// An error means that the page is gone.
			_ = chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, at *chromedp.Target) error {
				_, err := cdp.Call(ctx, at, page.HandleJavaScriptDialog, answer)
				return err
			}))
		}()
	}
}

// gone reports whether the browser has ended.
func (t *tab) gone() bool { return t.ctx.Err() != nil }

// close ends the browser and wipes its directory.
func (t *tab) close() {
	t.stop()
	if t.proxy != nil {
		t.proxy.close()
	}
	t.home.wipe()
}

// answers reports whether the page responds: an endless script blocks it.
func (t *tab) answers(ctx context.Context) bool {
	inner, done := t.within(ctx, answerWithin)
	defer done()
	_, err := chromedp.Run(inner, aside[int]("1"))
	return err == nil
}

// within is a context of the browser that also ends with the call's.
func (t *tab) within(ctx context.Context, d time.Duration) (context.Context, func()) {
	inner, cancel := context.WithTimeout(t.ctx, d)
	watch := context.AfterFunc(ctx, cancel)
	return inner, func() {
		watch()
		cancel()
	}
}

// open goes to an address and waits until the page has loaded.
func (t *tab) open(ctx context.Context, address string) error {
	inner, done := t.within(ctx, browserTimeout)
	defer done()
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	t.proxy.forget()
	err = chromedp.Do(inner, chromedp.Navigate(address))
	if refused := t.proxy.take(u.Hostname()); refused != nil {
		return refused
	}
	failed, broken := errors.AsType[*chromedp.LoadError](err)
	if why := t.proxy.take(proxied(u, broken)); why != nil {
		return fmt.Errorf("no answer from %s: %s", u.Host, load.Explain(why))
	}
	if broken {
		return errors.New("the page did not load: " + loadFault(failed.ErrorText))
	}
	if err != nil {
		return err
	}
	return t.settle(ctx)
}

// proxied is the address that the proxy gets for a page: the page itself, or the tunnel
// to its server when that has failed.
func proxied(u *url.URL, broken bool) string {
	switch {
	case u.Scheme == "https" && !broken:
		return ""
	case u.Scheme == "https":
		return "https://" + net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))
	}
	asked := *u
	asked.Fragment, asked.RawFragment = "", ""
	asked.Path = cmp.Or(asked.Path, "/")
	return asked.String()
}

// loadFault says a usual code of Chromium in words.
func loadFault(code string) string {
	code = strings.TrimPrefix(code, "net::")
	switch code {
	case "ERR_ABORTED":
		return "it is empty or a file; http_request may read it"
	case "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONTENT_LENGTH_MISMATCH":
		return "the connection ended early"
	case "ERR_TOO_MANY_REDIRECTS":
		return "too many redirects"
	}
	if strings.HasPrefix(code, "ERR_CERT_") {
		return "its certificate is not trusted (" + code + ")"
	}
	return code
}

// element runs actions on an element, which must appear soon.
func (t *tab) element(ctx context.Context, selector string, actions ...chromedp.Action[chromedp.Void]) error {
	inner, done := t.within(ctx, findWithin)
	defer done()
	err := chromedp.Do(inner, actions...)
	if err != nil && t.ctx.Err() == nil && ctx.Err() == nil {
		if !t.answers(ctx) {
			return context.DeadlineExceeded
		}
		return fmt.Errorf("nothing visible matches %s; text shows which selectors there are", selector)
	}
	return err
}

// click clicks on an element and waits for the page. A new window replaces this page.
func (t *tab) click(ctx context.Context, selector string) error {
	if err := t.element(ctx, selector, chromedp.Click(chromedp.CSS(selector), at(selector)...)); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	popup, err := t.popup(ctx)
	if err != nil || popup == "" {
		return err
	}
	return t.open(ctx, popup)
}

//go:embed fill.js
var fillScript string

// filled is the result of filling an element in without the keyboard.
type filled struct {
	Type  bool   `json:"type"`  // it must be typed into
	Fault string `json:"fault"` // why it cannot be filled in, or ""
}

// write types text into an element, or chooses the option with that name. It types into
// what has the focus: chromedp would upload a file of that name to a file input.
func (t *tab) write(ctx context.Context, selector, text string) error {
	if err := t.element(ctx, selector, chromedp.WaitVisible(chromedp.CSS(selector), at(selector)...)); err != nil {
		return err
	}
	inner, done := t.within(ctx, findWithin)
	defer done()
	f, err := chromedp.Run(inner, aside[filled](script(fillScript, selector, text)))
	switch {
	case err != nil:
		return err
	case f.Fault != "":
		return fmt.Errorf("%s %s", selector, f.Fault)
	case f.Type:
		if err := t.element(ctx, selector, chromedp.KeyEvent(text)); err != nil {
			return err
		}
	}
	return t.settle(ctx)
}

// picture is a screenshot of the page or of an element, as PNG.
func (t *tab) picture(ctx context.Context, selector string) (png []byte, err error) {
	inner, done := t.within(ctx, browserTimeout)
	defer done()
	if selector == "" {
		return chromedp.Run(inner, chromedp.CaptureScreenshot())
	}
	err = t.element(ctx, selector, func(ctx context.Context, on *chromedp.Target) (v chromedp.Void, err error) {
		png, err = chromedp.Screenshot(chromedp.CSS(selector), at(selector)...)(ctx, on)
		return v, err
	})
	return png, err
}

// readyState reads document.readyState, which an element of that name cannot replace.
const readyState = `Object.getOwnPropertyDescriptor(Document.prototype, "readyState").get.call(document)`

// settle waits until the page has loaded, and leaves it if it is not a web page.
func (t *tab) settle(ctx context.Context) error {
	inner, done := t.within(ctx, readyWithin)
	defer done()
	for {
		if !wait.For(inner, lookAgain) {
			return ctx.Err() // a page that loads forever can still be read
		}
		state, err := chromedp.Run(inner, aside[string](readyState))
		if err == nil && state == "complete" {
			return t.stay(inner)
		}
	}
}

// stay leaves a page that is not a web page.
func (t *tab) stay(ctx context.Context) error {
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return err
	}
	u, err := url.Parse(at)
	switch {
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"), at == "about:blank":
		return nil
	case strings.HasPrefix(at, "chrome-error:"):
		return errors.New("the page did not load")
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	return fmt.Errorf("%w: only web pages are shown", httpclient.ErrDenied)
}

// popup closes the windows of the page and returns the address of the last one, or "".
func (t *tab) popup(ctx context.Context) (address string, err error) {
	inner, done := t.within(ctx, readyWithin)
	defer done()
	all, err := chromedp.Targets(inner)
	if err != nil {
		return "", err
	}
	ours := chromedp.FromContext(t.ctx)
	for _, other := range all {
		if other.Type != "page" || other.TargetID == ours.Target.TargetID {
			continue
		}
		if strings.HasPrefix(other.URL, "http://") || strings.HasPrefix(other.URL, "https://") {
			address = other.URL
		}
		if _, err := cdp.Call(inner, ours.Browser, target.CloseTarget, target.CloseTargetParams{TargetID: other.TargetID}); err != nil {
			return "", err
		}
	}
	return address, nil
}
