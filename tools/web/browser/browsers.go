package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"klawbot/internal/httpclient"
	"klawbot/internal/program"
)

const (
	maxBrowsers    = 3                // browsers at one time
	idleAfter      = 5 * time.Minute  // the default of Config.Idle
	browserTimeout = 60 * time.Second // one action
)

var (
	errNoPage   = errors.New("no page is open; open one first")
	errBusy     = fmt.Errorf("%d browsers are in use; try again later", maxBrowsers)
	errBusyPage = errors.New("the page is in use by another call; call one after the other")
	errOver     = errors.New("the bot is shutting down")
)

// Config is what New needs.
type Config struct {
	// Guard says which addresses may be visited. Required.
	Guard *httpclient.Guard
	// Note is added to every result, unless it is "". Required.
	Note func() string
	// Resolver looks up names; nil is the system's.
	Resolver *net.Resolver
	// Path is the Chromium to run; "" or nil looks for one in PATH.
	Path func() string
	// Idle is how long an unused browser stays open. Default: 5 min.
	Idle time.Duration
}

// Browsers keeps a browser for each chat with an open page.
type Browsers struct {
	config Config

	mu   sync.Mutex
	open map[string]*tab // guarded by mu; by chat and topic
	over bool            // guarded by mu; no more browsers start
}

// New starts no browser yet. Close it after the last call.
func New(c Config) *Browsers {
	if c.Path == nil {
		c.Path = func() string { return "" }
	}
	c.Idle = cmp.Or(c.Idle, idleAfter)
	sweep(os.TempDir())
	return &Browsers{config: c, open: map[string]*tab{}}
}

// chromiums are the names that are tried in PATH.
var chromiums = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// program is the path of Chromium.
func (b *Browsers) program() (string, error) {
	if path := b.config.Path(); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("there is no browser at %s; the owner can set tools.browser.path", path)
		}
		return found, nil
	}
	for _, name := range chromiums {
		if found := program.Find(name); found != "" {
			return found, nil
		}
	}
	return "", errors.New("no Chromium is installed; install one, or set tools.browser.path")
}

// take returns the browser of a chat for one call, which gives it back. With start it
// starts one if there is none.
func (b *Browsers) take(ctx context.Context, place string, start bool) (*tab, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return nil, errOver
	}
	t := b.open[place]
	if t != nil && t.gone() {
		b.drop(t)
		t = nil
	}
	if t == nil && !start {
		return nil, errNoPage
	}
	if t != nil {
		if !t.busy.TryLock() {
			return nil, errBusyPage
		}
		t.rest.Stop()
		return t, nil
	}
	return b.start(ctx, place)
}

// start starts a browser. b.mu is held, so there is one start at a time.
func (b *Browsers) start(ctx context.Context, place string) (*tab, error) {
	if len(b.open) >= maxBrowsers && !b.makeRoom() {
		return nil, errBusy
	}
	program, err := b.program()
	if err != nil {
		return nil, err
	}
	t, err := newTab(ctx, program, b.config.Guard, b.config.Resolver)
	if err != nil {
		return nil, err
	}
	t.place = place
	t.busy.Lock()
	t.rest = time.AfterFunc(b.config.Idle, func() { b.retire(t) })
	t.rest.Stop()
	b.open[place] = t
	return t, nil
}

// makeRoom closes the browser that was unused for longest. b.mu is held.
func (b *Browsers) makeRoom() bool {
	var oldest *tab
	for _, t := range b.open {
		if t.busy.TryLock() {
			if oldest == nil || t.used.Before(oldest.used) {
				oldest = t
			}
			t.busy.Unlock() // b.mu keeps it free
		}
	}
	if oldest != nil {
		b.drop(oldest)
	}
	return oldest != nil
}

// give gives a browser back after a call.
func (b *Browsers) give(t *tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.used = time.Now()
	t.busy.Unlock()
	t.rest.Reset(b.config.Idle)
}

// retire closes an unused browser.
func (b *Browsers) retire(t *tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[t.place] == t && t.busy.TryLock() {
		t.busy.Unlock() // b.mu keeps it free
		b.drop(t)
	}
}

// end closes the browser of a chat, also during a call.
func (b *Browsers) end(place string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.open[place]; t != nil {
		b.drop(t)
	}
}

// drop closes a browser. b.mu is held.
func (b *Browsers) drop(t *tab) {
	delete(b.open, t.place)
	t.rest.Stop()
	t.close()
}

// Close ends all browsers.
func (b *Browsers) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	for _, t := range b.open {
		b.drop(t)
	}
	return nil
}
