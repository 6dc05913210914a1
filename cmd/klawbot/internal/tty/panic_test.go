//go:build linux

package tty

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"klawbot/gateway/console"
)

// TestTerminalIsRestoredAfterAPanic: what is typed afterwards is shown again.
func TestTerminalIsRestoredAfterAPanic(t *testing.T) {
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close()
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	echoes := func() bool {
		state, err := unix.IoctlGetTermios(int(line.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHO != 0
	}
	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done() // it says nothing
	}))
	defer bot.Close()
	go func() { // what a terminal shows has to be taken away
		_, _ = io.Copy(io.Discard, pty) // until it is closed
	}()
	edited := false
	if _, err := pty.WriteString("/model \t"); err != nil {
		t.Fatal(err)
	}
	left := Converse(t.Context(), Config{
		Bot: console.NewClient(bot.Client(), bot.URL), In: line, Out: line, Environ: []string{"TERM=xterm-256color"},
		Commands: []string{"/model"}, Redact: func(s string) string { return s },
		Names: func([]string) []string {
			edited = !echoes()
			panic("a fault of the editor")
		},
	})
	if left == nil || !edited || !echoes() {
		t.Errorf("it ends with %v; the editor was at work: %v; the terminal shows what is typed: %v", left, edited, echoes())
	}
}
