package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/file"
)

func TestRead(t *testing.T) {
	b := newBench(t, nil)
	b.put("three.txt", "one\ntwo\nthree\n")
	b.put("open.txt", "one\ntwo")
	b.put("empty.txt", "")
	b.put("picture.png", "\x89PNG\r\n\x1a\n\x00\x00")
	b.put("latin.txt", "caf\xe9")
	for name, c := range map[string]struct {
		arguments []any
		want      string
	}{
		"whole":                   {[]any{"path", "three.txt"}, "one\ntwo\nthree\n"},
		"from a line":             {[]any{"path", "three.txt", "startLine", 2}, "2|two\n3|three"},
		"some lines":              {[]any{"path", "three.txt", "startLine", 2, "maxLines", 1}, "2|two"},
		"the first lines":         {[]any{"path", "three.txt", "maxLines", 2}, "1|one\n2|two"},
		"endLine wins":            {[]any{"path", "three.txt", "startLine", 1, "maxLines", 1, "endLine", 2}, "1|one\n2|two"},
		"past the end":            {[]any{"path", "three.txt", "startLine", 9}, ""},
		"no last newline":         {[]any{"path", "open.txt", "endLine", 5}, "1|one\n2|two"},
		"an empty file":           {[]any{"path", "empty.txt"}, ""},
		"a range of nothing":      {[]any{"path", "empty.txt", "startLine", 1}, ""},
		"line_range":              {[]any{"path", "three.txt", "line_range", []int{2, 3}}, "2|two\n3|three"},
		"line_start and line_end": {[]any{"path", "three.txt", "line_start", 1, "line_end", 1}, "1|one"},
		"turned around":           {[]any{"path", "three.txt", "startLine", 3, "endLine", 2}, "Error: endLine 2 is before startLine 3"},
		"binary":                  {[]any{"path", "picture.png"}, "Binary content (10 bytes, type: image/png)"},
		"not UTF-8":               {[]any{"path", "latin.txt"}, "(encoding not declared; read as windows-1252, which is a guess)\ncafé"},
		"missing":                 {[]any{"path", "no/such.txt"}, "Error: file not found: no/such.txt"},
		"below a file":            {[]any{"path", "three.txt/x"}, "Error: file not found: three.txt/x"},
		"a folder":                {[]any{"path", "."}, "Error: . is a directory; file_list shows what is in it"},
		"absolute inside":         {[]any{"path", filepath.Join(b.dir, "open.txt")}, "one\ntwo"},
		"the workspace named":     {[]any{"path", "workspace/open.txt"}, "one\ntwo"},
		"outside":                 {[]any{"path", "../x"}, "Error: Access denied: path outside workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			b.says(b.call("read_file", c.arguments...), c.want)
		})
	}
}

func TestOutsideIsASecurityError(t *testing.T) {
	b := newBench(t, nil)
	for _, tool := range []string{"file_read", "file_list"} {
		if r := b.call(tool, "path", "../x"); r.ErrorKind != tools.Security {
			t.Errorf("%s: kind is %s", tool, r.ErrorKind)
		}
	}
}

func TestDirectoryNamedWorkspaceWins(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "outer")
	b.put("workspace/a.txt", "inner")
	b.says(b.call("file_read", "path", "workspace/a.txt"), "inner")
}

func TestReadLimit(t *testing.T) {
	b := newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 5 } })
	b.put("five.txt", "12345")
	b.put("six.txt", "123456")
	b.says(b.call("file_read", "path", "five.txt"), "12345")
	b.says(b.call("file_read", "path", "six.txt"), "Error: six.txt is too large to read: 6 bytes, the limit is 5. Give startLine and maxLines to read a part of it")
}

func TestSkillsOfTheDataFolder(t *testing.T) {
	var data string
	b := newBench(t, func(c *file.Config) { data = c.Data })
	put(t, filepath.Join(data, "skills/tea/SKILL.md"), "from the data directory")
	put(t, filepath.Join(data, "skills/cake/SKILL.md"), "from the data directory")
	put(t, filepath.Join(data, "klawbot.db"), "private")
	b.put("skills/cake/SKILL.md", "from the workspace")
	b.says(b.call("file_read", "path", "skills/tea/SKILL.md"), "from the data directory")
	b.says(b.call("file_read", "path", "skills/cake/SKILL.md"), "from the workspace")
	b.says(b.call("file_list", "path", "skills/tea"), "skills/tea/SKILL.md (23 bytes)")
	b.says(b.call("file_read", "path", "skills/none/SKILL.md"), "Error: file not found: skills/none/SKILL.md")
	b.says(b.call("file_read", "path", "skills/../../data/klawbot.db"), "Error: Access denied: path outside workspace")
	if err := os.Symlink("../klawbot.db", filepath.Join(data, "skills/link")); err != nil {
		t.Fatal(err)
	}
	b.says(b.call("file_read", "path", "skills/link"), "Error: Access denied: path outside workspace")
	b.says(b.call("file_write", "path", "skills/tea/SKILL.md", "content", "mine"), "OK: file written to skills/tea/SKILL.md (4 bytes)")
	b.holds("skills/tea/SKILL.md", "mine")
}

func TestSpilledOutputCanBeReadOn(t *testing.T) {
	var spill string
	b := newBench(t, func(c *file.Config) { spill, c.MaxBytes = c.Spill, func() int64 { return 100 } })
	put(t, filepath.Join(spill, "c9.txt"), strings.Repeat("0123456789\n", 1000))
	b.says(b.call("file_read", "path", "spill/c9.txt", "startLine", 999, "maxLines", 5), "999|0123456789\n1000|0123456789")
	if r := b.call("file_read", "path", "spill/c9.txt"); len(r.Output) != 100 {
		t.Errorf("%d bytes without a range", len(r.Output))
	}
	b.says(b.call("file_read", "path", "spill/none.txt"), "Error: file not found: spill/none.txt")
	b.says(b.call("file_read", "path", "spill/../../x"), "Error: Access denied: path outside workspace")
	b.says(b.call("file_write", "path", "spill/c9.txt", "content", "x"), "Error: Access denied: spill/ is read-only")
}

func TestCutOutputCanBeReadOn(t *testing.T) {
	b := newBench(t, nil)
	b.put("long.txt", strings.Repeat("0123456789\n", 2000))
	r := b.call("file_read", "path", "long.txt")
	if !r.Truncated || !strings.Contains(r.Output, "file_read spill/c1.txt") {
		t.Fatalf("the output ends in %q", r.Output[len(r.Output)-100:])
	}
	b.says(b.call("file_read", "path", "spill/c1.txt", "startLine", 2000), "2000|0123456789")
}

func TestHardlinks(t *testing.T) {
	allowed := false
	b := newBench(t, func(c *file.Config) { c.AllowHardlinks = func() bool { return allowed } })
	outside := filepath.Join(b.dir, "../secret.txt")
	put(t, outside, "secret")
	if err := os.Link(outside, filepath.Join(b.dir, "hard.txt")); err != nil {
		t.Fatal(err)
	}
	for _, r := range []tools.Result{b.call("file_read", "path", "hard.txt"), b.call("file_write", "path", "hard.txt", "content", "x", "mode", "append")} {
		if r.Success || r.ErrorKind != tools.Security {
			t.Errorf("result is %+v", r)
		}
	}
	allowed = true
	b.says(b.call("file_read", "path", "hard.txt"), "secret")
	b.call("file_write", "path", "hard.txt", "content", "new")
	if got, err := os.ReadFile(outside); err != nil || string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
}
