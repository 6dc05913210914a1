package localmodel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/internal/needs"
	"klawbot/tools/sandbox"
)

// TestMain is the fake llama-server when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake-llama-server" {
		fakeServer(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

// fakeServer answers as llama-server does, with a fault.
func fakeServer(fault string, args []string) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	port, keyFile, slots := flags.String("port", "", ""), flags.String("api-key-file", "", ""), flags.String("slot-save-path", "", "")
	for _, name := range []string{"m", "host", "c", "np", "t", "b", "ub", "cache-reuse", "cache-ram"} {
		flags.String(name, "", "")
	}
	for _, name := range []string{"jinja", "no-webui", "offline"} {
		flags.Bool(name, false, "")
	}
	if err := flags.Parse(args); err != nil {
		os.Exit(3)
	}
	key, _ := os.ReadFile(*keyFile)
	switch fault {
	case "junk": // says what it does in order, as some builds do
		fmt.Fprintln(os.Stderr, "main: binding port with default address family")
		fmt.Fprintln(os.Stderr, "load_model: error: failed to load model")
		os.Exit(1)
	case "broken":
		fmt.Fprintln(os.Stderr, "load_model: error: failed to load model")
		os.Exit(1)
	}
	if fault == "deaf" {
		signal.Ignore(syscall.SIGTERM)
	}
	if fault == "says goodbye" {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		go func() {
			<-asked
			_ = os.WriteFile(filepath.Join(*slots, "goodbye"), nil, 0o600)
			os.Exit(0)
		}()
	}
	// crash ends the first server that comes to a stage.
	crash := func(stage string) {
		if fault != "crashes "+stage {
			return
		}
		if f, err := os.OpenFile(filepath.Join(*slots, "..", "crashed"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			os.Exit(9)
		}
	}
	began := time.Now()
	restored := false
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		if crash("loading"); fault == "loads for ever" || fault == "loading" && time.Since(began) < 1500*time.Millisecond {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"chat_template_caps": {"supports_tools": %v}, "default_generation_settings": {"n_ctx": 4096}}`, fault != "toolless")
	})
	mux.HandleFunc("POST /slots/0", func(w http.ResponseWriter, r *http.Request) {
		if crash("saving"); fault == "saves nothing" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		var body struct{ Filename string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		file := filepath.Join(*slots, body.Filename)
		if r.URL.Query().Get("action") == "save" {
			_ = os.WriteFile(file, []byte("read"), 0o600)
		} else {
			restored = true
		}
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Max int `json:"max_tokens"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if body.Max == answerTokens {
			fmt.Fprint(w, `{"choices": [], "timings": {"prompt_per_second": 40.5, "predicted_per_second": 8}}`)
			return
		}
		if body.Max == 1 {
			crash("reading")
			known := 0
			if restored && fault != "forgets" {
				known = 100
			}
			if fault != "tells nothing" {
				fmt.Fprint(w, `data: {"choices": [{"index": 0, "delta": {}}], "prompt_progress": {"total": 100, "processed": 40}}`+"\n\n")
			}
			fmt.Fprintf(w, `data: {"choices": [], "timings": {"cache_n": %d, "prompt_n": %d}}`+"\n\n", known, 101-known)
			return
		}
		crash("before its first word")
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"He"}}]}`+"\n\n")
		w.(http.Flusher).Flush()
		if fault == "hangs" {
			<-r.Context().Done()
			return
		}
		if fault == "crashes" {
			os.Exit(9)
		}
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"llo %v"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", restored)
	})
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" && fault != "foreign" && r.Header.Get("Authorization") != "Bearer "+strings.TrimSpace(string(key)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+*port, guarded))
	os.Exit(1)
}

// newFake returns a model whose server has a fault.
func newFake(t *testing.T, fault string, change func(*Config)) *Model {
	t.Helper()
	dir := t.TempDir()
	program, weights := filepath.Join(dir, "llama-server"), filepath.Join(dir, "m.gguf")
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' fake-llama-server '%s' \"$@\"\n", os.Args[0], fault)
	if fault == "old-cpu" {
		script = "#!/bin/sh\nkill -ILL $$\n"
	}
	if fault == "no memory" { // as the kernel ends it
		script = "#!/bin/sh\nkill -KILL $$\n"
	}
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(weights, append([]byte("GGUF\x03\x00\x00\x00"), make([]byte, 64)...), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{
		Provider: "local", Program: program, Weights: weights, Dir: filepath.Join(dir, "run"), HTTP: http.DefaultClient,
		Runner: sandbox.Off(), Log: slog.New(slog.DiscardHandler), Idle: 10 * time.Second,
	}
	if change != nil {
		change(&c)
	}
	m := New(c)
	t.Cleanup(m.Close)
	return m
}

// ask asks a model, again while it loads, as the engine does.
func ask(t *testing.T, m *Model, r llm.Request) (string, error) {
	t.Helper()
	return askWith(t, m, r, llm.Policy{Base: time.Millisecond})
}

func askWith(t *testing.T, m *Model, r llm.Request, p llm.Policy) (string, error) {
	t.Helper()
	r.Stream, r.Model = true, "home"
	r.Messages = []llm.Message{llm.Text(llm.RoleUser, "hi")}
	var heard string
	_, err := llm.Retry(t.Context(), p, func(ctx context.Context) (llm.Result, error) {
		heard = ""
		return m.Stream(ctx, r, func(ev llm.Event) { heard += ev.Text })
	})
	return heard, err
}

var withSystem = llm.Request{System: "You are a bot."}

func TestAnswersAndKeepsThePrefix(t *testing.T) {
	m := newFake(t, "none", nil)
	if text, err := ask(t, m, withSystem); text != "Hello false" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if st := m.State(); st.State != "ready" {
		t.Errorf("state %v", st)
	}
	m.server.stop()
	if text, err := ask(t, m, withSystem); text != "Hello true" || err != nil {
		t.Errorf("after a restart: %q, %v; the prefix was not restored", text, err)
	}
}

func TestMeasuresItsSpeed(t *testing.T) {
	m := newFake(t, "none", nil)
	if _, err := ask(t, m, withSystem); err != nil {
		t.Fatal(err)
	}
	if speed, err := m.Speed(t.Context()); err != nil || speed != (Speed{40.5, 8}) {
		t.Errorf("got %v, %v", speed, err)
	}
}

// TestTellsHowFarItHasRead: a build that tells no progress answers all the same.
func TestTellsHowFarItHasRead(t *testing.T) {
	for fault, want := range map[string][]float64{"none": {0.4}, "tells nothing": nil} {
		read, err := progressOf(t, newFake(t, fault, nil))
		if err != nil || !slices.Equal(read, want) {
			t.Errorf("%s: told of %v, %v, want %v", fault, read, err, want)
		}
	}
}

// progressOf is what a model tells of its reading.
func progressOf(t *testing.T, m *Model) (read []float64, err error) {
	t.Helper()
	_, err = llm.Retry(t.Context(), llm.Policy{}, func(ctx context.Context) (llm.Result, error) {
		return m.Stream(ctx, llm.Request{System: "You are a bot.", Model: "home", Stream: true, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}},
			func(ev llm.Event) {
				if ev.Reading > 0 {
					read = append(read, ev.Reading)
				}
			})
	})
	return read, err
}

func TestPrefixThatIsNotReused(t *testing.T) {
	m := newFake(t, "forgets", nil)
	for _, want := range []string{"Hello false", "Hello true", "Hello false"} {
		if text, err := ask(t, m, withSystem); text != want || err != nil {
			t.Fatalf("got %q, %v, want %q", text, err, want)
		}
		m.server.stop()
	}
}

func TestWaitsWhileTheModelLoads(t *testing.T) {
	m := newFake(t, "loading", nil)
	if _, err := m.Stream(t.Context(), withSystem, func(llm.Event) {}); err == nil {
		t.Fatal("a model that loads answers")
	} else if e, ok := errors.AsType[*llm.Error](err); !ok || !e.Loading {
		t.Fatalf("the caller is not told that the model loads: %v", err)
	}
	if text, err := ask(t, m, withSystem); text != "Hello false" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestCrashBeforeAnyWord costs a moment: the server starts again, and the request too.
func TestCrashBeforeAnyWord(t *testing.T) {
	for _, stage := range []string{"loading", "reading", "saving", "before its first word"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			m := newFake(t, "crashes "+stage, nil)
			if text, err := askWith(t, m, withSystem, llm.Policy{Retries: 1}); !strings.HasPrefix(text, "Hello") || err != nil {
				t.Errorf("got %q, %v", text, err)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if len(m.crashes) != 1 {
				t.Errorf("it crashed %d times", len(m.crashes))
			}
		})
	}
}

// TestServerThatLoadsForEver is given up.
func TestServerThatLoadsForEver(t *testing.T) {
	setFor(t, &loadTime, 300*time.Millisecond)
	m := newFake(t, "loads for ever", nil)
	t.Cleanup(m.Close) // before loadTime is set back
	m.crashes = slices.Repeat([]time.Time{time.Now()}, maxCrashes-1)
	if _, err := ask(t, m, withSystem); err == nil || !strings.Contains(err.Error(), "did not load its model within") {
		t.Errorf("got %v", err)
	}
}

// TestStopIsGentle: a server is asked to end, and ended when it does not listen.
func TestStopIsGentle(t *testing.T) {
	m := newFake(t, "says goodbye", nil)
	if _, err := ask(t, m, withSystem); err != nil {
		t.Fatal(err)
	}
	m.Close()
	if _, err := os.Stat(filepath.Join(m.config.Dir, prefixes, "goodbye")); err != nil {
		t.Errorf("it was killed at once: %v", err)
	}
	setFor(t, &stopTime, 100*time.Millisecond)
	m = newFake(t, "deaf", nil)
	if _, err := ask(t, m, withSystem); err != nil {
		t.Fatal(err)
	}
	s := m.server
	m.Close()
	if s.running() {
		t.Error("a server that does not listen still runs")
	}
}

// TestServersOfAKilledBotEnd where the system does not end them: those of this folder, and
// no others.
func TestServersOfAKilledBotEnd(t *testing.T) {
	needs.Program(t, "procps", "ps")
	run := func(dir string) (c Config, ended chan error) {
		c = Config{Dir: dir}
		cmd := exec.Command("sh", "-c", "read -r wait; exit $#", "llama-server", "--api-key-file", c.keyFile(), "-c", "8192")
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = input.Close() }) // ends it
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended = make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		return c, ended
	}
	ours, oursEnded := run(filepath.Join(t.TempDir(), "with a blank"))
	_, othersEnded := run(t.TempDir())
	endLeft(ours)
	select {
	case err := <-oursEnded:
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the server of the killed bot still runs")
	}
	select {
	case err := <-othersEnded:
		t.Errorf("another bot's server ended: %v", err)
	default:
	}
}

// setFor changes a duration for a test.
func setFor(t *testing.T, d *time.Duration, to time.Duration) {
	t.Helper()
	before := *d
	*d = to
	t.Cleanup(func() { *d = before })
}

func TestCrashInAnAnswer(t *testing.T) {
	m := newFake(t, "crashes", nil)
	_, err := ask(t, m, withSystem)
	if e, ok := errors.AsType[*llm.Error](err); !ok || !e.Temporary() {
		t.Errorf("got %v, want an error that passes", err)
	}
}

func TestServerThatNeverRuns(t *testing.T) {
	for fault, want := range map[string]string{"broken": "failed to load model", "junk": "failed to load model", "old-cpu": "newer CPU", "no memory": "memory was short"} {
		t.Run(fault, func(t *testing.T) {
			m := newFake(t, fault, nil)
			m.crashes = make([]time.Time, maxCrashes-1)
			for i := range m.crashes {
				m.crashes[i] = time.Now()
			}
			_, err := ask(t, m, withSystem)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			if st := m.State(); st.State != "failed" || !strings.Contains(st.Fault, want) {
				t.Errorf("state %v", st)
			}
		})
	}
}

// TestPrefixThatCannotBeSaved costs nothing but time.
func TestPrefixThatCannotBeSaved(t *testing.T) {
	m := newFake(t, "saves nothing", nil)
	for range 2 {
		if text, err := ask(t, m, withSystem); text != "Hello false" || err != nil {
			t.Fatalf("got %q, %v", text, err)
		}
		m.server.stop()
	}
}

// TestServerThatHangs: silence in the middle of an answer ends the request, as with any
// provider. Before it, a model may read for long.
func TestServerThatHangs(t *testing.T) {
	m := newFake(t, "hangs", func(c *Config) { c.Idle = 300 * time.Millisecond })
	request := llm.Request{Model: "home", Stream: true, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	for {
		_, err := m.Stream(t.Context(), request, func(llm.Event) {})
		e, ok := errors.AsType[*llm.Error](err)
		if ok && e.Loading {
			continue // it has waited a moment
		}
		if !ok || e.Kind != llm.Stall {
			t.Errorf("got %v, want that it stalls", err)
		}
		return
	}
}

// The first message comes before the download: it must not take a restart afterwards.
func TestModelThatIsDownloadedLater(t *testing.T) {
	var weights string
	m := newFake(t, "none", func(c *Config) { weights = c.Weights })
	if err := os.Rename(weights, weights+".part"); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, m, withSystem); err == nil || !strings.Contains(err.Error(), "is not here") {
		t.Fatalf("without the file: %v", err)
	}
	if err := os.Rename(weights+".part", weights); err != nil {
		t.Fatal(err)
	}
	if text, err := ask(t, m, withSystem); err != nil || !strings.HasPrefix(text, "Hello") {
		t.Errorf("with the file: %q, %v", text, err)
	}
}

// A request that waits until another one has read its prefix must end when it is stopped.
func TestStopWhileAnotherReads(t *testing.T) {
	m := newFake(t, "none", nil)
	if _, err := ask(t, m, withSystem); err != nil {
		t.Fatal(err)
	}
	m.server.prefix.reading <- struct{}{} // another request
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	done := make(chan struct{})
	go func() {
		m.server.warm(ctx, withSystem, func(llm.Event) {})
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestServerOfSomeoneElse(t *testing.T) {
	m := newFake(t, "foreign", nil)
	m.crashes = make([]time.Time, maxCrashes-1)
	for i := range m.crashes {
		m.crashes[i] = time.Now()
	}
	if _, err := ask(t, m, withSystem); !errors.Is(err, errPortTaken) {
		t.Errorf("a server that needs no key was used: %v", err)
	}
}

func TestModelWithoutTools(t *testing.T) {
	m := newFake(t, "toolless", nil)
	r := withSystem
	r.Tools = []llm.Tool{{Name: "clock", Parameters: json.RawMessage(`{"type":"object"}`)}}
	_, err := ask(t, m, r)
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.Unsupported || e.Feature != "tools" {
		t.Errorf("got %v, want that the model has no tools", err)
	}
}

func TestUnloadsWhenIdle(t *testing.T) {
	setFor(t, &idleCheck, 20*time.Millisecond)
	m := newFake(t, "none", func(c *Config) { c.UnloadAfter = 50 * time.Millisecond })
	t.Cleanup(m.Close) // before idleCheck is set back
	if _, err := ask(t, m, withSystem); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); m.State().State != "off"; {
		if time.Now().After(deadline) {
			t.Fatal("the model stays loaded")
		}
		<-time.After(10 * time.Millisecond)
	}
	if text, err := ask(t, m, withSystem); err != nil || !strings.HasPrefix(text, "Hello") {
		t.Errorf("after unloading: %q, %v", text, err)
	}
}

// TestStaysLoadedWithoutAPrefix: a model that would have to read everything again is not
// unloaded only because it is idle, and its state says why.
func TestStaysLoadedWithoutAPrefix(t *testing.T) {
	setFor(t, &idleCheck, 20*time.Millisecond)
	m := newFake(t, "forgets", func(c *Config) { c.UnloadAfter = time.Hour })
	t.Cleanup(m.Close) // before idleCheck is set back
	for range 2 {      // the second start finds that the first one's prefix is not reused
		if _, err := ask(t, m, withSystem); err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		s := m.server
		m.mu.Unlock()
		if st := m.State(); st.Note == "" {
			s.stop()
		}
	}
	if st := m.State(); !strings.Contains(st.Note, "stays loaded") {
		t.Fatalf("state %+v", st)
	}
	m.mu.Lock()
	m.config.UnloadAfter = 50 * time.Millisecond
	m.mu.Unlock()
	<-time.After(10 * 50 * time.Millisecond)
	if st := m.State(); st.State != "ready" {
		t.Errorf("state %+v, want a model that stays loaded", st)
	}
}

func TestManyAskAtOnce(t *testing.T) {
	m := newFake(t, "none", nil)
	var answered atomic.Int32
	t.Run("all", func(t *testing.T) {
		for range 8 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				if text, err := ask(t, m, withSystem); err != nil || !strings.HasPrefix(text, "Hello") {
					t.Errorf("got %q, %v", text, err)
				}
				answered.Add(1)
			})
		}
	})
	if answered.Load() != 8 {
		t.Errorf("%d of 8 were answered", answered.Load())
	}
}

func TestFilesThatAreMissing(t *testing.T) {
	dir := t.TempDir()
	program, whole, page := filepath.Join(dir, "llama-server"), filepath.Join(dir, "m.gguf"), filepath.Join(dir, "page.gguf")
	for name, text := range map[string]string{program: "#!/bin/sh\n", whole: "GGUF\x03\x00\x00\x00" + strings.Repeat("\x00", 16), page: "<html>"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ program, weights, want string }{
		{program, whole, ""},
		{"", whole, "klawbot assets pull --llm"},
		{filepath.Join(dir, "nothing"), whole, "does not run"},
		{program, filepath.Join(dir, "none.gguf"), "is not here"},
		{program, page, "is no GGUF file"},
	} {
		err := Check(c.program, c.weights)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Check(%s, %s): %v, want %q", c.program, c.weights, err, c.want)
		}
	}
}

func TestTidyKeepsTheNewestPrefixes(t *testing.T) {
	p := prefix{dir: t.TempDir()}
	for i, name := range []string{"oldest", "older", "new", "mark" + uselessSuffix} {
		file := filepath.Join(p.dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	p.tidy("new")
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, e := range entries {
		kept = append(kept, e.Name())
	}
	if got := strings.Join(kept, " "); got != "mark"+uselessSuffix+" new older" {
		t.Errorf("kept are %s", got)
	}
}

func TestMissingModelIsNamedWithoutPaths(t *testing.T) {
	dir := t.TempDir()
	m := newFake(t, "none", func(c *Config) { c.Weights = filepath.Join(dir, "none.gguf") })
	_, err := ask(t, m, withSystem)
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Kind != llm.Local || strings.Contains(e.Message, dir) || !strings.Contains(e.Message, "not installed") {
		t.Errorf("got %v", err)
	}
}

// TestKeptConnectionThatIsClosed: llama-server closes a connection while the next request is
// on its way, and the request is sent again.
func TestKeptConnectionThatIsClosed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			request, err := http.ReadRequest(r)
			if err == nil {
				_, err = io.Copy(io.Discard, request.Body)
			}
			if err == nil {
				_, err = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
			if err == nil {
				_, _ = r.Peek(1) // until the next request comes
			}
			c.Close()
		}
	}()
	s := &server{url: "http://" + ln.Addr().String(), http: &http.Client{Transport: &http.Transport{}}}
	for n := range 2 {
		if status, err := s.ask(t.Context(), http.MethodPost, "/slots/0?action=save", "", map[string]string{"filename": "a"}, nil); err != nil || status != http.StatusOK {
			t.Errorf("request %d: HTTP %d, %v", n, status, err)
		}
	}
}
