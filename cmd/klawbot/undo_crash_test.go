//go:build crash

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKilledBetweenTheRecordAndTheChange kills a command when the changelog has
// committed a change that is not made yet. The file is as before, and what is
// recorded can be undone without harm.
func TestKilledBetweenTheRecordAndTheChange(t *testing.T) {
	home := t.TempDir()
	name := filepath.Join(home, "workspace", "a.txt")
	klawbot := func(env string, args ...string) (string, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Args = append([]string{"klawbot"}, args...)
		cmd.Env = append(os.Environ(), "KLAWBOT_HOME="+home, env)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	write := func(env, content string) (string, error) {
		return klawbot(env, "tools", "call", "file_write", `{"path": "a.txt", "content": "`+content+`"}`)
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Fatalf("the file holds %q, %v; want %q", got, err, want)
		}
	}
	says := func(want string, args ...string) {
		t.Helper()
		if out, err := klawbot("", args...); err != nil || !strings.Contains(out, want) {
			t.Fatalf("klawbot %s: %v\n%s\nwant %q", strings.Join(args, " "), err, out, want)
		}
	}
	if out, err := write("", "old"); err != nil {
		t.Fatal(out)
	}
	if out, err := write("KLAWBOT_CRASH=change.recorded", "new"); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the command ended with %v\n%s", err, out)
	}
	holds("old")
	says("2: ", "undo", "--list")
	says("as it was before change 2", "undo")
	holds("old")
	says("a.txt is removed, as before change 1", "undo")
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}
