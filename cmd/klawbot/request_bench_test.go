//go:build bench

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestBenchRequests counts the tokens of the first request, with a real vocabulary.
func TestBenchRequests(t *testing.T) {
	b := &figures{t: t}
	b.requests()
	t.Log("\n" + strings.Join(b.rows, "\n"))
}

// requests adds the tokens and the bytes of the first request.
func (b *figures) requests() {
	bodies := firstRequests(b.t, "auto", "few", "all")
	goals := map[string]int{"auto en": 3000, "auto ru": 3500, "few en": 1500, "few ru": 1800}
	for _, name := range []string{"auto en", "auto ru", "few en", "few ru", "all en", "all ru"} {
		tokens := countTokens(b.t, bodies[name])
		goal := ""
		if goals[name] > 0 {
			goal = "<= " + strconv.Itoa(goals[name])
		}
		b.add("first request, "+name, float64(tokens), "tokens", goal, goal == "" || tokens <= goals[name])
		b.add("first request, "+name, float64(len(bodies[name])), "bytes", "", true)
	}
}

// countTokens runs internal/tokencount, a module of its own.
func countTokens(t testing.TB, text []byte) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".", file)
	cmd.Dir, cmd.Env = filepath.Join("..", "..", "internal", "tokencount"), append(os.Environ(), "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("count tokens: %v", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
