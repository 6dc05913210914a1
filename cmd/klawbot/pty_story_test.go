//go:build linux

package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"klawbot/internal/modeltest"
)

// Each row of the contract of the terminal has its test here:
//
//	before, tool, streaming, approval, stopped, error, notice   TestTerminalStates
//	Enter; Alt-Enter, Ctrl-J; paste; Up, Down, Ctrl-R           TestTerminalKeys
//	Ctrl-A E W U K Y L, Alt-B F                                 TestTerminalKeys
//	Tab                                                         TestTerminalCompletes
//	Ctrl-C                                                      TestTerminalInterrupts
//	Ctrl-D, /quit, /exit                                        TestTerminalChatEnds
//	Ctrl-Z                                                      TestTerminalStops
//	y, a, n; what was typed ahead answers nothing               TestTerminalApproves
//	signals restore the terminal                                TestTerminalIsRestored
//	panics restore it                                           TestTerminalIsRestoredAfterAPanic of package tty
//	dumb, no terminal                                           TestDumbTerminalGetsPlainLines, chat.txtar

// sees waits until a person sees a text.
func (s *screen) sees(text string) {
	s.t.Helper()
	s.awaits(text, func(all string) bool { return strings.Contains(all, text) })
}

// misses waits until a person does not see a text any more.
func (s *screen) misses(text string) {
	s.t.Helper()
	s.awaits("no "+text, func(all string) bool { return !strings.Contains(all, text) })
}

func (s *screen) awaits(what string, done func(all string) bool) {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(20 * time.Second); !done(s.view()); {
		select {
		case <-tick.C:
		case <-end:
			s.t.Fatalf("the terminal does not show %s:\n%s", what, s.view())
		}
	}
}

// view is what a person sees, and what has left the screen above.
func (s *screen) view() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.text()
}

// atPrompt says that nothing stands behind the prompt.
func atPrompt(all string) bool { return strings.HasSuffix(all, "\n>") }

// written is how many bytes the program wrote.
func (s *screen) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Len()
}

// ptyChat is klawbot chat in a terminal, with a fake model.
type ptyChat struct {
	*screen
	model *modeltest.Server
	home  string
}

func newPtyChat(t *testing.T, columns int, environ ...string) *ptyChat {
	t.Helper()
	c := &ptyChat{model: modeltest.New(scriptKey), home: t.TempDir()}
	server := httptest.NewServer(c.model)
	t.Cleanup(server.Close)
	text := fmt.Sprintf("agent: {debounceMs: 0}\nmodels:\n  default: main\n  providers: {openai: {type: openai, baseURL: %q, apiKey: %q}}\n"+
		"  entries: {main: {provider: openai, model: test-model}, small: {provider: openai, model: small-model}}\n", server.URL+"/v1", scriptKey)
	if err := os.WriteFile(filepath.Join(c.home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.screen = onTerminalOf(t, columns, append([]string{"TERM=xterm-256color", "KLAWBOT_HOME=" + c.home}, environ...), "chat")
	c.awaits("the prompt", atPrompt)
	return c
}

// once says that a text stands on the screen exactly once.
func (c *ptyChat) once(text string) {
	c.t.Helper()
	if n := strings.Count(c.view(), text); n != 1 {
		c.t.Errorf("%q is shown %d times:\n%s", text, n, c.view())
	}
}

// idle waits until nothing is drawn any more: a spinner or a cursor that blinks would be
// seen in such a time.
func (c *ptyChat) idle() {
	c.t.Helper()
	quiet := func() bool {
		n := c.written()
		<-time.After(900 * time.Millisecond)
		return n == c.written()
	}
	for end := time.Now().Add(20 * time.Second); !quiet(); {
		if time.Now().After(end) {
			c.t.Fatalf("an idle terminal draws:\n%s", c.view())
		}
	}
}

// TestTerminalStates shows a conversation in narrow and wide terminals, and without
// colours.
func TestTerminalStates(t *testing.T) {
	for name, c := range map[string]struct {
		columns int
		environ []string
	}{"40": {columns: 40}, "80": {columns: 80}, "200": {columns: 200}, "NO_COLOR": {80, []string{"NO_COLOR=1"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newPtyChat(t, c.columns, c.environ...)
			k.answersOnce()
			k.runsATool()
			k.asks()
			k.isStopped()
			k.fails()
			k.notices()
			k.idle()
			for line := range strings.SplitSeq(k.view(), "\n") {
				if n := len([]rune(line)); n > c.columns {
					t.Errorf("a line has %d columns: %q", n, line)
				}
			}
			k.mu.Lock()
			colours := strings.Contains(k.said.String(), "\x1b[36m")
			k.mu.Unlock()
			if colours != (c.environ == nil) {
				t.Errorf("colours: %v", colours)
			}
			k.types("\x04")
			if code := k.ends(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// before and streaming: the model thinks, the answer grows, and stands there once.
func (c *ptyChat) answersOnce() {
	c.t.Helper()
	asked := make(chan struct{})
	c.model.Respond(func(modeltest.Request) modeltest.Reply {
		<-asked
		return modeltest.Reply{Text: "\nhi `there`, this is the beginning and this the end\n", Pieces: 2, PieceDelay: 2 * time.Second}
	})
	c.types("how big is the log?\r")
	c.sees("> how big is the log?")
	c.sees("thinking… ")
	close(asked)
	c.awaits("a part of the answer", func(all string) bool { return strings.Contains(all, "hi ") && !strings.Contains(all, "the end") })
	c.sees("the end")
	c.awaits("the answer above the prompt", func(all string) bool { return strings.HasSuffix(all, "the end\n>") })
	c.once("hi ")
	c.once("the end")
}

// tool: the line below says which tool runs on what.
func (c *ptyChat) runsATool() {
	c.t.Helper()
	pipe := filepath.Join(c.home, "workspace", "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.model.Respond(nil)
	c.model.Push(modeltest.CallTool("shell", map[string]any{"command": "cat pipe"}), modeltest.Text("It holds 12 files."))
	c.types("look into the pipe\r")
	c.sees("y = once")
	c.types("y\r")
	c.sees("running shell: cat pipe")
	var writer *os.File
	c.awaits("the tool at work", func(string) bool { // until it reads
		var err error
		writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	})
	if _, err := writer.WriteString("12 files\n"); err != nil {
		c.t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.sees("It holds 12 files.")
	c.misses("running shell")
	c.once("It holds 12 files.")
}

// approval: what was typed before the question answers nothing; y answers.
func (c *ptyChat) asks() {
	c.t.Helper()
	c.model.Push(modeltest.CallTool("shell", map[string]any{"command": "rm notes.md"}), modeltest.Text("It is gone."))
	if err := os.WriteFile(filepath.Join(c.home, "workspace", "notes.md"), []byte("x"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.types("delete my notes\r")
	c.sees("rm notes.md")
	c.sees("y = once")
	c.types("y\r")
	c.sees("It is gone.")
	if _, err := os.Stat(filepath.Join(c.home, "workspace", "notes.md")); err == nil {
		c.t.Error("the file is there")
	}
}

// stopped: Ctrl-C stops the answer.
func (c *ptyChat) isStopped() {
	c.t.Helper()
	never := make(chan struct{})
	c.t.Cleanup(func() { close(never) })
	c.model.Respond(func(modeltest.Request) modeltest.Reply { <-never; return modeltest.Text("late") })
	c.types("tell me a story\r")
	c.sees("thinking…")
	c.types("\x03")
	c.sees("Stopped.")
	c.misses("stopping…")
	c.misses("thinking…")
}

// error: one sentence with the next step.
func (c *ptyChat) fails() {
	c.t.Helper()
	c.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Error(401, "wrong key") })
	c.types("still there?\r")
	c.sees("API key rejected.")
	c.misses("thinking…")
}

// reminded is a reminder with the time at which it was due.
var reminded = regexp.MustCompile(`(?m)^⏰ \d\d:\d\d tea$`)

// notice: a reminder stands above the line that is typed, which stays.
func (c *ptyChat) notices() {
	c.t.Helper()
	c.types("/remind in 1 second tea\r")
	c.sees("tea")
	c.types("half a line")
	c.awaits("the reminder with its time", func(all string) bool { return reminded.MatchString(all) })
	c.awaits("the line below the notice", func(all string) bool { return strings.HasSuffix(all, "> half a line") })
	c.types("\x15") // Ctrl-U
	c.misses("half a line")
}

// TestTerminalKeys types as in a shell.
func TestTerminalKeys(t *testing.T) {
	c := newPtyChat(t, 80)
	c.model.Respond(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Text(fmt.Sprintf("got %q", r.Messages[len(r.Messages)-1].Text()))
	})
	const altEnter, altB, altF, up, down = "\x1b\r", "\x1bb", "\x1bf", "\x1b[A", "\x1b[B"
	for _, k := range []struct{ name, keys, got string }{
		{"Enter", "one\r", `one`},
		{"Alt-Enter", "a" + altEnter + "b\r", `a\nb`},
		{"Ctrl-J", "a\nb2\r", `a\nb2`},
		{"Ctrl-A, Ctrl-E", "b\x01a\x05c1\r", "abc1"},
		{"Ctrl-W, Ctrl-Y", "one two\x17\x19 \x19\r", "one two two"},
		{"Ctrl-U, Ctrl-Y", "gone\x15kept \x19\r", "kept gone"},
		{"Ctrl-K, Ctrl-Y", "end\x01\x0bthe \x19\r", "the end"},
		{"Alt-B, Alt-F", "one two" + altB + "x" + altB + altB + altF + "y\r", "oney xtwo"},
		{"paste", "\x1b[200~pasted\r\ntext\r\n\x1b[201~\r", `pasted\ntext`},
		{"Up, Down", up + up + down + "!\r", "pasted\\ntext"},
		{"Ctrl-R", "kept\x12\r", "kept gone"},
	} {
		c.types(k.keys)
		c.awaits(k.name, func(all string) bool { return strings.Contains(all, "got") && strings.Contains(all, k.got) })
		c.misses("thinking…")
	}
	c.types("\x1b[200~" + strings.Repeat("line\n", 30) + "\x1b[201~")
	c.sees("[30 lines]")
	c.types("\x15\x0c") // cleared: the line, then the screen
	c.misses("[30 lines]")
	c.types("\x04")
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestTerminalCompletes presses Tab behind commands.
func TestTerminalCompletes(t *testing.T) {
	c := newPtyChat(t, 80)
	c.types("/remind tomorrow at 9 tea\r")
	c.sees("⏰")
	for keys, want := range map[string]string{
		"/remi\t": "> /remind", "/model sm\t": "> /model small", "/model \t": "main  small",
		"/schedule rem\t": "> /schedule remove", "/schedule remove rem\t": "> /schedule remove reminder-",
	} {
		c.types(keys)
		c.sees(want)
		c.types("\x15")
		c.awaits("an empty line", atPrompt)
	}
}

// TestTerminalHelps: the commands of the terminal itself are listed, and those of the owner
// who sits at it are completed.
func TestTerminalHelps(t *testing.T) {
	c := newPtyChat(t, 80)
	c.types("/help\r")
	c.sees("/file — send a file")
	c.sees("/quit — leave this terminal")
	c.types("/no\t")
	c.sees("> /note")
	c.types("\x15/file nothing.pdf\r")
	c.sees("✗ no file nothing.pdf in ")
	c.types("\x04")
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestCommandsFoldLines: what commands print is broken between words.
func TestCommandsFoldLines(t *testing.T) {
	home := []string{"TERM=xterm-256color", "KLAWBOT_HOME=" + t.TempDir()}
	s := onTerminalOf(t, 40, home, "chat", "-m", "/note "+strings.Repeat("milk and bread ", 30))
	s.ends()
	for _, args := range [][]string{{"doctor"}, {"logs"}} {
		s := onTerminalOf(t, 40, home, args...)
		s.ends()
		s.until("\n")
		for row := range strings.SplitSeq(s.shows(), "\n") {
			if row = strings.TrimRight(row, "\r"); len([]rune(row)) > 40 && strings.Contains(strings.TrimSpace(row), " ") {
				t.Errorf("%s prints %q", args[0], row)
			}
		}
	}
}

// TestTerminalInterrupts presses Ctrl-C: the line is cleared, and twice it ends.
func TestTerminalInterrupts(t *testing.T) {
	c := newPtyChat(t, 80)
	c.types("half a line")
	c.sees("> half a line")
	c.types("\x03")
	c.sees("Ctrl-C again quits.")
	c.misses("half a line")
	c.types("\x03")
	if code := c.ends(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

// TestTerminalStops: where no shell waits, Ctrl-Z says so instead of hanging.
func TestTerminalStops(t *testing.T) {
	c := newPtyChat(t, 80)
	c.types("\x1a")
	c.sees("There is no shell to go back to.")
	c.types("\x04")
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestTerminalApproves answers approval requests: a allows the same call for an hour, n
// denies another. What was sent before the request answers nothing.
func TestTerminalApproves(t *testing.T) {
	c := newPtyChat(t, 80)
	file := func(name string) string { return filepath.Join(c.home, "workspace", name) }
	there := func(name string) bool {
		_, err := os.Stat(file(name))
		return err == nil
	}
	write := func(name string) {
		if err := os.WriteFile(file(name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asked := make(chan struct{})
	calls := func(command string) {
		c.model.Respond(func(r modeltest.Request) modeltest.Reply {
			<-asked
			if r.Messages[len(r.Messages)-1].Role == "tool" {
				return modeltest.Text("It is done.")
			}
			return modeltest.CallTool("shell", map[string]any{"command": command})
		})
	}
	calls("rm old.log")
	write("old.log")
	c.types("delete the log\r")
	c.sees("thinking…")
	c.types("y\r") // ahead of the request
	c.sees("> y")
	close(asked)
	c.sees("y = once")
	if !there("old.log") {
		t.Error("a line that was sent before the request has approved it")
	}
	c.types("a\r")
	c.sees("It is done.")
	if there("old.log") {
		t.Error("the file is there")
	}
	requests := func() int { return strings.Count(c.view(), "y = once") }
	c.misses("thinking…")
	before := requests()
	write("old.log")
	c.types("again\r")
	c.awaits("the call to run", func(string) bool { return !there("old.log") })
	c.misses("thinking…")
	if n := requests(); n != before {
		t.Errorf("the same call asked again:\n%s", c.view())
	}
	calls("rm new.log")
	write("new.log")
	c.types("the new one, too\r")
	c.awaits("another request", func(string) bool { return requests() > before })
	c.types("n\r")
	c.sees("Denied")
	if !there("new.log") {
		t.Error("a denied call has run")
	}
}

// TestTerminalIsRestored ends the chat with a signal: the terminal shows what is typed
// again.
func TestTerminalIsRestored(t *testing.T) {
	c := newPtyChat(t, 80)
	echoes := func() bool {
		state, err := unix.IoctlGetTermios(int(c.pty.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHO != 0
	}
	if echoes() {
		t.Error("the editor is not at work")
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.ends()
	if !echoes() {
		t.Error("the terminal does not show what is typed")
	}
}

// TestTerminalTakesWhatIsTypedAhead: Enter before the prompt is there sends nothing twice
// and loses nothing.
func TestTerminalTakesWhatIsTypedAhead(t *testing.T) {
	s := onTerminal(t, []string{"TERM=xterm-256color"}, "demo")
	s.types("\rwhat time is it\r")
	s.sees("The clock says:")
	s.awaits("the prompt", atPrompt)
	if n := strings.Count(s.view(), "The clock says:"); n != 1 {
		t.Errorf("the answer is shown %d times:\n%s", n, s.view())
	}
	s.types("\x04")
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
