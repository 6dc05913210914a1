// Package localmodel runs a language model on this machine: llama.cpp's server as a
// child of the bot. It starts the server when it is first asked, keeps it healthy,
// and stops it when it is idle. It speaks OpenAI's protocol with it and asks for
// nothing from the internet. Downloading a model is package embed's.
package localmodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/wait"
	"klawbot/tools/sandbox"
)

const (
	// retryIn is how soon a call that finds the model loading asks again.
	retryIn = 500 * time.Millisecond
	// patience is how long a call waits before it tells its caller that the model loads.
	patience = time.Second
	// crashWindow and maxCrashes say when the server is given up.
	crashWindow = 10 * time.Minute
	maxCrashes  = 5
	// firstPause doubles with each crash in a row, up to longestPause.
	firstPause   = time.Second
	longestPause = time.Minute
)

// Config says what runs. All of it is required, but for the numbers.
type Config struct {
	// Provider is the configured name.
	Provider string
	// Program is the path of llama-server, Weights that of the GGUF file.
	Program, Weights string
	// Find, if set, finds both before each start: they may have been downloaded since.
	Find func() (program, weights string)
	// Context is the window in tokens, Threads the processors and Slots the requests
	// at one time; 0: chosen.
	Context, Threads, Slots int
	// UnloadAfter is how long a model may be idle before it is unloaded; 0: never.
	UnloadAfter time.Duration
	// Dir holds the key of the server and the saved prefixes; only this user can read it.
	Dir  string
	HTTP *http.Client
	// Idle is the longest silence of an answer.
	Idle time.Duration
	// Runner starts the server. It ends it when the bot is killed.
	Runner sandbox.Runner
	Log    *slog.Logger
}

// Model is a language model on this machine. It may be used from several goroutines.
type Model struct {
	config Config
	watch  context.CancelFunc
	// lifetime ends with Close.
	lifetime context.Context
	mu       sync.Mutex
	state    state     // guarded by mu, as is all below
	server   *server   // while ready
	users    int       // requests at work
	used     time.Time // the last one ended
	crashes  []time.Time
	pause    time.Duration // before the next start
	next     time.Time     // not before
	broken   error         // why it does not start any more
}

type state string

const (
	stateOff       state = "off"
	stateLoading   state = "loading"
	stateReady     state = "ready"
	stateUnloading state = "unloading"
	stateFailed    state = "failed"
)

var _ llm.Provider = (*Model)(nil)

// New returns a model that is off until it is asked. Close it.
func New(c Config) *Model {
	m := &Model{config: c, state: stateOff}
	m.lifetime, m.watch = context.WithCancel(context.Background())
	go m.unloadWhenIdle()
	return m
}

// Close stops the server. A call at work fails.
func (m *Model) Close() {
	m.watch()
	m.mu.Lock()
	s := m.server
	m.mu.Unlock()
	if s != nil {
		s.stop()
	}
}

// Stream starts the server if need be and asks it; see llm.Provider. While the model
// loads, the error says so, so that the caller waits and asks again.
func (m *Model) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	nothing := llm.Result{Usage: llm.NoUsage}
	s, err := m.take(ctx)
	if err != nil {
		return nothing, err
	}
	defer m.release()
	if len(r.Tools) > 0 && !s.tools {
		return nothing, &llm.Error{Kind: llm.Unsupported, Feature: "tools", Message: "the model's template has no tools"}
	}
	client, err := s.client(m.config)
	if err != nil {
		return nothing, err
	}
	s.warm(ctx, r, sink)
	return client.Stream(ctx, r, sink)
}

// Speed is how many tokens a second a model reads and writes.
type Speed struct{ Reads, Writes float64 }

// measured is a text of about 250 tokens, and answerTokens is how many the model writes
// about it.
const (
	measured     = "The quick brown fox jumps over the lazy dog. "
	measuredFor  = 25
	answerTokens = 8
)

// Speed measures how fast the model is. It has to be loaded.
func (m *Model) Speed(ctx context.Context) (speed Speed, err error) {
	s, err := m.take(ctx)
	if err != nil {
		return speed, err
	}
	defer m.release()
	var answer struct {
		Timings struct {
			Reads  float64 `json:"prompt_per_second"`
			Writes float64 `json:"predicted_per_second"`
		} `json:"timings"`
	}
	status, err := s.askWithin(ctx, measureTime, http.MethodPost, "/v1/chat/completions", s.key, map[string]any{
		"messages":   []map[string]string{{"role": "user", "content": strings.Repeat(measured, measuredFor)}},
		"max_tokens": answerTokens, "cache_prompt": false,
	}, &answer)
	if err == nil && (status != http.StatusOK || answer.Timings.Reads <= 0) {
		err = fmt.Errorf("llama-server answered HTTP %d without its speed", status)
	}
	return Speed(answer.Timings), err
}

// Sees: the server is started without what it needs for pictures; see llm.Seer.
func (m *Model) Sees(context.Context, string) (yes, known bool) { return false, true }

// Check says whether the files are there; see llm.Provider. It starts nothing.
func (m *Model) Check(context.Context) error { return m.config.found().check() }

// found is the configuration with the files that are there now.
func (c Config) found() Config {
	if c.Find != nil {
		c.Program, c.Weights = c.Find()
	}
	return c
}

func (c Config) check() error { return Check(c.Program, c.Weights) }

// take returns the server for one request, and starts it when it does not run. It
// waits a moment for a model that loads, because small ones load quickly.
func (m *Model) take(ctx context.Context) (*server, error) {
	for deadline := time.Now().Add(patience); ; {
		s, loading, err := m.tryTake()
		if err != nil || s != nil {
			return s, err
		}
		left := min(time.Until(deadline), retryIn/10)
		if left <= 0 {
			return nil, loading
		}
		if !wait.For(ctx, left) {
			return nil, ctx.Err()
		}
	}
}

// tryTake returns the server, or how long to wait for it, or why there is none.
func (m *Model) tryTake() (s *server, loading *llm.Error, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	loading = &llm.Error{Kind: llm.Overloaded, Loading: true, RetryAfter: retryIn, Message: "the model is loading"}
	switch {
	case m.lifetime.Err() != nil:
		return nil, nil, &llm.Error{Kind: llm.Network, Message: "the bot is stopping", Err: m.lifetime.Err()}
	case m.state == stateReady && !m.server.running(): // run is about to notice
		return nil, loading, nil
	case m.state == stateReady:
		m.users++
		return m.server, nil, nil
	case m.state == stateLoading, m.state == stateUnloading:
		return nil, loading, nil
	case m.broken != nil && !m.arrived():
		return nil, nil, &llm.Error{Kind: llm.Local, Message: reason(m.broken), Err: m.broken}
	}
	if pause := time.Until(m.next); pause > 0 {
		loading.RetryAfter = max(pause, retryIn)
		return nil, loading, nil
	}
	m.state = stateLoading
	go m.run()
	return nil, loading, nil
}

// arrived says whether files that were missing are there by now, so that the model can
// start after all. The caller holds mu.
func (m *Model) arrived() bool {
	missing, ok := errors.AsType[*hopelessError](m.broken)
	if !ok || !missing.files || m.config.found().check() != nil {
		return false
	}
	m.broken, m.crashes, m.next, m.state = nil, nil, time.Time{}, stateOff
	return true
}

func (m *Model) release() {
	m.mu.Lock()
	m.users--
	m.used = time.Now()
	m.mu.Unlock()
}

// run starts the server and stays until it ended.
func (m *Model) run() {
	began := time.Now()
	s, err := start(m.lifetime, m.config.found())
	if err != nil {
		m.ended(err)
		return
	}
	m.mu.Lock()
	m.server, m.state, m.used = s, stateReady, time.Now()
	m.mu.Unlock()
	if m.lifetime.Err() != nil { // Close has not seen it
		s.stop()
	}
	m.config.Log.Info("local model loaded", "provider", m.config.Provider, "ms", time.Since(began).Milliseconds(), "context", s.window, "tools", s.tools)
	<-s.process.Done()
	m.ended(s.why())
}

// reason says why a model does not run, without the paths of the machine.
func reason(err error) string {
	missing, ok := errors.AsType[*hopelessError](err)
	switch {
	case ok && missing.files:
		return "it is not installed; the owner's command: klawbot doctor"
	case ok:
		return missing.text
	}
	return "llama-server ends; the owner's command: klawbot doctor"
}

// ended notes that the server has ended: by itself when err is not nil.
func (m *Model) ended(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server, m.state = nil, stateOff
	if err == nil || m.lifetime.Err() != nil {
		return
	}
	now := time.Now()
	m.crashes = append(m.crashes, now)
	for len(m.crashes) > 0 && now.Sub(m.crashes[0]) > crashWindow {
		m.crashes = m.crashes[1:]
	}
	if len(m.crashes) == 1 {
		m.pause = 0
	}
	m.pause = min(max(2*m.pause, firstPause), longestPause)
	m.next = now.Add(m.pause)
	if _, hopeless := errors.AsType[*hopelessError](err); hopeless || len(m.crashes) >= maxCrashes {
		m.state, m.broken = stateFailed, err
		m.config.Log.Error("local model does not run; change its settings, add its files, or restart the bot to try again", "provider", m.config.Provider, "err", err)
		return
	}
	m.config.Log.Warn("local model ended, it starts again", "provider", m.config.Provider, "wait_ms", m.pause.Milliseconds(), "err", err)
}

// unloadWhenIdle stops a server that has not been asked for a while, or that is idle
// while memory gets short.
func (m *Model) unloadWhenIdle() {
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case <-m.lifetime.Done():
			return
		case <-tick.C:
		}
		m.mu.Lock()
		idle := time.Since(m.used)
		free := m.state == stateReady && m.users == 0
		why := ""
		switch {
		case free && m.config.UnloadAfter > 0 && idle >= m.config.UnloadAfter && !m.server.prefix.stuck.Load():
			why = "idle"
		case free && idle >= idleCheck && shortOfMemory():
			why = "memory is short"
		}
		s := m.server
		if why != "" {
			m.state = stateUnloading
		}
		m.mu.Unlock()
		if why != "" {
			m.config.Log.Info("local model unloaded", "provider", m.config.Provider, "why", why)
			s.stop()
		}
	}
}

// idleCheck is how often a loaded model is looked at. A variable for tests.
var idleCheck = 10 * time.Second

// State is how the model is, for status.
type State struct {
	// State is off, loading, ready, unloading or failed; Fault says why it failed, Note what
	// is odd about it although it works.
	Provider, State, Fault, Note string
}

// State returns how the model is.
func (m *Model) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := State{Provider: m.config.Provider, State: string(m.state)}
	if m.server != nil && m.server.prefix.stuck.Load() {
		st.Note = "stays loaded, because it can't restore what it has read"
	}
	if m.broken != nil {
		st.Fault = m.broken.Error()
	}
	return st
}

// client is the client of a server that runs.
func (s *server) client(c Config) (*openai.Client, error) {
	compat, err := json.Marshal(map[string]any{
		"local": true, "textCalls": true, "schemaDialect": "grammar",
		"extraBody": map[string]any{"cache_prompt": true, "return_progress": true},
	})
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return openai.New(llm.Config{
		Provider: c.Provider, BaseURL: s.url + "/v1", APIKey: s.key, HTTP: c.HTTP,
		Compat: compat, IdleTimeout: c.Idle, Log: c.Log,
	})
}
