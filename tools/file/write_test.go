package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"klawbot/tools"
	"klawbot/tools/file"
)

func TestWrite(t *testing.T) {
	b := newBench(t, nil)
	r := b.call("write_file", "path", "new/folder/a.txt", "content", "one\n")
	b.says(r, "OK: file written to new/folder/a.txt (4 bytes)")
	if r.Outside != nil {
		t.Errorf("what was written counts as text from outside: %+v", r.Outside)
	}
	if !slices.Equal(r.FilesChanged, []string{"new/folder/a.txt"}) {
		t.Errorf("files changed: %v", r.FilesChanged)
	}
	b.says(b.call("file_write", "path", "new/folder/a.txt", "content", "two\n", "mode", "append"), "OK: file written to new/folder/a.txt (8 bytes)")
	b.holds("new/folder/a.txt", "one\ntwo\n")
	b.call("file_write", "path", filepath.Join(b.dir, "new/folder/a.txt"), "content", "three")
	b.holds("new/folder/a.txt", "three")
	b.call("file_write", "path", "workspace/b.txt", "content", "", "mode", "append")
	b.holds("b.txt", "")
	b.says(b.call("file_write", "path", "b.txt/c.txt", "content", "x"), "Error: b.txt is not a directory, so nothing can be written below it")
	b.says(b.call("file_write", "path", "new", "content", "x"), "Error: new is a directory; file_list shows what is in it")
	b.says(b.call("file_write", "path", "b.txt", "content", "x", "mode", "insert"), "Error: parameter 'mode' must be one of overwrite, append")
}

func TestWriteThroughLinksInside(t *testing.T) {
	b := newBench(t, nil)
	b.put("real/a.txt", "old")
	for link, target := range map[string]string{"dir": "real", "a": "real/a.txt", "new": "real/new.txt", "git": ".git"} {
		if err := os.Symlink(target, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	b.call("file_write", "path", "dir/b.txt", "content", "b")
	b.holds("real/b.txt", "b")
	b.call("file_write", "path", "a", "content", "+", "mode", "append")
	b.holds("real/a.txt", "old\n+")
	b.call("file_write", "path", "new", "content", "n")
	b.holds("real/new.txt", "n")
	for _, path := range []string{"git/config", "git", ".GIT/x", "real/.git/hooks/x"} {
		if r := b.call("file_write", "path", path, "content", "x"); r.ErrorKind != tools.Security {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if info, err := os.Lstat(filepath.Join(b.dir, "a")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

func TestWriteLimit(t *testing.T) {
	b := newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 5 } })
	tooLarge := "Error: content exceeds maximum file size of 5 bytes"
	b.says(b.call("file_write", "path", "new/a.txt", "content", "123456"), tooLarge)
	if _, err := os.Lstat(filepath.Join(b.dir, "new")); !os.IsNotExist(err) {
		t.Errorf("a folder was made for nothing: %v", err)
	}
	b.call("file_write", "path", "a.txt", "content", "12345")
	b.says(b.call("file_write", "path", "a.txt", "content", "6", "mode", "append"), tooLarge)
	b.holds("a.txt", "12345")
}

func TestWriteKeepsTheMode(t *testing.T) {
	b := newBench(t, nil)
	b.put("run.sh", "old")
	name := filepath.Join(b.dir, "run.sh")
	if err := os.Chmod(name, 0o750); err != nil {
		t.Fatal(err)
	}
	b.call("file_write", "path", "run.sh", "content", "new")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

// TestReadersSeeOldOrNew writes and reads at the same time: no reader may
// see a part of a file, and nothing may be left over.
func TestReadersSeeOldOrNew(t *testing.T) {
	b := newBench(t, nil)
	contents := []string{strings.Repeat("a", 9000), strings.Repeat("b", 5000)}
	b.put("a.txt", contents[0])
	var writers sync.WaitGroup
	done := make(chan struct{})
	for _, content := range contents {
		writers.Go(func() {
			for range 50 {
				b.call("file_write", "path", "a.txt", "content", content)
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if r := b.call("file_read", "path", "a.txt"); !slices.Contains(contents, r.Output) {
			t.Fatalf("read %d bytes: %.40q", len(r.Output), r.Output)
		}
	}
	b.says(b.call("file_list"), fmt.Sprintf("a.txt (%d bytes)", size(t, filepath.Join(b.dir, "a.txt"))))
}

func TestConcurrentAppendsAreKept(t *testing.T) {
	b := newBench(t, nil)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 20 {
				b.call("file_write", "path", "log.txt", "content", "line\n", "mode", "append")
			}
		})
	}
	writers.Wait()
	b.holds("log.txt", strings.Repeat("line\n", 80))
}

func size(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
