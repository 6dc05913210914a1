package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/gateway/console"
	"klawbot/internal/httpclient"
)

// socketName is the socket of a running bot in its data directory.
const socketName = "klawbot.sock"

// maxSocketPath is what every system takes as the path of a socket.
const maxSocketPath = 100

// socketPath is the path of the socket and a function that releases it. In a
// folder with a long name the path goes through a handle on the folder.
func socketPath(dir string) (string, func(), error) {
	name := filepath.Join(dir, socketName)
	if len(name) <= maxSocketPath {
		return name, func() {}, nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	short := fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	release := func() { _ = folder.Close() } // it was only read
	if _, err := os.Stat(short); err != nil {
		release()
		return "", nil, fmt.Errorf("the data directory's path is too long for a socket: %s", dir)
	}
	return filepath.Join(short, socketName), release, nil
}

// listen opens the socket. The caller holds the lock of the data directory, so a
// socket that is there already is left over from a crash.
func listen(dir string) (net.Listener, error) {
	name, release, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := net.Listen("unix", name)
	if err != nil {
		return nil, err
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false) // the path may be gone by then
	if err := os.Chmod(name, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// socketClient speaks with the bot that runs on the data directory.
func socketClient(dir string) *http.Client {
	return httpclient.New(httpclient.Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		name, release, err := socketPath(dir)
		if err != nil {
			return nil, err
		}
		defer release()
		return new(net.Dialer).DialContext(ctx, "unix", name)
	}})
}

// socketBase stands for the bot behind the socket in addresses.
const socketBase = "http://klawbot"

// Report is what GET /status answers.
type Report struct {
	health.Status
	// OK is false when a check says that its part is broken. State is the worst of them.
	OK     bool             `json:"ok"`
	State  health.State     `json:"state"`
	Checks []health.Finding `json:"checks,omitempty"`
	// Up says that the bot runs; else the data directory was asked.
	Up     bool         `json:"up"`
	Config configReport `json:"config"`
	PID    int          `json:"pid"`
}

type configReport struct {
	File string `json:"file"`
	// Fault is why the file on the disk is not in use, empty when it is.
	Fault string `json:"fault,omitempty"`
}

// StatusTimeout bounds the wait for a bot that hangs.
const StatusTimeout = 5 * time.Second

// ErrNotRunning means that a command needs a running bot.
var ErrNotRunning = errors.New("the bot isn't running; start it: klawbot run")

// ask asks the running bot for a page, or returns ErrNotRunning.
func ask(ctx context.Context, dir, method, page string) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, StatusTimeout)
	defer cancel()
	client := socketClient(dir)
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, socketBase+page, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := client.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, nil, fmt.Errorf("the running bot does not answer: %w", err)
	case err != nil:
		return 0, nil, ErrNotRunning
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// AskStatus asks the running bot how it is, or returns ErrNotRunning. Of a host that waits
// it returns the report and ErrWaiting.
func AskStatus(ctx context.Context, dir string) (r Report, err error) {
	code, body, err := ask(ctx, dir, http.MethodGet, "/status")
	switch {
	case err != nil:
		return r, err
	case code != http.StatusOK:
		return r, fmt.Errorf("the running bot answers %d %s", code, http.StatusText(code))
	}
	if err = json.Unmarshal(body, &r); err == nil && r.Standby != nil && r.Standby.Waiting {
		err = ErrWaiting
	}
	return r, err
}

// handler serves the socket: the status, the console and the links of the web page when
// they are on.
func (p *Bot) handler(e *engine.Engine) http.Handler {
	l, terminals, log := p.Live, p.terminals, p.Log
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		s, err := e.Status(r.Context())
		if err != nil {
			log.Error("status not read", "err", err)
			http.Error(w, "the status could not be read", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(Checked(Report{Status: s, Up: true, Config: configReport{l.Source.File, l.Broken()}, PID: os.Getpid()})) // who asked may be gone
	})
	if terminals != nil {
		mux.Handle("/console/", http.StripPrefix("/console", terminals))
	}
	if p.page != nil {
		mux.HandleFunc("POST /link", func(w http.ResponseWriter, r *http.Request) {
			link, err := p.Link(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
				return
			}
			_, _ = io.WriteString(w, link) // who asked may be gone
		})
	}
	return mux
}

// ErrNoPage means that the running bot has no web page.
var ErrNoPage = errors.New("the bot runs without the web page; restart it: klawbot run")

// AskLink asks the running bot for a link that signs a browser in, or returns ErrNotRunning
// or ErrNoPage.
func AskLink(ctx context.Context, dir string) (string, error) {
	code, link, err := ask(ctx, dir, http.MethodPost, "/link")
	switch {
	case err == nil && code == http.StatusServiceUnavailable:
		err = ErrWaiting
	case err == nil && code == http.StatusConflict:
		err = errors.New(strings.TrimSpace(string(link)))
	case err == nil && code != http.StatusOK:
		err = ErrNoPage
	}
	return string(link), err
}

// Link is a link that signs a browser in, "" without the web page. The error says why the
// page is not served.
func (p *Bot) Link(ctx context.Context) (string, error) {
	if p.page == nil {
		return "", nil
	}
	if err := p.page.Listening(ctx); err != nil {
		return "", err
	}
	return p.page.Link(), nil
}

// Console talks to the running bot as a terminal, until done is called.
func Console(dir string) (c *console.Client, done func()) {
	client := socketClient(dir)
	return console.NewClient(client, socketBase+"/console"), client.CloseIdleConnections
}
