// Package web holds the tools that go out into the web: http_request, web_search
// and browser.
//
// A model says where they go, so all but the search go through a guard that
// keeps them on the public internet (internal/httpclient). They follow no
// redirects, take no proxy from the environment, and bound what they read. What
// comes back is data from outside: it is never obeyed here, and a small model
// that reads a long page is told so. Which model that is, and how a chat is
// told about slow loads, is the engine's matter.
package web

import (
	"context"
	"embed"
	"net"
	"net/http"
	"time"

	"klawbot/internal/httpclient"
	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Config is what New needs.
type Config struct {
	// AllowedHosts are the hosts inside that the owner allows, read anew for
	// every call. note is said beside a result, such as that the newest list
	// has a fault and the one before is in force. Nil allows none.
	AllowedHosts func() (hosts []string, note string)
	// MaxBodyBytes is how much text of a response is shown, and how long a body
	// of a request may be; nil or 0 means 1 MiB.
	MaxBodyBytes func() int64
	// Search is the server that web_search asks, as it is now; nil, or one
	// without a Backend, hides the tool.
	Search func() Search
	// BrowserPath is the Chromium that the browser is, as it is now; "" looks
	// for one in PATH. Nil does the same.
	BrowserPath func() string
	// BrowserIdle is how long a browser that nobody uses stays; 0 means 5 min.
	BrowserIdle time.Duration
	// Extract has a small model take out of a text what is asked. Nil: a text
	// that is too long is cut.
	Extract func(ctx context.Context, c tools.Call, question, content string) (string, error)
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
}

// Web is the tools with what they keep between calls.
type Web struct {
	config  Config
	guarded *http.Client
	// direct is for the search, whose address the owner has written.
	direct  *http.Client
	browser *browsers
}

// New returns the tools. Close them after the last call.
func New(c Config) *Web {
	w := &Web{config: c, direct: httpclient.New(httpclient.Options{})}
	w.guarded = httpclient.New(httpclient.Options{Guard: w.guard(), Resolver: c.Resolver, Raw: true})
	w.browser = newBrowsers(w.guard(), c)
	return w
}

// Close ends every browser. Closing nil does nothing.
func (w *Web) Close() error {
	if w == nil {
		return nil
	}
	return w.browser.close()
}

// Tools are the tools http_request, web_search and browser.
func (w *Web) Tools() []tools.Tool {
	return []tools.Tool{w.requestTool(), w.searchTool(), w.browserTool()}
}

// guard is what keeps calls outside. It reads the list of the owner whenever it
// is asked.
func (w *Web) guard() *httpclient.Guard {
	return &httpclient.Guard{Hosts: func() httpclient.Hosts {
		hosts, err := httpclient.ParseHosts(first(w.allowed()))
		if err != nil { // checked when it was read; nothing is allowed then
			return httpclient.Hosts{}
		}
		return hosts
	}}
}

func first(list []string, _ string) []string { return list }

func (w *Web) allowed() (hosts []string, note string) {
	if w.config.AllowedHosts == nil {
		return nil, ""
	}
	return w.config.AllowedHosts()
}

// maxBody is the cap of texts.
func (w *Web) maxBody() int64 {
	const usual = 1 << 20
	if w.config.MaxBodyBytes != nil {
		if n := w.config.MaxBodyBytes(); n > 0 {
			return n
		}
	}
	return usual
}
