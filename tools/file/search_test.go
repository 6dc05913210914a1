package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/tools"
)

func TestGlob(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"a.md", "b.txt", "notes/a.md", "notes/deep/a.md", "notes/deep/c.mdx", "notes/[x].md", "notes/ä b.md", ".hidden.md", ".git/a.md", "x/node_modules/a.md"} {
		b.put(name, "")
	}
	b.link("../out", "out")
	b.link("notes", "again")
	put(t, filepath.Join(b.dir, "../out/a.md"), "")
	for pattern, want := range map[string][]string{
		"*.md":             {".hidden.md", "a.md"},
		"**/a.md":          {"a.md", "notes/a.md", "notes/deep/a.md"},
		"**/*.md":          {".hidden.md", "a.md", "notes/[x].md", "notes/a.md", "notes/deep/a.md", "notes/ä b.md"},
		"notes/**":         {"notes/[x].md", "notes/a.md", "notes/deep/a.md", "notes/deep/c.mdx", "notes/ä b.md"},
		"notes/*":          {"notes/[x].md", "notes/a.md", "notes/ä b.md"},
		"notes/**/a.md":    {"notes/a.md", "notes/deep/a.md"},
		"./a.md":           {"a.md"},
		"?.{md,txt}":       {"a.md", "b.txt"},
		"{notes/**/,}a.md": {"a.md", "notes/a.md", "notes/deep/a.md"},
		"[ab].*":           {"a.md", "b.txt"},
		"[!a].*":           {"b.txt"},
		"[^a].*":           {"b.txt"},
		"notes/[[]x].md":   {"notes/[x].md"},
		`notes/\[x].md`:    {"notes/[x].md"},
		"notes/? b.md":     {"notes/ä b.md"},
		"notes*a.md":       nil,
		"a.md,":            nil,
		"**":               {".hidden.md", "a.md", "again (link)", "b.txt", "notes/[x].md", "notes/a.md", "notes/deep/a.md", "notes/deep/c.mdx", "notes/ä b.md", "out (link)"},
		"out/*":            nil,
		b.dir + "/*.txt":   {"b.txt"},
	} {
		t.Run(pattern, func(t *testing.T) {
			text := strings.Join(want, "\n")
			if want == nil {
				text = "No matches found for pattern: " + pattern
			}
			b.says(b.call("file_search", "pattern", pattern), text)
		})
	}
	b.says(b.call("glob_find", "pattern", "a.*", "path", "notes/deep"), "notes/deep/a.md")
}

func TestSearchRefuses(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.md", "x")
	for name, c := range map[string]struct {
		arguments []any
		kind      tools.ErrorKind
		want      string
	}{
		"above":                {[]any{"pattern", "../*"}, tools.Security, outside},
		"above, in the middle": {[]any{"pattern", "a/../../*"}, tools.Security, outside},
		"absolute":             {[]any{"pattern", "/etc/*"}, tools.Security, outside},
		"path above":           {[]any{"pattern", "*", "path", ".."}, tools.Security, outside},
		"file_pattern above":   {[]any{"pattern", "x", "type", "grep", "file_pattern", "../*"}, tools.Security, outside},
		"no glob":              {[]any{"pattern", "{a"}, tools.Validation, "Error: Invalid glob: missing closing ): `(?s)\\A(?:(?:a)\\z`"},
		"no regex":             {[]any{"pattern", "(?=x)", "type", "grep"}, tools.Validation, "Error: Invalid regex: invalid or unsupported Perl syntax: `(?=`"},
		"empty":                {[]any{"pattern", ""}, tools.Validation, "Error: pattern is empty"},
		"too long":             {[]any{"pattern", strings.Repeat("a", 1001)}, tools.Validation, "Error: the pattern is longer than 1000 characters"},
		"no folder":            {[]any{"pattern", "*", "path", "none"}, tools.NotFound, "Error: directory not found: none"},
		"a glob in a file":     {[]any{"pattern", "*", "path", "a.md"}, tools.NotFound, "Error: directory not found: a.md (it is a file)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.call("file_search", c.arguments...)
			b.says(r, c.want)
			if r.ErrorKind != c.kind {
				t.Errorf("kind is %s", r.ErrorKind)
			}
		})
	}
}

func TestGrep(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.md", "first line\r\nsecond line")
	b.put("sub/b.txt", "no\nLINE\n")
	b.put("c.txt", "300 \u212aelvin\nсчёт")
	b.put("sub/picture.png", "\x89PNG\x00line")
	b.put("empty", "")
	b.link("a.md", "link.md")
	b.link("../out", "out")
	put(t, filepath.Join(b.dir, "../out/y.txt"), "line")
	if err := os.Link(filepath.Join(b.dir, "../out/y.txt"), filepath.Join(b.dir, "hard.txt")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		arguments []any
		want      string
	}{
		"literal":            {[]any{"pattern", "line"}, "a.md:1: first line\na.md:2: second line"},
		"without case":       {[]any{"pattern", "(?i)LINE"}, "a.md:1: first line\na.md:2: second line\nsub/b.txt:2: LINE"},
		"anchors":            {[]any{"pattern", "^second.*line$"}, "a.md:2: second line"},
		"no text is needed":  {[]any{"pattern", "^[a-z]o$"}, "sub/b.txt:1: no"},
		"alternatives":       {[]any{"pattern", "first|LINE"}, "a.md:1: first line\nsub/b.txt:2: LINE"},
		"repeated":           {[]any{"pattern", "(?:LIN){1}E"}, "sub/b.txt:2: LINE"},
		"optional":           {[]any{"pattern", "n(?:never)?o"}, "sub/b.txt:1: no"},
		"letters that fold":  {[]any{"pattern", "(?i)kelvin"}, "c.txt:1: 300 \u212aelvin"},
		"beyond ASCII":       {[]any{"pattern", "(?i)СЧЁТ"}, "c.txt:2: счёт"},
		"one file":           {[]any{"pattern", "line", "path", "a.md"}, "a.md:1: first line\na.md:2: second line"},
		"names":              {[]any{"pattern", "(?i)line", "file_pattern", "*.txt"}, "sub/b.txt:2: LINE"},
		"paths":              {[]any{"pattern", "(?i)line", "file_pattern", "sub/*"}, "sub/b.txt:2: LINE"},
		"never across lines": {[]any{"pattern", `first\sline\s+second`}, `No matches found for pattern: first\sline\s+second`},
	} {
		t.Run(name, func(t *testing.T) {
			b.says(b.call("search_files", c.arguments...), c.want)
		})
	}
	if r := b.call("search_files", "pattern", "line", "path", "hard.txt"); r.ErrorKind != tools.Security {
		t.Errorf("a hard link: %+v", r)
	}
}

func TestSearchStopsAt200Hits(t *testing.T) {
	b := newBench(t, nil)
	b.put("many.txt", strings.Repeat("hit\n", 300))
	for i := range 250 {
		b.put(fmt.Sprintf("d/%03d.md", i), "hit")
	}
	for _, arguments := range [][]any{{"pattern", "hit", "type", "grep"}, {"pattern", "d/*.md"}} {
		lines := strings.Split(b.call("file_search", arguments...).Output, "\n")
		if len(lines) != 201 || lines[200] != "... more than 200 matches; narrow the pattern, path or file_pattern ..." {
			t.Errorf("%v: %d lines, the last is %q", arguments, len(lines), lines[len(lines)-1])
		}
	}
}

func TestLongLines(t *testing.T) {
	b := newBench(t, nil)
	b.put("long.txt", strings.Repeat("x", 40_000)+"needle"+strings.Repeat("y", 40_000)+"\nneedle\n")
	b.put("longer.txt", strings.Repeat("x", 100_000)+"needle")
	r := b.call("file_search", "pattern", "needle", "type", "grep")
	lines := strings.Split(r.Output, "\n")
	if len(lines) != 2 || len(lines[0]) > 400 || !strings.HasPrefix(lines[0], "long.txt:1: …x") || !strings.Contains(lines[0], "xneedley") || lines[1] != "long.txt:2: needle" {
		t.Errorf("got %q", r.Output)
	}
}

// TestCostlyPattern compares with an expression that takes seconds for a line:
// the search must end by itself, soon after its budget.
func TestCostlyPattern(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", strings.Repeat(strings.Repeat("x", 2000)+"\n", 500))
	begun := time.Now()
	r := b.call("file_search", "pattern", "(x{0,30}){30}[yz]", "type", "grep")
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if !r.Success || !strings.Contains(r.Output, "stopped after 2s of comparing") {
		t.Errorf("result is %+v", r)
	}
}

// TestComplexPatternsAreRefused are refused before anything is read.
func TestComplexPatternsAreRefused(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "a")
	for _, args := range [][]any{
		{"pattern", "(a{1000}|b{1000})c{1000}", "type", "grep"},
		{"pattern", strings.Repeat("x{1000}", 100), "type", "grep"},
		{"pattern", "a", "type", "grep", "file_pattern", strings.Repeat("**/", 333)},
		{"pattern", strings.Repeat("{a*,b*}", 142)},
	} {
		if r := b.call("file_search", args...); r.Success && !strings.HasPrefix(fmt.Sprint(args[1]), "{") || !r.Success && !strings.Contains(r.Error, "the pattern is too complex to check") {
			t.Errorf("%.40v: %+v", args, r)
		}
	}
	if r := b.call("file_search", "pattern", strings.Repeat("**/", 20)+"*.txt"); !r.Success {
		t.Errorf("folders in folders: %+v", r)
	}
}

// TestCostlyGlob compares long names with a pattern that a matcher which tries
// one way after the other would never come to an end with.
func TestCostlyGlob(t *testing.T) {
	b := newBench(t, nil)
	for i := range 200 {
		b.put(fmt.Sprintf("%s%d", strings.Repeat("a", 200), i), "")
	}
	pattern := strings.Repeat("*{a,a}", 150) + "b"
	begun := time.Now()
	b.says(b.call("file_search", "pattern", "**/"+pattern), "No matches found for pattern: **/"+pattern[:197]+"…")
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestSearchCanBeCancelled(t *testing.T) {
	b := newBench(t, nil)
	for i := range 50 {
		b.put(fmt.Sprintf("%d.txt", i), strings.Repeat("some words\n", 10_000))
	}
	source, err := json.Marshal(map[string]any{"pattern": "[a-z]+ [a-z]+x", "type": "grep"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	begun := time.Now()
	_, err = b.Execute(ctx, tools.Call{ID: "c1", Name: "file_search", Arguments: source}, nil)
	if took := time.Since(begun); err == nil || took > 10*time.Second {
		t.Errorf("it ended after %v with %v", took, err)
	}
}

func TestUnreadableDirectoriesAreSkipped(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.md", "x")
	b.put("closed/b.md", "x")
	closed := filepath.Join(b.dir, "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) }) // only root may remove it as it is
	if os.Geteuid() == 0 {                            // root reads everything
		b.says(b.call("file_search", "pattern", "x", "type", "grep"), "a.md:1: x\nclosed/b.md:1: x")
		return
	}
	b.says(b.call("file_search", "pattern", "x", "type", "grep"), "a.md:1: x")
}
