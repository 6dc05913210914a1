package file_test

import (
	"slices"
	"strings"
	"testing"

	"klawbot/tools/file"
)

func TestEdit(t *testing.T) {
	for name, c := range map[string]struct {
		content, old, new string
		says, holds       string
	}{
		"deletes": {"a b c", " b", "", "OK: f.md edited. It reads there now:\n1|a c", "a c"},
		"the whole file": {"a\n", "a\n", "b\nc\n",
			"OK: f.md edited. It reads there now:\n1|b\n2|c", "b\nc\n"},
		"shows three lines around": {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5", "five\nand a half",
			"OK: f.md edited. It reads there now:\n2|2\n3|3\n4|4\n5|five\n6|and a half\n7|6\n8|7\n9|8", "1\n2\n3\n4\nfive\nand a half\n6\n7\n8\n9\n"},
		"empty":          {"a", "", "b", "Error: old_str is empty; give the text to replace", "a"},
		"no difference":  {"a", "a", "a", "Error: old_str and new_str are the same, so nothing would change", "a"},
		"overlapping":    {"aaa", "aa", "b", "Error: old_str found 2 times in f.md (lines 1, 1); include more of the surrounding text", "aaa"},
		"other line end": {"a\r\nb\r\n", "a\nb", "c", "OK: f.md edited. It reads there now:\n1|c", "c\r\n"},
		"other blanks":   {"if x {\n\ty()\n}", "if x {\n  y()", "z", "Error: old_str not found in f.md; it is there with other blanks or line breaks; read the file and copy the text exactly", "if x {\n\ty()\n}"},
		"binary":         {"a\x00b", "a", "b", "Error: f.md is not a text file in UTF-8 or UTF-16, so it can't be edited", "a\x00b"},
		"too large":      {"a", "a", strings.Repeat("b", 61), "Error: content exceeds maximum file size of 60 bytes", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 60 } })
			b.put("f.md", c.content)
			r := b.call("file_patch", "path", "f.md", "old_string", c.old, "new_string", c.new)
			b.says(r, c.says)
			b.holds("f.md", c.holds)
			if want := r.Success; slices.Equal(r.FilesChanged, []string{"f.md"}) != want {
				t.Errorf("files changed: %v", r.FilesChanged)
			}
		})
	}
}

func TestEditNamesTenLines(t *testing.T) {
	b := newBench(t, nil)
	b.put("f.md", "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n")
	b.says(b.call("file_edit", "path", "f.md", "old_str", "x", "new_str", "y"),
		"Error: old_str found 12 times in f.md (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …); include more of the surrounding text")
}

// TestEditBoundsItsCount: a long text that overlaps itself is compared
// at each of its places, which took ten seconds.
func TestEditBoundsItsCount(t *testing.T) {
	b := newBench(t, nil)
	b.put("f.md", strings.Repeat("a", 1_000_000))
	b.says(b.call("file_edit", "path", "f.md", "old_str", strings.Repeat("a", 500_000), "new_str", "y"),
		"Error: old_str found more than 1000 times in f.md (lines 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, …); include more of the surrounding text")
}
