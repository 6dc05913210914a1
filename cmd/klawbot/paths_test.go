package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pathCase is a line of testdata/paths.jsonl. Paths of the set-up are relative
// to a base folder; its "ws" is the workspace.
type pathCase struct {
	ID     string `json:"id"`
	Tool   string `json:"tool"`
	Path   string `json:"path"`
	Expect string `json:"expect"`
	Why    string `json:"why"`
	Setup  []struct {
		Op      string `json:"op"`
		Path    string `json:"path"`
		Content string `json:"content"`
		Target  string `json:"target"`
	} `json:"setup"`
}

func readPathCases(t *testing.T) []pathCase {
	t.Helper()
	text, err := os.ReadFile("testdata/paths.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []pathCase
	for line := range strings.Lines(string(text)) {
		var c pathCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// arguments are those of the call. What is sent goes to the terminal, which is
// always allowed.
func (c pathCase) arguments(t *testing.T) []byte {
	t.Helper()
	arguments := map[string]string{"path": c.Path}
	switch c.Tool {
	case "skill_load":
		arguments = map[string]string{"name": c.Path}
	case "send_file":
		arguments["chatId"] = "console_default"
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// prepare makes the folders of the case and a configuration that names its
// workspace.
func (c pathCase) prepare(t *testing.T, base string) {
	t.Helper()
	var err error
	do := func(e error) {
		if err == nil {
			err = e
		}
	}
	for _, dir := range []string{"home", "ws", "out"} {
		do(os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	do(os.WriteFile(filepath.Join(base, "home", "config.yaml"), []byte("agent: {workspace: "+filepath.Join(base, "ws")+"}\n"), 0o600))
	for _, s := range c.Setup {
		name := filepath.Join(base, s.Path)
		do(os.MkdirAll(filepath.Dir(name), 0o755))
		switch s.Op {
		case "file":
			do(os.WriteFile(name, []byte(s.Content), 0o644))
		case "dir":
			do(os.MkdirAll(name, 0o755))
		case "symlink":
			do(os.Symlink(s.Target, name))
		default:
			t.Fatalf("unknown step %s", s.Op)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
