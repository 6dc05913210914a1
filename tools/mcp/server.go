package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/internal/wait"
	"klawbot/tools"
)

// The patience with servers.
const (
	defaultTimeout = 30 * time.Second
	// firstPause is between a connection that failed and the next try; it
	// doubles up to lastPause, and is reset after a connection that lasted.
	firstPause = time.Second
	lastPause  = 2 * time.Minute
	lasting    = 30 * time.Second
	// callPatience is how long a call waits for a server that is starting.
	callPatience = 3 * time.Second
	// settle is how long the news of a changed list may be followed by more.
	settle = 300 * time.Millisecond
)

// State is how a server does.
type State string

// The states of a server.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Down     State = "down"
)

// server keeps one connection. One goroutine, keep, makes it and makes it again.
type server struct {
	host    *Host
	name    string
	config  Server
	living  context.Context
	stop    context.CancelFunc
	relist  chan struct{} // a signal that the list of tools changed
	again   chan struct{} // a signal that the next try need not wait
	signIn  SignIn
	mu      sync.Mutex
	changed chan struct{} // guarded by mu; closed when the state changes, then replaced
	state   State         // guarded by mu, as all below
	conn    *conn
	offered map[string]Definition // what the server has, by its names; nil: not known
	fault   error                 // why it is down
	next    time.Time             // when the next try begins
	since   time.Time             // when the state began
	starts  int
	calls   map[*call]bool // those that run
	// interviews are the questions of the server that people are asked.
	interviews map[*interview]bool
	told       bool // that it needs a sign-in
}

func newServer(h *Host, name string, c Server) *server {
	s := &server{
		host: h, name: name, config: c, relist: make(chan struct{}, 1), again: make(chan struct{}, 1), signIn: h.config.SignIn, changed: make(chan struct{}),
		state: Starting, since: time.Now(), calls: map[*call]bool{}, interviews: map[*interview]bool{},
	}
	s.living, s.stop = context.WithCancel(h.living)
	return s
}

// keep connects, and connects again, until the server is stopped.
func (s *server) keep() {
	pause := firstPause
	for s.living.Err() == nil {
		s.become(Starting, func() { s.starts++ })
		begun := time.Now()
		err := s.live()
		if s.living.Err() != nil {
			break
		}
		if time.Since(begun) > lasting {
			pause = firstPause
		}
		s.host.log.Warn("MCP server is down", "server", s.name, "err", err, "pause_ms", pause.Milliseconds())
		s.become(Down, func() { s.fault, s.next = err, time.Now().Add(pause) })
		if !s.pause(pause) {
			break
		}
		pause = min(2*pause, lastPause)
	}
	s.become(Down, func() { s.fault, s.next = errors.New("it was stopped"), time.Time{} })
}

// pause waits for the next try and reports whether there is one.
func (s *server) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.living.Done():
		return false
	case <-s.again:
	case <-t.C:
	}
	return true
}

// live connects and returns when the connection has ended, with the reason.
func (s *server) live() error {
	c, err := s.connect(s.living)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.list(c); err != nil {
		return err
	}
	s.host.log.Info("MCP server is ready", "server", s.name, "protocol", c.session.InitializeResult().ProtocolVersion)
	s.become(Ready, func() { s.conn, s.fault, s.told = c, nil, false })
	defer s.become(Starting, func() { s.conn = nil })
	for {
		select {
		case <-s.living.Done():
			return s.living.Err()
		case <-c.over:
			return c.reason()
		case <-s.relist:
			if !wait.For(s.living, settle) {
				return s.living.Err()
			}
			select {
			case <-s.relist:
			default:
			}
			if err := s.list(c); err != nil {
				return err
			}
		}
	}
}

func (s *server) list(c *conn) error {
	offered, err := c.offered(s.living, s.host.log)
	if err != nil {
		return fmt.Errorf("list its tools: %w", plain(err))
	}
	s.mu.Lock()
	before := s.offered
	s.offered = offered
	s.mu.Unlock()
	s.host.version.Add(1)
	var changed []Definition
	for _, a := range s.host.known() {
		was, known := before[a.Tool]
		is, still := offered[a.Tool]
		if a.Server == s.name && still && is.Hash() != a.Hash && (!known || was.Hash() == a.Hash) {
			s.host.log.Warn("tool of an MCP server is not what was accepted; it is off", "server", s.name, "tool", a.Name)
			changed = append(changed, is)
		}
	}
	if len(changed) > 0 && s.host.config.Changed != nil {
		s.host.config.Changed(s.name, changed)
	}
	return nil
}

// become changes the state and tells who waits for it.
func (s *server) become(state State, also func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != state {
		s.state, s.since = state, time.Now()
	}
	also()
	close(s.changed)
	s.changed = make(chan struct{})
}

// session returns the connection. It waits while the server starts, as long as ctx
// lasts, and with again for a moment after a failure.
func (s *server) session(ctx context.Context, again bool) (*conn, error) {
	for {
		s.mu.Lock()
		c, state, fault, next, changed := s.conn, s.state, s.fault, s.next, s.changed
		s.mu.Unlock()
		switch {
		case state == Ready && c != nil && !c.ended():
			return c, nil
		case state == Down && (next.IsZero() || time.Until(next) > callPatience):
			return nil, downError{fault, next}
		case state == Down && (!again || s.hopeless()):
			return nil, downError{fault, next}
		}
		select {
		case <-ctx.Done():
			if fault == nil {
				fault = errors.New("it has not answered yet")
			}
			return nil, downError{fault, next}
		case <-changed:
		}
	}
}

// hopeless reports whether the server has failed more than once in a row, so
// that a call need not wait for the next try.
func (s *server) hopeless() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts > 1 && s.offered == nil
}

type downError struct {
	fault error
	next  time.Time
}

func (e downError) Error() string {
	text := fmt.Sprintf("it is not running: %v", e.fault)
	if wait := time.Until(e.next).Round(time.Second); wait > 0 {
		text += fmt.Sprintf("; the next try is in %s", wait)
	}
	return text
}

func (e downError) Unwrap() error { return e.fault }

func inOrder(offered map[string]Definition) []Definition {
	var all []Definition
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		all = append(all, offered[name])
	}
	return all
}

// verdict says what an accepted tool is to the server now.
func (s *server) verdict(a Accepted) Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, there := s.offered[a.Tool]
	switch {
	case s.offered == nil:
		return Usable
	case !there:
		return Gone
	case now.Hash() != a.Hash:
		return Changed
	}
	return Usable
}

// begin notes a call that runs. The server's questions for it end with it.
func (s *server) begin(c *call) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[c] = true
	return func() {
		for _, i := range s.orphans(c) {
			i.end()
			<-i.over
		}
	}
}

// orphans forgets a call and returns the interviews that no other call needs.
func (s *server) orphans(c *call) []*interview {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c)
	for o := range s.calls {
		if o.sameTurn(c) {
			return nil
		}
	}
	var all []*interview
	for i := range s.interviews {
		if i.call.sameTurn(c) {
			all = append(all, i)
		}
	}
	return all
}

// asker returns the call for which the server asks something, nil when calls of several
// people run: the protocol does not say which one it is. The caller holds mu.
func (s *server) asker() *call {
	var found *call
	for c := range s.calls {
		if found != nil && !found.sameTurn(c) {
			return nil
		}
		found = c
	}
	return found
}

func (s *server) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "klawbot", Version: s.host.config.Version}, &sdk.ClientOptions{
		Logger: quiet,
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
		}},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { wait.Signal(s.relist) },
		ElicitationHandler:     s.elicit,
	})
}

type call struct {
	tools.Call
	clock *wait.Clock
	asked int // how often the server has asked; guarded by the server's mu
}

// sameTurn reports whether two calls are made for the same person, in one turn.
func (c *call) sameTurn(o *call) bool {
	return c.Chat == o.Chat && c.Thread == o.Thread && c.User == o.User && c.Turn == o.Turn
}
