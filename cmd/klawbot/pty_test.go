//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screen is a program in a real terminal.
type screen struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	said bytes.Buffer // guarded by mu
	seen *vt          // guarded by mu
}

// onTerminal starts klawbot in a terminal of its own.
func onTerminal(t *testing.T, environ []string, args ...string) *screen {
	t.Helper()
	return onTerminalOf(t, 80, environ, args...)
}

// onTerminalOf starts klawbot in a terminal of so many columns.
func onTerminalOf(t *testing.T, columns int, environ []string, args ...string) *screen {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pty.Close() })
	if err := unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	s := &screen{t: t, pty: pty, seen: newVT(columns, 24), cmd: exec.Command("klawbot", args...)}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.Env = append(os.Environ(), environ...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go s.read()
	return s
}

func (s *screen) read() {
	b := make([]byte, 4096)
	for {
		n, err := s.pty.Read(b)
		s.mu.Lock()
		s.said.Write(b[:n])
		_, _ = s.seen.Write(b[:n]) // takes all
		s.mu.Unlock()
		if err != nil { // the program has ended
			return
		}
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?<>=$]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>78]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// shows is all that was written, without the commands to the terminal.
func (s *screen) shows() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return escapes.ReplaceAllString(s.said.String(), "")
}

// until waits for a text behind the last one that was waited for.
func (s *screen) until(text string) {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(20 * time.Second); !strings.Contains(s.shows(), text); {
		select {
		case <-tick.C:
		case <-end:
			s.t.Fatalf("the terminal does not show %q:\n%s", text, s.shows())
		}
	}
}

func (s *screen) types(text string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end and returns the exit code.
func (s *screen) ends() int {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // the exit code says it
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		s.t.Fatalf("the program does not end:\n%s", s.shows())
	}
	return s.cmd.ProcessState.ExitCode()
}

func TestTerminalChat(t *testing.T) {
	s := onTerminal(t, []string{"TERM=xterm-256color"}, "demo")
	s.until("> ")                                                          // the terminal is in the mode of the editor
	s.types("wht time is it" + strings.Repeat("\x1b[D", 12) + "a\x1b[F\r") // the arrows reach the wrong word
	s.until("The clock says:")
	if n := strings.Count(s.shows(), "The clock says:"); n > 2 { // once while it grows
		t.Errorf("the answer is shown %d times:\n%s", n, s.shows())
	}
	s.types("/hel\t")
	s.until("/help")
	s.types("\r")
	s.until("/remind")
	s.types("\x03")
	s.until("Ctrl-C again quits.")
	s.types("\x03")
	if code := s.ends(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

func TestTerminalChatEnds(t *testing.T) {
	for name, keys := range map[string]string{"Ctrl-D": "\x04", "/quit": "/quit\r", "/exit": "/exit\r"} {
		t.Run(name, func(t *testing.T) {
			s := onTerminal(t, []string{"TERM=xterm-256color", "NO_COLOR=1"}, "demo")
			s.awaits("the prompt", atPrompt)
			s.types(keys)
			if code := s.ends(); code != 0 {
				t.Errorf("exit code %d, want 0:\n%s", code, s.shows())
			}
		})
	}
}

// TestTerminalShowsNoLinkToAnotherProgram: when another program has the port of the web page, no link
// to it is printed.
func TestTerminalShowsNoLinkToAnotherProgram(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	home := t.TempDir()
	text := fmt.Sprintf("channels: {console: {enabled: true}, web: {enabled: true, listen: %q}}\nmodels: {default: \"\"}\n", other.Addr())
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := onTerminalOf(t, 200, []string{"TERM=xterm-256color", "KLAWBOT_HOME=" + home}, "run")
	s.until("is taken by another program")
	s.until("reading") // the last row of the start table
	web := exec.Command("klawbot", "web")
	web.Env = append(os.Environ(), "KLAWBOT_HOME="+home)
	out, err := web.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "choose another channels.web.listen") {
		t.Errorf("klawbot web: %v, %s", err, out)
	}
	s.types("\x03")
	s.ends()
	if strings.Contains(s.shows(), "/in/") {
		t.Errorf("a link is shown:\n%s", s.shows())
	}
}

func TestDumbTerminalGetsPlainLines(t *testing.T) {
	s := onTerminal(t, []string{"TERM=dumb"}, "demo")
	s.until("> ")
	s.types("what time is it\n")
	s.until("The clock says:")
	s.mu.Lock()
	if strings.Contains(s.said.String(), "\x1b") {
		t.Errorf("a dumb terminal gets escape sequences: %q", s.said.String())
	}
	s.mu.Unlock()
	s.types("\x04")
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
