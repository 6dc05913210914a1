package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/file"
)

// FuzzTools calls any tool of the family with any arguments, twice, in a
// workspace full of ways out. Whatever they are: a result that says what is
// wrong, nothing of the outside read or changed, and .git as it was.
func FuzzTools(f *testing.F) {
	for _, seed := range []struct{ tool, arguments string }{
		{"file_read", `{"path": "a.txt", "startLine": 1, "maxLines": 2}`},
		{"file_read", `{"path": "out/secret.txt"}`},
		{"file_read", `{"path": "skills/../spill/..\\..\\x", "line_range": [1, 2]}`},
		{"file_write", `{"path": "hard", "content": "x", "mode": "append"}`},
		{"file_write", `{"path": "git/config", "content": "x"}`},
		{"file_write", `{"path": "dangling", "content": "x"}`},
		{"file_edit", `{"path": "a.txt", "old_str": "one", "new_str": ""}`},
		{"edit_file", `{"path": "hard", "old_string": "SECRET", "new_string": "x"}`},
		{"file_list", `{"path": "out", "depth": "20", "recursive": true}`},
		{"file_search", `{"pattern": "SECR.T", "type": "grep", "path": "out/.."}`},
		{"file_search", `{"pattern": "{**/,[!a]}*.t?t"}`},
		{"search_files", `{"pattern": "(?i)s(e)*c", "file_pattern": "*"}`},
		{"file_undo", `{"action": "revert_all"}`},
		{"file_undo", `{"action": "revert", "id": 1}`},
		{"file_read", `[]`},
		{"file_read", `{"path": 5, "path": null`},
		{"file_write", `{"path": "\u0000", "content": "\ud800"}`},
	} {
		f.Add(seed.tool, seed.arguments)
	}
	shared := newBench(f, func(c *file.Config) { c.MaxBytes = func() int64 { return 10_000 } })
	f.Fuzz(func(t *testing.T, tool, arguments string) {
		b := shared.trapped(t)
		for range 2 {
			r := b.execute(tools.Call{ID: "c1", Name: tool, Arguments: json.RawMessage(arguments)})
			if !r.Success && (r.Error == "" || r.ErrorKind == "") {
				t.Errorf("a failure that says nothing: %+v", r)
			}
			if strings.Contains(r.Error, "broke on this call") {
				t.Errorf("the tool panicked: %s", r.Error)
			}
			if strings.Contains(r.Output, "SECRET") && !strings.Contains(arguments, "SECRET") {
				t.Errorf("it gave the secret away: %s", r.Output)
			}
		}
		b.holds("../out/secret.txt", "SECRET")
		b.holds(".git/config", "clean")
		if entries, err := os.ReadDir(filepath.Join(b.dir, "../out")); err != nil || len(entries) != 1 {
			t.Errorf("outside there are %v, %v", entries, err)
		}
		if left := b.leftovers(); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	})
}

// trapped makes a new workspace, with links to the outside, and a change to
// undo.
func (b bench) trapped(t *testing.T) bench {
	b.t, b.log = t, &memoryLog{}
	out := filepath.Join(b.dir, "../out")
	for _, dir := range []string{b.dir, out} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(out, "secret.txt"), "SECRET")
	b.put("a.txt", "one\ntwo\n")
	b.put("dir/b.md", "three")
	b.put(".git/config", "clean")
	for name, target := range map[string]string{
		"out": "../out", "abs": out, "secret": "../out/secret.txt", "dangling": "../out/new.txt", "git": ".git", "loop": "loop", "dir/up": "..",
	} {
		b.link(target, name)
	}
	if err := os.Link(filepath.Join(out, "secret.txt"), filepath.Join(b.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	b.call("file_write", "path", "a.txt", "content", "one\n")
	return b
}
