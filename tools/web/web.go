// Package web holds the tools http_request and web_search, and builds the tool browser
// (tools/web/browser).
//
// A model chooses the addresses, so all requests except searches pass a guard that keeps
// them on the public internet (internal/httpclient). Redirects are not followed, the
// environment sets no proxy, and every body has a size limit.
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
	// AllowedHosts are the internal hosts that the owner allows, and a note for the result,
	// such as an error in the newest list. Nil allows none.
	AllowedHosts func() (hosts []string, note string)
	// MaxBodyBytes bounds the text of a response and the body of a request. Default: 1 MiB.
	MaxBodyBytes func() int64
	// Search is the server of web_search; nil, or one without a Backend, hides the tool.
	Search func() Search
	// BrowserPath and BrowserIdle are Path and Idle of browser.Config.
	BrowserPath func() string
	BrowserIdle time.Duration
	// Extract asks a small model about a text. Nil: a long text is cut.
	Extract func(ctx context.Context, c tools.Call, question, content string) (string, error)
	// Resolver looks up names; nil is the system's.
	Resolver *net.Resolver
}

// Web is the tools with what they keep between calls.
type Web struct {
	config  Config
	guarded *http.Client
	direct  *http.Client // for searches, whose address is the owner's
	browser *browser.Browsers
}

// New returns the tools. Close them after the last call.
func New(c Config) *Web {
	if c.AllowedHosts == nil {
		c.AllowedHosts = func() ([]string, string) { return nil, "" }
	}
	if c.Search == nil {
		c.Search = func() Search { return Search{} }
	}
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

// guard keeps calls on the public internet. It reads the owner's list for every check.
func (w *Web) guard() *httpclient.Guard {
	return &httpclient.Guard{Hosts: func() httpclient.Hosts {
		list, _ := w.config.AllowedHosts()
		hosts, err := httpclient.ParseHosts(list)
		if err != nil { // checked when it was read; nothing is allowed then
			return httpclient.Hosts{}
		}
		return hosts
	}}
}

// note is the note about the owner's list.
func (w *Web) note() string {
	_, note := w.config.AllowedHosts()
	return note
}

func (w *Web) maxBody() int64 {
	if w.config.MaxBodyBytes != nil {
		if n := w.config.MaxBodyBytes(); n > 0 {
			return n
		}
	}
	return 1 << 20
}
