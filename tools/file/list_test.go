package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListFiles(t *testing.T) {
	b := newBench(t, nil)
	b.says(b.call("file_list"), "(empty directory)")
	b.put("b.txt", "12")
	b.put("a/x.txt", "")
	b.put("a/deep/y.txt", "")
	b.put(".git/config", "")
	b.put("a/node_modules/z.js", "")
	if err := os.Symlink("/etc", filepath.Join(b.dir, "etc")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tool      string
		arguments []any
		want      []string
	}{
		"the workspace":  {"file_list", nil, []string{"a/", "b.txt (2 bytes)", "etc (link)"}},
		"a folder":       {"file_list", []any{"path", "a/"}, []string{"a/deep/", "a/x.txt (0 bytes)"}},
		"recursive":      {"file_list", []any{"recursive", true}, []string{"a/", "a/deep/", "a/deep/y.txt (0 bytes)", "a/x.txt (0 bytes)", "b.txt (2 bytes)", "etc (link)"}},
		"depth":          {"list_files", []any{"depth", 2}, []string{"a/", "a/deep/", "a/x.txt (0 bytes)", "b.txt (2 bytes)", "etc (link)"}},
		"list_directory": {"list_directory", nil, []string{"a/", "a/deep/", "a/x.txt (0 bytes)", "b.txt (2 bytes)", "etc (link)"}},
		"skipped, asked": {"file_list", []any{"path", ".git"}, []string{".git/config (0 bytes)"}},
		"missing":        {"file_list", []any{"path", "none"}, []string{"Error: directory not found: none"}},
		"a file":         {"file_list", []any{"path", "b.txt"}, []string{"Error: directory not found: b.txt (it is a file)"}},
		"through a link": {"file_list", []any{"path", "etc"}, []string{"Error: Access denied: path outside workspace"}},
		"outside":        {"file_list", []any{"path", ".."}, []string{"Error: Access denied: path outside workspace"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.says(b.call(c.tool, c.arguments...), strings.Join(c.want, "\n"))
		})
	}
}

func TestLongListIsCut(t *testing.T) {
	b := newBench(t, nil)
	for i := range 2001 {
		b.put(fmt.Sprint(i), "")
	}
	if r := b.call("file_list"); !r.Truncated {
		t.Errorf("the list has %d characters", len(r.Output))
	}
	last := b.call("file_read", "path", "spill/c1.txt", "startLine", 2001)
	if !strings.HasPrefix(last.Output, "2001|... more than 2000 entries;") {
		t.Errorf("the list ends in %q", last.Output)
	}
}
