// Package web holds the tools http_request and web_search, and builds the tool
// browser (tools/web/browser) with the same guard.
//
// A model chooses the addresses, so all requests but those of the search pass a
// guard that keeps them on the public internet (internal/httpclient). Redirects
// are not followed, the environment sets no proxy, and every body has a size
// limit. A web page becomes Markdown in tools/web/page. The engine chooses the
// model that extracts text, and shows the progress of slow loads.
package web

import (
	"context"
	"embed"
	"net"
	"net/http"
	"time"

	"klawbot/internal/httpclient"
	"klawbot/tools"
	"klawbot/tools/web/browser"
)

//go:embed *.md
var texts embed.FS

// Config is what New needs.
type Config struct {
	// AllowedHosts are the inside hosts that the owner allows, read for every call, and a
	// note for the result, such as that the newest list has an error. Nil allows none.
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
	// Extract has a small model answer a question from a text. Nil: a long text is cut.
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
	browser *browser.Browsers
}

// New returns the tools. Close them after the last call.
func New(c Config) *Web {
	w := &Web{config: c, direct: httpclient.New(httpclient.Options{})}
	w.guarded = httpclient.New(httpclient.Options{Guard: w.guard(), Resolver: c.Resolver, Raw: true})
	w.browser = browser.New(browser.Config{Guard: w.guard(), Note: w.note, Resolver: c.Resolver, Path: c.BrowserPath, Idle: c.BrowserIdle})
	return w
}

// Close ends every browser. Closing nil does nothing.
func (w *Web) Close() error {
	if w == nil {
		return nil
	}
	return w.browser.Close()
}

// Tools are the tools http_request, web_search and browser.
func (w *Web) Tools() []tools.Tool {
	return []tools.Tool{w.requestTool(), w.searchTool(), w.browser.Tool()}
}

// guard keeps calls outside. It reads the list of the owner for each question.
func (w *Web) guard() *httpclient.Guard {
	return &httpclient.Guard{Hosts: func() httpclient.Hosts {
		list, _ := w.allowed()
		hosts, err := httpclient.ParseHosts(list)
		if err != nil { // checked when it was read; nothing is allowed then
			return httpclient.Hosts{}
		}
		return hosts
	}}
}

func (w *Web) allowed() (hosts []string, note string) {
	if w.config.AllowedHosts == nil {
		return nil, ""
	}
	return w.config.AllowedHosts()
}

// note is what there is to say beside a result about the list of the owner.
func (w *Web) note() string {
	_, note := w.allowed()
	return note
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
