// Package mcp offers the tools of MCP servers: programs that speak the Model Context
// Protocol on standard input and output, and services that speak it over HTTP.
//
// A Host keeps the connections. Nothing waits for a server that is down: it is tried
// again, later each time, and its tools answer with an error until then.
//
// Servers are not trusted. A tool is used after the owner has accepted its name,
// description and schema, and is off when the server changes one of them. A model is
// shown what the owner has seen. A tool counts as changing unless the owner says that it
// only reads. Results are untrusted content. Approvals keep what the owner has accepted.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/tools"
)

// Server says how a server is reached: by a command or by an address.
type Server struct {
	// Command is the program to run, Args are its arguments and Env is added to
	// its environment, which is otherwise nearly empty.
	Command string
	Args    []string
	Env     map[string]string
	// URL is the address of a server over HTTP; Headers go with each request.
	URL     string
	Headers map[string]string
	// Client is how the bot is registered at the server's authorization server.
	// Zero: it registers itself at the first sign-in.
	Client Client
	// ProtocolVersion is the version of the protocol; empty: the latest, then an older one
	// for a program that ends or is silent.
	ProtocolVersion string
	// Timeout bounds a call; 0 means 30 s.
	Timeout time.Duration
	// ReadOnly are the tools, by the server's names, that change nothing, says the owner.
	ReadOnly []string
	// Always has models see its tools without searching for them.
	Always bool
}

// same reports whether two servers are reached in the same way.
func (s Server) same(o Server) bool {
	return s.Command == o.Command && slices.Equal(s.Args, o.Args) && maps.Equal(s.Env, o.Env) && s.URL == o.URL &&
		maps.Equal(s.Headers, o.Headers) && s.Client == o.Client && s.ProtocolVersion == o.ProtocolVersion
}

func (s Server) timeout() time.Duration { return cmp.Or(s.Timeout, defaultTimeout) }

// Config is what New needs.
type Config struct {
	// Servers are the configured servers, by name, as they are now. Required.
	Servers func() map[string]Server
	// Approvals keep what the owner has accepted. Required.
	Approvals Approvals
	// Dir is the folder that programs run in, made when needed. It must not be
	// one that a model writes to. Required.
	Dir string
	// StartTime is how long a server may take to answer first; 0 means a minute.
	StartTime time.Duration
	// LookEvery is how often Run looks whether the configured servers are others; 0
	// means a second.
	LookEvery time.Duration
	// SignIn lets a person sign in at servers. Zero: there is no way to do it here.
	SignIn SignIn
	// Changed is told which accepted tools of a server are off because they are
	// not what was accepted, as soon as that is known; may be nil.
	Changed func(server string, now []Definition)
	// SignInWanted is called when a server needs a sign-in that is impossible here;
	// may be nil. It is called while the connection is made.
	SignInWanted func(server string)
	// Version is klawbot's own, which servers are told.
	Version string
	// Log is required.
	Log *slog.Logger
}

// Host connects to servers and offers their tools. It is safe for several goroutines.
type Host struct {
	config Config
	log    *slog.Logger
	// living ends when the Host is closed; connections live as long.
	living  context.Context
	end     context.CancelFunc
	keeping sync.WaitGroup // the goroutines of servers

	mu       sync.Mutex
	servers  map[string]*server // guarded by mu; those that are connected to, or were
	accepted []Accepted         // guarded by mu
	loaded   bool               // guarded by mu; accepted was read
	closed   bool               // guarded by mu
	seen     map[string]Server  // guarded by mu; the configured servers at the last look
	version  atomic.Uint64      // counts the changes of what Tools returns
}

var _ tools.Source = (*Host)(nil)

// New returns a Host that connects to no server yet: Run connects to all, a
// call to the one that it needs. Close it in the end; ctx carries no end.
func New(ctx context.Context, c Config) *Host {
	h := &Host{config: c, log: c.Log, servers: map[string]*server{}}
	h.living, h.end = context.WithCancel(context.WithoutCancel(ctx))
	return h
}

// startTime is how long a server may take to answer first.
func (h *Host) startTime() time.Duration { return cmp.Or(h.config.StartTime, startTime) }

// watchEvery is how often Run looks at the configured servers.
const watchEvery = time.Second

// Run keeps connections to the configured servers until ctx ends.
func (h *Host) Run(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(h.config.LookEvery, watchEvery))
	defer tick.Stop()
	for {
		for name := range h.config.Servers() {
			_, _ = h.server(name) // it is configured, or was a moment ago
		}
		h.dismiss()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// errNotConfigured means that the server is unknown.
var errNotConfigured = errors.New("no such MCP server is configured; klawbot mcp list shows those that are")

// server returns a configured server and has it connected to.
func (h *Host) server(name string) (*server, error) {
	c, ok := h.config.Servers()[name]
	if !ok {
		return nil, errNotConfigured
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.servers[name]
	if s != nil && s.config.same(c) {
		return s, nil
	}
	if h.closed {
		return nil, errors.New("the bot is stopping")
	}
	if s != nil {
		s.stop()
	}
	s = newServer(h, name, c)
	h.servers[name] = s
	h.keeping.Go(s.keep)
	return s, nil
}

// dismiss ends the connections to servers that are not configured any more.
func (h *Host) dismiss() {
	configured := h.config.Servers()
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, s := range h.servers {
		if _, ok := configured[name]; !ok {
			s.stop()
			delete(h.servers, name)
		}
	}
}

// running returns the server if it is, or was, connected to.
func (h *Host) running(name string) *server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[name]
}

// Close ends all connections, side by side, and waits for their programs to end.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.keeping.Wait()
}

// Changed counts the changes of what Tools and Faults return.
func (h *Host) Changed() uint64 {
	now := h.config.Servers()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !reflect.DeepEqual(now, h.seen) {
		h.seen = now
		h.version.Add(1)
	}
	return h.version.Load()
}

func (h *Host) names() []string { return slices.Sorted(maps.Keys(h.config.Servers())) }

// Connect connects to a server. Who calls it waits for the answer: a try that fails is
// not made again.
func (h *Host) Connect(ctx context.Context, name string) error {
	s, err := h.server(name)
	if err != nil {
		return err
	}
	if _, err := s.session(ctx, false); err != nil {
		if down, ok := errors.AsType[downError](err); ok {
			err = down.fault // there may be no next try
		}
		return fmt.Errorf("MCP server %s: %w", name, err)
	}
	return nil
}
