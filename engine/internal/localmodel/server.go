package localmodel

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"klawbot/internal/wait"
	"klawbot/tools/sandbox"
)

// How long a server may load its model, and may take to end when it is asked to. Variables
// for tests.
var (
	loadTime = 5 * time.Minute
	stopTime = 5 * time.Second
)

const (
	// healthEvery is how often a server that loads is asked.
	healthEvery = 100 * time.Millisecond
	// answerTime bounds the small requests.
	answerTime = 10 * time.Second
	// measureTime bounds the request that measures the speed.
	measureTime = 30 * time.Second
	// portTries is how often another port is tried when another program took the first one.
	portTries = 3
	// defaultContext is the window when the configuration does not say, in tokens.
	defaultContext = 8192
	// cacheRAM bounds llama-server's cache of other conversations, in MiB; its default
	// is 8 GiB.
	cacheRAM = 512
)

// server is a llama-server that has loaded its model.
type server struct {
	process *sandbox.Process
	http    *http.Client
	url     string
	key     string
	// tools says that the template of the model knows tools, window how many tokens a
	// request may have.
	tools  bool
	window int
	prefix prefix
}

// hopelessError is why starting again does not help, unless it is about the files and
// they have changed.
type hopelessError struct {
	text  string
	files bool
}

func (e *hopelessError) Error() string { return e.text }

// start runs llama-server and waits until its model is loaded.
func start(ctx context.Context, c Config) (*server, error) {
	if err := c.check(); err != nil {
		return nil, &hopelessError{err.Error(), true}
	}
	if err := os.MkdirAll(filepath.Join(c.Dir, prefixes), 0o700); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		s, err := launch(ctx, c)
		if err == nil || try == portTries || !errors.Is(err, errPortTaken) {
			return s, err
		}
	}
}

var errPortTaken = errors.New("the port was taken")

// launch starts the program once.
func launch(ctx context.Context, c Config) (_ *server, err error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "linux" {
		endLeft(c)
	}
	s := &server{http: c.HTTP, url: "http://127.0.0.1:" + strconv.Itoa(port), key: rand.Text()}
	keyFile := c.keyFile()
	if err := os.Remove(keyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // an old file would keep its mode
	}
	if err := os.WriteFile(keyFile, []byte(s.key+"\n"), 0o600); err != nil {
		return nil, err
	}
	s.process, err = c.Runner.Start(context.WithoutCancel(ctx), sandbox.Command{
		Argv: arguments(c, port, keyFile), Dir: c.Dir, MaxOutput: 64 << 10,
		Env: []string{"LD_LIBRARY_PATH=" + filepath.Dir(c.Program)},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if err := s.loaded(ctx); err != nil {
		return nil, err
	}
	if err := s.learn(ctx); err != nil {
		return nil, err
	}
	s.prefix = newPrefix(c, s)
	return s, nil
}

// keyFile is the place of the server's key, which tells our server from others.
func (c Config) keyFile() string { return filepath.Join(c.Dir, "key") }

// endLeft ends the servers of a bot that was killed. On Linux they end with it.
func endLeft(c Config) {
	all, _ := exec.Command("ps", "-axww", "-o", "pid=,command=").Output() // an error means none
	for line := range strings.Lines(string(all)) {
		pid, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); err == nil && strings.Contains(command, " --api-key-file "+c.keyFile()+" ") {
			_ = syscall.Kill(n, syscall.SIGKILL) // it may be gone
		}
	}
}

// arguments is the command line. Reading in batches of 256 tokens is what its progress
// is told in.
func arguments(c Config, port int, keyFile string) []string {
	window, threads, slots := c.Context, c.Threads, c.Slots
	if window == 0 {
		window = defaultContext
	}
	if threads == 0 {
		threads = runtime.NumCPU()
	}
	return []string{
		c.Program, "-m", c.Weights, "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--api-key-file", keyFile,
		"-c", strconv.Itoa(window), "-np", strconv.Itoa(max(slots, 1)), "-t", strconv.Itoa(threads), "-b", "256", "-ub", "256",
		"--jinja", "--cache-reuse", "256", "--cache-ram", strconv.Itoa(cacheRAM),
		"--slot-save-path", filepath.Join(c.Dir, prefixes), "--no-webui", "--offline",
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// loaded waits until the server is healthy.
func (s *server) loaded(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	for {
		if !s.running() {
			return s.why()
		}
		if status, _ := s.ask(ctx, http.MethodGet, "/health", "", nil, nil); status == http.StatusOK {
			return nil
		}
		if !wait.For(ctx, healthEvery) {
			return fmt.Errorf("llama-server did not load its model within %s", loadTime)
		}
	}
}

// learn asks what the server can do, and proves that it is ours: it refuses a request
// without the key, which its health page does not ask for.
func (s *server) learn(ctx context.Context) error {
	if status, err := s.ask(ctx, http.MethodGet, "/props", "", nil, nil); err != nil || status != http.StatusUnauthorized {
		return errPortTaken
	}
	var props struct {
		Caps struct {
			Tools bool `json:"supports_tools"`
			Calls bool `json:"supports_tool_calls"`
		} `json:"chat_template_caps"`
		Generation struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	status, err := s.ask(ctx, http.MethodGet, "/props", s.key, nil, &props)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return errPortTaken
	}
	s.tools, s.window = props.Caps.Tools || props.Caps.Calls, props.Generation.Window
	return nil
}

// ask sends a small request and decodes the answer into a value that is not nil.
func (s *server) ask(ctx context.Context, method, path, key string, body, answer any) (status int, err error) {
	return s.askWithin(ctx, answerTime, method, path, key, body, answer)
}

// askWithin is ask for a request that takes longer.
func (s *server) askWithin(ctx context.Context, within time.Duration, method, path, key string, body, answer any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	response, err := s.send(ctx, method, path, key, body)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && answer != nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, answer)
	}
	return response.StatusCode, err
}

// send sends a request.
func (s *server) send(ctx context.Context, method, path, key string, body any) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, sent)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	// llama-server may close a connection that was kept. With this header, which is not sent,
	// net/http sends the request again on a new one.
	r.Header["X-Idempotency-Key"] = nil
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return s.http.Do(r)
}

// stop ends the server and waits for it.
func (s *server) stop() { s.process.Stop(stopTime) }

func (s *server) running() bool {
	select {
	case <-s.process.Done():
		return false
	default:
		return true
	}
}

// why says how the server ended, nil when it was stopped.
func (s *server) why() error {
	out := s.process.Outcome()
	said := out.Stderr.String() + out.Stdout.String()
	switch {
	case out.Stopped:
		return nil
	case out.ExitCode == 128+int(syscall.SIGILL):
		return &hopelessError{text: "this llama-server needs a newer CPU; set program:"}
	case out.ExitCode == 128+int(syscall.SIGKILL):
		return errors.New("llama-server was killed; most probably memory was short")
	case strings.Contains(said, "couldn't bind"): // some builds say "binding port" before they load
		return errPortTaken
	}
	return fmt.Errorf("llama-server ended with exit code %d: %s", out.ExitCode, lastLine(said))
}

// lastLine is the last line that says something of an error, or the last at all.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(lines[i]), "error") {
			return strings.TrimSpace(lines[i])
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
