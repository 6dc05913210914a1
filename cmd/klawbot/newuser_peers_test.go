//go:build peers && linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/internal/llamatest"
)

// TestPeerNewUserWithoutNetwork does what a new user without a network, a key and a model
// server does: takes a model from a folder, opens the chat, presses Enter, and is answered
// in words. llama-server is installed; the weights are small ones under the name of a
// model of the catalog.
func TestPeerNewUserWithoutNetwork(t *testing.T) {
	program, weights := llamatest.Files(t)
	home, from := t.TempDir(), t.TempDir()
	if err := os.Symlink(weights, filepath.Join(from, "Qwen3.5-0.8B-Q4_K_M.gguf")); err != nil {
		t.Fatal(err)
	}
	const nobody = "http://127.0.0.1:9" // takes no connections
	environ := []string{
		"TERM=xterm-256color", "KLAWBOT_HOME=" + home, "PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HTTP_PROXY=" + nobody, "HTTPS_PROXY=" + nobody, "NO_PROXY=127.0.0.1",
	}
	pull := onTerminal(t, environ, "assets", "pull", "--llm", "qwen3.5-0.8b", "--from", from)
	if code := pull.ends(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, pull.shows())
	}
	s := onTerminal(t, environ, "chat")
	s.until("Use ")
	if strings.Contains(s.shows(), "Use it?") {
		t.Fatal("a model server runs on this machine; stop it, and run make peers again: ", s.shows())
	}
	s.until("Use qwen3.5-0.8b on this machine?")
	s.types("\n")
	s.until("/help lists commands")
	s.types("Say OK.\r")
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(10 * time.Minute); !answeredInWords(s.shows()); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("no answer:\n%s", s.shows())
		}
	}
	t.Logf("the first words took %s:\n%s", time.Since(began).Round(100*time.Millisecond), s.shows())
}

// ownWords begin the bot's own lines, such as how far the model has read, and what goes on.
// A small model may talk for minutes, so its first words are enough.
var ownWords, anyWord = regexp.MustCompile(`^([⠀-⣿]|Loading|Reading|\(|>)`), regexp.MustCompile(`\pL{2,}`)

// answeredInWords reports whether the terminal shows words of the model behind the question.
func answeredInWords(shown string) bool {
	_, after, _ := strings.Cut(shown, "Say OK.")
	for line := range strings.Lines(after) {
		if line = strings.TrimSpace(line); !ownWords.MatchString(line) && anyWord.MatchString(line) {
			return true
		}
	}
	return false
}
