package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/internal/wait"
	"klawbot/tools/mcp/lines"
	"klawbot/tools/mcp/shown"
	"klawbot/tools/sandbox"
)

// The patience and the bounds of one connection.
const (
	// startTime is for a program to answer, such as one that npx fetches first.
	startTime = time.Minute
	listTime  = 30 * time.Second
	// leaveTime is how long a program may take to end by itself.
	leaveTime = time.Second
	killed    = 128 + 9 // the exit code of a program that was ended with SIGKILL
	// olderVersion is the protocol for programs that do not bear the latest.
	olderVersion = "2025-11-25"
	maxMessage   = 16 << 20
	maxErrors    = 16 << 10
	maxTools     = 256
)

var quiet = slog.New(slog.DiscardHandler)

type conn struct {
	session *sdk.ClientSession
	process *sandbox.Process // nil over HTTP
	// over is closed when the connection has ended.
	over  chan struct{}
	once  sync.Once
	fault error // set before over is closed
}

// connect connects to the server. A program that ends when it hears of the
// latest protocol, or does not answer to it, is started again with an older one.
func (s *server) connect(ctx context.Context) (*conn, error) {
	c, err := s.dial(ctx, s.config.ProtocolVersion, s.host.startTime())
	if s.config.ProtocolVersion == "" && s.config.Command != "" && (errors.As(err, new(exitError)) || errors.As(err, new(slowError))) {
		if older, second := s.dial(ctx, olderVersion, s.host.startTime()/3); second == nil {
			return older, nil
		}
	}
	return c, err
}

// exitError says that a program ended while it should have started.
type exitError struct {
	code   int
	stderr string
}

func (e exitError) Error() string {
	text := fmt.Sprintf("the program ended with exit code %d", e.code)
	if e.stderr != "" {
		text += ": " + e.stderr
	}
	return text
}

type slowError struct {
	waited time.Duration
	stderr string
}

func (e slowError) Error() string {
	text := fmt.Sprintf("it has not answered within %s", e.waited)
	if e.stderr != "" {
		text += ": " + e.stderr
	}
	return text
}

func (s *server) dial(ctx context.Context, version string, within time.Duration) (*conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := slowError{waited: within}
	patience := wait.NewClock(within, func() { cancel(slow) })
	defer patience.End()
	c := &conn{over: make(chan struct{})}
	var transport sdk.Transport
	if s.config.Command == "" {
		http, err := s.http(ctx, patience)
		if err != nil {
			return nil, err
		}
		transport = http
	} else {
		var err error
		if c.process, err = s.start(); err != nil {
			return nil, err
		}
		out := lines.New(c.process.Stdout, func() {
			s.host.log.Warn("MCP server writes more than messages to its standard output; the rest is ignored", "server", s.name)
		})
		transport = &sdk.IOTransport{Reader: out, Writer: c.process.Stdin, MaxLineLength: maxMessage}
		stop := context.AfterFunc(ctx, c.process.Kill) // it may hang in any state
		defer stop()
	}
	session, err := s.client().Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		if c.process != nil {
			err = c.died(ctx, err)
		}
		if context.Cause(ctx) == slow {
			slow.stderr = c.lastWords()
			err = slow
		}
		return nil, err
	}
	c.session = session
	go func() { c.end(session.Wait()) }() // it ends with the session, which close closes
	return c, nil
}

// Missing says what is to be done about a program that this machine lacks, nil when it
// is there or is looked for elsewhere.
func (s Server) Missing() error {
	if _, own := s.Env["PATH"]; own || s.Command == "" || strings.Contains(s.Command, "/") && !filepath.IsAbs(s.Command) {
		return nil
	}
	_, err := exec.LookPath(s.Command)
	if program, _, more := strings.Cut(s.Command, " "); err != nil && more {
		if _, there := exec.LookPath(program); there == nil {
			return fmt.Errorf("the program %q does not exist; write %s as command and the rest as args", s.Command, program)
		}
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the program %s is not in PATH; install it, or correct command", s.Command)
	}
	return err
}

func (s *server) start() (*sandbox.Process, error) {
	if err := s.config.Missing(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.host.config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of MCP servers: %w", err)
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(s.config.Env)) {
		env = append(env, name+"="+s.config.Env[name])
	}
	return sandbox.Off().Start(s.host.living, sandbox.Command{
		Argv: append([]string{s.config.Command}, s.config.Args...), Dir: s.host.config.Dir, Env: env, Piped: true, MaxOutput: maxErrors,
	})
}

// died is the error of a program that could not be talked to. It is gone then.
func (c *conn) died(ctx context.Context, err error) error {
	select {
	case <-c.process.Done():
	case <-time.After(leaveTime):
	}
	c.process.Kill()
	outcome, said := c.process.Outcome(), c.lastWords()
	switch {
	case strings.HasPrefix(err.Error(), "unsupported protocol version"):
		return err // it ended because the connection was given up
	case ctx.Err() == nil && !(outcome.Stopped && outcome.ExitCode == killed):
		return exitError{outcome.ExitCode, said}
	case said != "":
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// lastWords are what a program said last on its standard error.
func (c *conn) lastWords() string {
	if c.process == nil {
		return ""
	}
	_, stderr := c.process.Output()
	return lastLine(stderr.String())
}

func lastLine(text string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return shown.Text(all[len(all)-1], 300)
}

func (c *conn) end(fault error) {
	c.once.Do(func() {
		c.fault = fault
		close(c.over)
	})
}

func (c *conn) ended() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

func (c *conn) reason() error {
	fault := cmp.Or(c.fault, errors.New("the server closed the connection"))
	if c.process == nil {
		return fault
	}
	select {
	case <-c.process.Done():
		return exitError{c.process.Outcome().ExitCode, c.lastWords()}
	case <-time.After(leaveTime):
		return fault
	}
}

// close ends the connection and the program with everything that it started.
func (c *conn) close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = c.session.Close() // whatever it says, the program is gone below
	}()
	if c.process != nil {
		select {
		case <-c.process.Done():
		case <-time.After(leaveTime):
			c.process.Kill()
			<-c.process.Done()
		}
	}
	<-closed
	c.end(nil)
}

// methodNotFound reports whether a server says that it has no such method.
func methodNotFound(err error) bool {
	var said *jsonrpc.Error
	return errors.As(err, &said) && said.Code == jsonrpc.CodeMethodNotFound
}

// offered asks for all tools, and adds what else the server has.
func (c *conn) offered(ctx context.Context, log *slog.Logger) (map[string]Definition, error) {
	all, err := c.tools(ctx, log)
	if err != nil {
		return nil, err
	}
	c.addMethods(all)
	return all, nil
}

// tools asks for all tools. A server that has no such thing has none.
func (c *conn) tools(ctx context.Context, log *slog.Logger) (map[string]Definition, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, fmt.Errorf("it did not answer within %s", listTime))
	defer cancel()
	all := map[string]Definition{}
	for t, err := range c.session.Tools(ctx, nil) {
		if methodNotFound(err) {
			return all, nil
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if len(all) == maxTools {
			log.Warn("MCP server has too many tools; the rest is left out", "most", maxTools)
			return all, nil
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		all[t.Name] = Definition{Tool: t.Name, Description: t.Description, Schema: schema}
	}
	return all, nil
}
